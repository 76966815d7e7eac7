import { setTimeout as wait } from 'node:timers/promises';
import type { SeenMessage } from '../../sandbox/slack/state/types.ts';
import { PEOPLE } from '../support/test-world.ts';
import type { Random } from './random.ts';
import { addPerson, SIDES, type Side } from './sides.ts';
import type { World } from './world.ts';

export type AskKind = 'read' | 'use' | 'test' | 'digest' | 'again';

/** What somebody typed or clicked. Everybody does so once, so that their id tells what came of it. */
export interface Ask {
  kind: AskKind;
  side: Side;
  user: string;
  channel: string;
  line: string;
  /** The permalink of the project that a test is of. */
  project?: string;
  /** By this machine's time. */
  at: number;
  /** Slack's ids of it, by which Deckhand knows it; two of a double click. */
  requests: string[];
  /** Slack had its acknowledgement. */
  isAcked: boolean;
  /** Undefined until it is answered or given up. */
  ackedAt?: number;
}

/** What happened at the service that channels are to be told of. */
export interface Happening {
  side: Side;
  /** Stands in a message of this channel once told. */
  words: string;
  channel: string;
  at: number;
}

export interface Traffic {
  asks: Ask[];
  happenings: Happening[];
  /** Nobody types any more; resolves when all have their ack. */
  end(): Promise<void>;
}

export interface Pace {
  askMs: number;
  happeningMs: number;
  /** So many at most, over both workspaces. */
  digests: number;
}

const READS = ['whoami', 'projects', 'audit 5', 'help', 'accounts', 'activity today'] as const;
export const DIGEST_LINE = 'digest add cron:"* * * * *" UTC today';

/** Begins what goes on by itself, in each workspace: a watch, invoice notices, a digest and a test. */
export async function prepare(world: World): Promise<Ask[]> {
  const asks = SIDES.flatMap((side) => {
    const [channel] = side.channels;
    const project = side.projects[0].permalink;
    return [
      newAsk(world, side, 'digest', channel, DIGEST_LINE),
      { ...newAsk(world, side, 'test', channel, `test ${project}`), project },
    ];
  });
  for (const { team, activity, billing } of SIDES) {
    const ann = world.slack.as(team, PEOPLE.admin);
    for (const [channel, line] of [
      [activity, 'watch all'],
      [billing, 'invoices notify here'],
    ] as const) {
      const before = world.slack.messages(team, channel).length;
      await ann.command(channel, `/deckhand ${line}`);
      await world.slack.until(() => world.slack.messages(team, channel).length > before, { what: line });
    }
  }
  await Promise.all(asks.map((ask) => type(world, ask)));
  return asks;
}

export function startTraffic(world: World, random: Random, pace: Pace): Traffic {
  const asks: Ask[] = [];
  const happenings: Happening[] = [];
  const open = new Set<Promise<void>>();
  let isOver = false;

  function askOnce(): void {
    const ask = nextAsk(world, random, pace, asks);
    asks.push(ask);
    const done = (ask.kind === 'again' ? clickTwice(world, ask) : type(world, ask)).finally(() =>
      open.delete(done),
    );
    open.add(done);
  }

  async function repeat(everyMs: number, act: () => void): Promise<void> {
    while (!isOver) {
      await wait(everyMs * random.between(0.5, 1.5));
      if (!isOver) act();
    }
  }

  const going = Promise.all([
    repeat(pace.askMs, askOnce),
    repeat(pace.happeningMs, () => happenings.push(happen(world, random, happenings.length))),
  ]);
  return {
    asks,
    happenings,
    async end() {
      isOver = true;
      await going;
      await Promise.all(open);
    },
  };
}

let people = 0;

function newAsk({ slack }: World, side: Side, kind: AskKind, channel: string, line: string): Ask {
  people += 1;
  const user = `U0P${people}`;
  addPerson(side, slack, user);
  return { kind, side, user, channel, line, at: Date.now(), requests: [], isAcked: false };
}

function nextAsk(world: World, random: Random, pace: Pace, before: readonly Ask[]): Ask {
  const side = random.pick(SIDES);
  const channel = random.pick(side.channels);
  const project = random.pick(side.projects).permalink;
  const chance = random.next();
  const used = before.filter(({ kind }) => kind === 'digest').length;
  if (chance < 0.03 && used < pace.digests) return newAsk(world, side, 'digest', channel, DIGEST_LINE);
  if (chance < 0.15) return newAsk(world, side, 'use', channel, `use ${project}`);
  if (chance < 0.25 && buttonOf(world, side, channel) !== undefined)
    return newAsk(world, side, 'again', channel, 'Run again');
  if (chance < 0.6) return { ...newAsk(world, side, 'test', channel, `test ${project}`), project };
  return newAsk(world, side, 'read', channel, random.pick(READS));
}

async function type({ slack }: World, ask: Ask): Promise<void> {
  const { side, user, channel, line } = ask;
  const { outcome, delivery } = await slack.as(side.team, user).command(channel, `/deckhand ${line}`);
  if (delivery !== undefined) ask.requests.push(String(delivery.payload.trigger_id));
  ask.isAcked = outcome === 'ok';
  ask.ackedAt = Date.now();
}

/** The same button, twice as fast as one can. */
async function clickTwice(world: World, ask: Ask): Promise<void> {
  const { side, user, channel } = ask;
  const found = buttonOf(world, side, channel);
  if (found === undefined) return;
  const { ts, actionId, blockId } = found;
  ask.project = found.project;
  const person = world.slack.as(side.team, user);
  const click = () => person.click({ channel, ts }, { actionId, blockId });
  const results = await Promise.all([click(), click()]);
  for (const { delivery } of results)
    if (delivery !== undefined) ask.requests.push(String(delivery.payload.trigger_id));
  ask.isAcked = results.some(({ outcome }) => outcome === 'ok');
  ask.ackedAt = Date.now();
}

interface Found {
  ts: string;
  actionId: string;
  blockId: string;
  project: string;
}

interface Block {
  block_id?: string;
  elements?: Array<{ action_id?: string }>;
}

/** The "Run again" of the latest test that has ended in the channel. */
function buttonOf({ slack }: World, { team, projects }: Side, channel: string): Found | undefined {
  for (const message of slack.messages(team, channel).toReversed()) {
    const block = ((message.blocks ?? []) as Block[]).find(({ elements }) => againIn(elements) !== undefined);
    const actionId = againIn(block?.elements)?.action_id;
    const project = projects.find(({ name }) => isRootOf(message, name))?.permalink;
    if (block?.block_id !== undefined && actionId !== undefined && project !== undefined)
      return { ts: message.ts, actionId, blockId: block.block_id, project };
  }
  return undefined;
}

function againIn(elements: Block['elements'] = []): { action_id?: string } | undefined {
  return elements.find(({ action_id = '' }) => action_id.startsWith('test:again'));
}

export function isRootOf({ text }: Pick<SeenMessage, 'text'>, name: string): boolean {
  return text.startsWith(`${name}: `);
}

/** A deployment, or now and then an invoice. */
function happen({ service }: World, random: Random, count: number): Happening {
  const side = random.pick(SIDES);
  const { account, activity, billing } = side;
  if (random.next() < 0.2) {
    const { number } = service.world.addInvoice({ account });
    return { side, words: `New invoice \`${number}\``, channel: billing, at: Date.now() };
  }
  // As much of it as Deckhand shows.
  const endRef = `r${1_000 + count}x`;
  const project = random.pick(side.projects).permalink;
  service.world.addDeployment({ account, project, endRef, succeeded: random.next() < 0.7 });
  return { side, words: endRef, channel: activity, at: Date.now() };
}
