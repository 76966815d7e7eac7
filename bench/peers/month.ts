import { join } from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import { createManualClock } from '../../test/support/manual-clock.ts';
import type * as Worlds from '../../test/support/test-world.ts';
import { END, type Happening, type Plan, START } from '../support/month-plan.ts';
import { sayListening } from '../support/processes.ts';

// A month of a workspace, by a clock that is moved: a checkout's Deckhand between a checkout's own service and Slack. People
// type and click, and the service tells. Nothing else of Deckhand is touched, so that older checkouts can be asked the same.

export interface MonthChannel {
  id: string;
  name: string;
}

export interface MonthAccount {
  name: string;
  projects: readonly string[];
}

export type MonthAsked =
  | { kind: 'open'; accounts: readonly MonthAccount[]; channels: readonly MonthChannel[]; plan: Plan }
  /** Typed by the admin, or by a member who only asks. The answer is what the person reads. */
  | { kind: 'type'; channel: string; line: string; isQuestion?: boolean }
  | { kind: 'play'; plan: Plan; channel: string; end?: number }
  | { kind: 'read'; channel: string }
  | { kind: 'count'; channel: string };

/** Messages of a channel. */
export interface Traffic {
  roots: number;
  replies: number;
  edits: number;
  /** Posts that notify a person or a group. */
  mentions: number;
}

const root = process.env.CHECKOUT ?? join(import.meta.dirname, '..', '..');
const { openTestWorld, TEAM, PEOPLE, ACCOUNT, CHANNEL, EMAIL, API_KEY } = (await import(
  pathToFileURL(join(root, 'test/support/test-world.ts')).href
)) as typeof Worlds;
/** A third as often as usual, because a month has many minutes. */
const INTERVAL_MS = String(3 * 60_000);
/** Small beside any time-out, while something goes on. */
const FINE_MS = 1_000;
const COARSE_MS = 20_000;
const ACTIVE_MS = 2 * 60_000;
/** Turns of the event loop without a call, after which nothing is on its way. */
const TURNS = 12;
const MAX_ANSWER_MS = 90_000;
const MENTION = /<@U|<!subteam\^/;

const time = createManualClock(START - 60_000);
let world: Awaited<ReturnType<typeof openTestWorld>>;
let calls = 0;
let activeUntil = 0;

/** Deployments before the month are there before anybody sets something up. */
async function open(
  accounts: readonly MonthAccount[],
  channels: readonly MonthChannel[],
  { deployments }: Plan,
): Promise<void> {
  const [first, ...others] = accounts.map(({ name, projects }) => ({
    name,
    projects: projects.map((permalink) => ({ name: permalink, permalink, servers: [{ name: 'web-1' }] })),
  }));
  if (first?.name !== ACCOUNT) throw new Error(`the first account is ${ACCOUNT}`);
  const env = { POLL_INTERVAL_MS: '1000', NOTICE_INTERVAL_MS: INTERVAL_MS, LOG_LEVEL: 'error' };
  world = await openTestWorld({ time, projects: first.projects, env });
  const { slack, service } = world;
  slack.onChange(() => {
    calls += 1;
  });
  const group = { id: 'S0ONCALL', name: 'oncall', handle: 'oncall', users: [] };
  slack.workspace(TEAM).userGroups.set(group.id, group);
  for (const { id, name } of channels) {
    if (id !== CHANNEL) slack.addChannel(TEAM, { id, name, members: Object.values(PEOPLE) });
    slack.invite(TEAM, id, 'bot');
  }
  for (const account of others)
    service.world.addAccount({ ...account, users: [{ email: EMAIL, apiKey: API_KEY, role: 'admin' }] });
  for (const one of deployments) if (one.at < START) deploy(one);
  for (const { name } of accounts) await connect(name);
}

async function connect(account: string): Promise<void> {
  const ann = world.as('admin');
  await ann.command(CHANNEL, `/deckhand connect ${account}`);
  await passUntil(() => ann.openView()?.content.callback_id === 'connect');
  const hasPurpose = ann.openView()?.content.blocks.some(({ block_id: id }) => id === 'purpose') === true;
  const values = { account, email: EMAIL, api_key: API_KEY, ...(hasPurpose ? { purpose: 'shared' } : {}) };
  await ann.submit('connect', values);
  await pass(5_000);
}

/** Until nothing is on its way between the three. */
async function settle(): Promise<void> {
  for (let quiet = 0, before = count(); quiet < TURNS; quiet += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    const now = count();
    if (now !== before) [quiet, before] = [0, now];
  }
}

function count(): number {
  return calls + world.service.requests.all.length;
}

async function step(most: number): Promise<void> {
  const before = calls;
  const size = time.now() < activeUntil ? FINE_MS : COARSE_MS;
  await time.advance(Math.min(size, most));
  await settle();
  if (calls !== before) activeUntil = time.now() + ACTIVE_MS;
}

async function passTo(end: number): Promise<void> {
  while (time.now() < end) await step(end - time.now());
}

const pass = (ms: number): Promise<void> => passTo(time.now() + ms);

async function passUntil(check: () => boolean, most = MAX_ANSWER_MS): Promise<boolean> {
  for (const end = time.now() + most; !check(); ) {
    if (time.now() >= end) return false;
    activeUntil = time.now() + ACTIVE_MS;
    await step(FINE_MS);
  }
  return true;
}

/** What the person reads after a line: privately, or in the channel. */
async function type(channel: string, line: string, isQuestion = false): Promise<string> {
  const { slack } = world;
  const who = isQuestion ? 'member' : 'admin';
  const lists = () => [slack.ephemerals(TEAM, PEOPLE[who]), isQuestion ? [] : slack.messages(TEAM, channel)];
  const before = lists().map(({ length }) => length);
  const listNew = () => lists().flatMap((list, at) => list.slice(before[at]));
  await world.as(who).command(channel, `/deckhand ${line}`);
  await passUntil(() => listNew().length > 0);
  await pass(2_000);
  return listNew()
    .map(({ text, blocks }) => `${text}\n${JSON.stringify(blocks ?? [])}`)
    .join('\n');
}

async function play({ deployments, happenings }: Plan, channel: string, end = END): Promise<void> {
  const all = [
    ...deployments
      .filter(({ at }) => at >= START)
      .map((one) => ({ at: one.at, act: async () => deploy(one) })),
    ...happenings.map((one) => ({ at: one.at, act: () => happen(one, channel) })),
  ].toSorted((one, other) => one.at - other.at);
  for (const { at, act } of all) {
    await passTo(at);
    await act();
  }
  await passTo(end);
}

function deploy({ account, project, at, succeeded, user, ref }: Plan['deployments'][number]): void {
  world.service.world.addDeployment({ account, project, endedAt: at, succeeded, user, endRef: ref });
}

async function happen({ kind, account, project }: Happening, channel: string): Promise<void> {
  const server = { account, project, server: 'web-1' };
  if (kind === 'break')
    world.service.world.setOutcome({ ...server, status: 'error', message: 'No route to host' });
  if (kind === 'mend') world.service.world.setOutcome({ ...server, status: 'ok' });
  if (kind === 'pause' || kind === 'resume') await type(channel, `watch ${kind}`);
  if (kind === 'claim' || kind === 'close') await click(channel, project, kind);
}

/** Presses a button, or a line of a menu, of the latest message about a project that has it. */
async function click(channel: string, project: string, verb: 'claim' | 'close'): Promise<void> {
  const ann = world.as('admin');
  const message = world.slack
    .messages(TEAM, channel)
    .findLast(({ text, blocks }) => text.includes(project) && JSON.stringify(blocks).includes(`episode:`));
  if (message === undefined) return;
  const place = { channel, ts: message.ts };
  const shown = JSON.stringify(message.blocks);
  if (shown.includes(`"episode:${verb}"`)) await ann.click(place, { actionId: `episode:${verb}` });
  else {
    const value = findOption(message.blocks ?? [], verb);
    if (value === undefined) return;
    await ann.click(place, { actionId: 'episode:more', selected: value });
    if (await passUntil(() => ann.openView() !== undefined, 5_000)) await ann.submit();
  }
  await pass(5_000);
}

function findOption(blocks: unknown, verb: string): string | undefined {
  const [, value] =
    new RegExp(`"value":("(?:episode:)?${verb} (?:[^"\\\\]|\\\\.)*")`).exec(JSON.stringify(blocks)) ?? [];
  return value === undefined ? undefined : (JSON.parse(value) as string);
}

/** Texts and blocks of a channel's messages and their threads. */
function read(channel: string): string[] {
  return list(channel).map(({ text, blocks }) => `${text}\n${JSON.stringify(blocks ?? [])}`);
}

function list(channel: string) {
  const roots = world.slack.messages(TEAM, channel);
  return [...roots, ...roots.flatMap(({ ts }) => world.slack.thread(TEAM, channel, ts))];
}

function countTraffic(channel: string): Traffic {
  const roots = world.slack.messages(TEAM, channel).length;
  const all = list(channel);
  return {
    roots,
    replies: all.length - roots,
    edits: all.reduce((sum, { edits }) => sum + edits.length, 0),
    mentions: all.filter((one) => MENTION.test((one.edits[0] ?? one).text)).length,
  };
}

async function answer(asked: MonthAsked): Promise<unknown> {
  switch (asked.kind) {
    case 'open':
      return open(asked.accounts, asked.channels, asked.plan);
    case 'type':
      return type(asked.channel, asked.line, asked.isQuestion);
    case 'play':
      return play(asked.plan, asked.channel, asked.end);
    case 'read':
      return read(asked.channel);
    case 'count':
      return countTraffic(asked.channel);
  }
}

process.on('message', (asked: MonthAsked) => {
  void answer(asked).then((told) => process.send?.(told ?? null));
});
process.on('SIGTERM', () => process.exit(0));
sayListening(0);
