import { hash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { SeenMessage } from '../../sandbox/slack/state/types.ts';
import { ACCOUNT, CHANNEL, PEOPLE, TEAM } from '../support/test-world.ts';
import type { DoorName, Point } from './doors.ts';
import { ann, posts } from './schedule-acts.ts';
import type { Site } from './site.ts';

export const SIZE = 20;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** A project that fails so soon after its recovery goes on in its message. */
const FLAPPING_MS = 31 * MINUTE_MS;
/** A failure that may belong to an outage is tested after this time. */
const TOGETHER_MS = 2 * MINUTE_MS + 5_000;
const STEP_MS = 30_000;
/** A guard runs so long after the hour, by its id. What it finds unreachable it tests again after two minutes. */
const SPREAD_MS = 5 * MINUTE_MS;
/** Of a beginning or an end of an outage of guards. */
const STEPS = (SPREAD_MS + TOGETHER_MS) / STEP_MS;
const MAX_WAIT_MS = 60_000;
const LOOK_MS = 100;
const MAX_TRIES = 10;
const MAX_LOOKS = 100;
const AFTERWARDS_MS = 1_500;
/** By then a dead replica's work waits for the end of its lease. */
const LEASE_AFTER_MS = 5_000;

const ENDED = /No longer failing|Recovered/i;

/** The parts of a round. In each a process may be killed. */
export type Phase = 'begin' | 'owner' | 'end';
export type Death = Point & { phase: Phase };

/** What one outage came to. */
export interface OutageResult {
  isKilled: boolean;
  /** Distinct messages of the outage and of its projects. */
  roots: number;
  /** Distinct replies, without those about its owner. */
  replies: number;
  /** Replies that name an owner. */
  owners: number;
  /** Unasked tests that were started. */
  tests: number;
  /** Posts that Slack has twice without a line in the log. */
  uncounted: string[];
  calls: Record<Phase, Record<DoorName, number>>;
}

/** The same 20 projects may fail again in a later round. */
export interface Scene {
  names(round: number): string[];
  /** Lets all fail, and waits until Deckhand has had the time to see it. */
  fail(site: Site, round: number): Promise<void>;
  mend(site: Site, round: number): Promise<void>;
  /** Words of the message of the whole outage. */
  failing: RegExp;
  most: { roots: number; replies: number; tests: number };
}

const projectOf = (round: number, at: number): string => `out${round}s${String(at + 1).padStart(2, '0')}`;
const listProjects = (round: number): string[] =>
  Array.from({ length: SIZE }, (_, at) => projectOf(round, at));

/** Deployments of 20 projects fail at once, and a watch tells. */
export const DEPLOYMENTS: Scene = {
  names: listProjects,
  failing: /20 projects of acme are failing since/,
  most: { roots: 1, replies: 3, tests: 3 },
  async fail(site, round) {
    for (const project of listProjects(round)) {
      site.service.world.setOutcome({
        account: ACCOUNT,
        project,
        server: 'web-1',
        status: 'error',
        message: 'Refused',
      });
      site.service.world.addDeployment({
        account: ACCOUNT,
        project,
        succeeded: false,
        endRef: `f${project}`,
      });
    }
  },
  async mend(site, round) {
    for (const project of listProjects(round)) {
      site.service.world.setOutcome({ account: ACCOUNT, project, server: 'web-1', status: 'ok' });
      site.service.world.addDeployment({ account: ACCOUNT, project, succeeded: true, endRef: `s${project}` });
    }
  },
};

/** One server of 20 guarded projects goes away. */
export const GUARDS: Scene = {
  names: () => listProjects(0),
  failing: /20 projects of acme are unreachable since/,
  // Guards run within five minutes. Each tests twice at the beginning, and once at the end. On SQLite each move of the clock is a
  // restart, after which a test whose start was not stored yet is started again.
  most: { roots: 5, replies: 16, tests: 3 * SIZE + STEPS },
  fail: (site) => breakAll(site, 'error'),
  mend: (site) => breakAll(site, 'ok'),
};

async function breakAll(site: Site, status: 'ok' | 'error'): Promise<void> {
  for (const project of listProjects(0))
    site.service.world.setOutcome({
      account: ACCOUNT,
      project,
      server: 'web-1',
      status,
      message: 'No route to host',
    });
  const hour = (Math.floor(site.now() / HOUR_MS) + 1) * HOUR_MS;
  const end = hour + SPREAD_MS + TOGETHER_MS;
  for (let at = hour; at <= end; at += STEP_MS) {
    await site.moveTo(at);
    await wait(AFTERWARDS_MS);
  }
}

export function addProjects({ service }: Site, round: number): void {
  for (const name of listProjects(round))
    service.world.addProject({ account: ACCOUNT, name, permalink: name, servers: [{ name: 'web-1' }] });
}

export async function type(site: Site, line: string): Promise<void> {
  const before = posts(site, CHANNEL).length;
  await untilTaken(() => ann(site).command(CHANNEL, `/deckhand ${line}`));
  await site.slack.until(() => posts(site, CHANNEL).length > before, { what: line });
}

/** Each guard tests its project once when it is added. */
export async function untilTested(site: Site, scene: Scene): Promise<void> {
  while (countTests(site, scene, 0) < SIZE) await wait(LOOK_MS);
  await wait(AFTERWARDS_MS);
}

/** Plays one outage from its beginning to its end. @param death where a process dies */
export async function playOutage(
  site: Site,
  scene: Scene,
  round: number,
  death?: Death,
): Promise<OutageResult> {
  await site.moveTo(site.now() + FLAPPING_MS);
  const calls: Partial<OutageResult['calls']> = {};
  const [before, testsBefore] = [new Set(messages(site).map(({ ts }) => ts)), countTests(site, scene, round)];
  const own = () => messages(site).filter(({ ts }) => !before.has(ts));
  // Of a message that a kill posted twice, the first stays as it was.
  const root = () => own().findLast(({ text }) => /20 projects of acme/.test(text));
  let isKilled = false;
  async function during(phase: Phase, act: () => Promise<unknown>, isDone: () => boolean): Promise<void> {
    site.begin(death?.phase === phase ? death : undefined);
    let isDead = false;
    const died = site.death().then(() => {
      isDead = true;
      // The next process would die at its own call of that number.
      site.begin(undefined);
      return site.revive();
    });
    await act();
    await untilDone(site, isDone, { isKilled: () => isDead, what: `the ${phase} of outage ${round}` });
    await wait(AFTERWARDS_MS);
    calls[phase] = site.counts();
    site.begin(undefined);
    if (!isDead) return;
    isKilled = true;
    await died;
  }
  await during(
    'begin',
    () => scene.fail(site, round),
    () => scene.failing.test(root()?.text ?? ''),
  );
  await site.moveTo(site.now() + TOGETHER_MS);
  const tests = () => countTests(site, scene, round) - testsBefore;
  for (let looks = 0; looks < MAX_LOOKS && tests() === 0; looks += 1) await wait(LOOK_MS);
  await wait(AFTERWARDS_MS);
  await during(
    'owner',
    () => claim(site, root()),
    () => JSON.stringify(root()?.blocks).includes('is on all of it'),
  );
  await during(
    'end',
    () => scene.mend(site, round),
    () => {
      const { ts, text = '' } = root() ?? {};
      const told = site.slack.thread(TEAM, CHANNEL, ts ?? '').map((reply) => reply.text);
      return /20 projects of acme recovered/.test(text) && told.some((reply) => ENDED.test(reply));
    },
  );
  const replies = own().flatMap(({ ts }) => site.slack.thread(TEAM, CHANNEL, ts));
  const isOwner = ({ text }: SeenMessage): boolean => text.includes('is on all of it');
  // The outage's owner is told in the threads of messages that came before it too.
  const isAboutOwner = ({ text }: SeenMessage): boolean => /is on (?:all of )?it/.test(text);
  return {
    isKilled,
    roots: countNames(own()),
    replies: countNames(replies.filter((one) => !isAboutOwner(one))),
    owners: countNames(replies.filter(isOwner)),
    tests: tests(),
    uncounted: findUncounted(site, [...own(), ...replies]),
    calls: calls as OutageResult['calls'],
  };
}

async function claim(site: Site, root: SeenMessage | undefined): Promise<void> {
  const ben = site.slack.as(TEAM, PEOPLE.member);
  const button = { actionId: 'episode:claim' };
  await untilTaken(() => ben.click({ channel: CHANNEL, ts: root?.ts ?? '' }, button));
}

/**
 * Does the same again as long as Slack shows the person an error: a kill took the request, or the process has not noticed yet that
 * its clock was moved.
 */
async function untilTaken(act: () => Promise<{ outcome: string }>): Promise<void> {
  for (let tries = 0; tries < MAX_TRIES && (await act()).outcome !== 'ok'; tries += 1)
    await wait(AFTERWARDS_MS);
}

async function untilDone(
  site: Site,
  isDone: () => boolean,
  { isKilled, what }: { isKilled: () => boolean; what: string },
): Promise<void> {
  const start = Date.now();
  let areLeasesOver = false;
  for (; !isDone(); await wait(LOOK_MS)) {
    const waitedMs = Date.now() - start;
    if (waitedMs > MAX_WAIT_MS) throw new Error(`${what} is not shown`);
    // Slack tries again by its own clock.
    site.slack.advance(1_000);
    if (!isKilled() || areLeasesOver || waitedMs < LEASE_AFTER_MS || site.kind === 'sqlite') continue;
    areLeasesOver = true;
    await site.endLeases();
  }
}

function messages({ slack }: Site): SeenMessage[] {
  return slack
    .messages(TEAM, CHANNEL)
    .filter(({ text }) => /^(?:Failure of )?(?:out\d|\d+ project)/.test(text));
}

/** The service logs a project by its permalink. */
function countTests({ service }: Site, scene: Scene, round: number): number {
  const paths = new Set(scene.names(round).map((name) => `/projects/${name}/test_access`));
  return service.requests.all.filter(({ method, path }) => method === 'POST' && paths.has(path)).length;
}

function countNames(all: readonly SeenMessage[]): number {
  return new Set(all.map(({ client_msg_id: name, ts }) => name ?? ts)).size;
}

function findUncounted(site: Site, all: readonly SeenMessage[]): string[] {
  const names = all.flatMap(({ client_msg_id: name }) => name ?? []);
  const counted = new Set(site.uncertain().map(({ delivery }) => delivery));
  return names.filter((name, at) => names.indexOf(name) !== at && !counted.has(name));
}

/** A number between 0 and 1 for a name, the same each time. */
export function spread(name: string): number {
  return hash('sha256', name, 'buffer').readUInt32BE() / 2 ** 32;
}
