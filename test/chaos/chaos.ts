import { setTimeout as wait } from 'node:timers/promises';
import { watchOccurrences } from './occurrences.ts';
import { createRandom } from './random.ts';
import { digestIn } from './seen.ts';
import { SIDES } from './sides.ts';
import { STORE_TROUBLES, type Storm, startStorm, type Weather } from './storm.ts';
import { type Pace, prepare, startTraffic } from './traffic.ts';
import { type Expected, judge, type Verdict } from './verdict.ts';
import { openWorld, type StoreKind, type World } from './world.ts';

export interface ChaosOptions {
  store: StoreKind;
  seed: number;
  /** How long things go wrong, in milliseconds. */
  forMs: number;
  pace: Pace;
  weather: Weather;
  /** So long nothing may come right afterwards before what is missing is given up. */
  patienceMs: number;
  onNews?: (line: string) => void;
  /** Gets every line of Deckhand's logs; in the end also what struck, what the service was told to do, and what Slack was asked. */
  onLine?: (line: string) => void;
}

export interface ChaosResult extends Verdict {
  /** How often each trouble struck. */
  struck: Map<string, number>;
  endings: Map<string, number>;
  events: ReadonlyMap<string, number>;
  /** Looks at `/readyz` that were answered "ready" for long while writes failed. */
  dishonest: number;
}

const LOOK_MS = 400;
/** So many looks in a row that say "ready" while writes fail; a small one may still find room on a full disk. */
const DISHONEST = 4;

/** Lets people and the service go on while everything goes wrong, and compares what is seen in the end with what must be. */
export async function runChaos(options: ChaosOptions): Promise<ChaosResult> {
  const { seed, store } = options;
  const world = await openWorld(store, options.onLine ?? (() => undefined));
  try {
    const news = options.onNews ?? (() => undefined);
    if (store === 'sqlite' && world.disk === undefined)
      news('The disk is never full here: mounting a small one takes root on Linux.');
    const prepared = await prepare(world);
    const storm = startStorm(world, createRandom(seed), options.weather);
    const occurrences = watchOccurrences(world, () => isWell(world, storm));
    const readiness = watchReadiness(world, storm);
    const digests = watchDigests(world);
    const traffic = startTraffic(world, createRandom(seed + 1), options.pace);
    await tick(options.forMs, news, () => `${traffic.asks.length} asked, ${storm.struck.length} troubles`);
    await traffic.end();
    await storm.end();
    await occurrences.end();
    const expected = (): Expected => ({
      asks: [...prepared, ...traffic.asks],
      happenings: traffic.happenings,
      struck: storm.struck,
      occurrences: occurrences.due(),
      digests: digests.since,
    });
    news('all is well again');
    await untilRight(world, expected, options.patienceMs);
    digests.end();
    readiness.end();
    await Promise.all(world.replicas.map((replica) => replica.stop()));
    const ordered = world.service.requests.all.filter(({ method }) => method === 'POST');
    for (const record of [...storm.struck, ...ordered, ...world.slack.calls])
      options.onLine?.(JSON.stringify(record));
    return {
      ...judge(world, expected()),
      struck: tally(storm.struck.map(({ name }) => name)),
      endings: tally(world.diary.endings.map(({ how }) => how)),
      events: world.diary.events,
      dishonest: readiness.dishonest(),
    };
  } finally {
    await world.stop();
  }
}

function isWell({ replicas }: World, { struck }: Storm): boolean {
  const isTroubled = struck.some(({ name, to }) => STORE_TROUBLES.has(name) && to > Date.now());
  return !isTroubled && replicas.some(({ isUp }) => isUp);
}

/** Asks every replica whether it is ready; one that is gone unasked is started again by that. */
function watchReadiness({ diary, replicas }: World, { struck }: Storm) {
  let dishonest = 0;
  let inARow = 0;
  let isOver = false;
  async function look(): Promise<void> {
    while (!isOver) {
      const asked = Date.now();
      const answers = await Promise.all(replicas.map((replica) => replica.look()));
      const troubled = struck.find(({ name, to }) => STORE_TROUBLES.has(name) && to > Date.now());
      const isFailing = troubled?.name === 'disk full' && diary.storeFailedAt > asked - LOOK_MS;
      inARow = isFailing && answers.includes('ready') ? inARow + 1 : 0;
      if (inARow >= DISHONEST) dishonest += 1;
      await wait(LOOK_MS);
    }
  }
  void look();
  return {
    dishonest: () => dishonest,
    end: () => {
      isOver = true;
    },
  };
}

/** Since when each digest stands, by the clock of the occurrences; what that showed before it was set back is over. */
function watchDigests(world: World) {
  const since = new Map<string, number>();
  let latest = 0;
  const timer = setInterval(() => {
    latest = Math.max(latest, world.occurrenceTime());
    for (const side of SIDES)
      for (const { text, blocks } of side.channels.flatMap((channel) =>
        world.slack.messages(side.team, channel),
      )) {
        const id = text.includes('set up the digest') ? digestIn(blocks) : undefined;
        if (id !== undefined && !since.has(id)) since.set(id, latest);
      }
  }, LOOK_MS);
  return { since, end: () => clearInterval(timer) };
}

/** Until nothing is missing, or nothing has come right for so long: what is missing then is lost. */
async function untilRight(world: World, expected: () => Expected, patienceMs: number): Promise<void> {
  let fewest = Number.POSITIVE_INFINITY;
  let end = Date.now() + patienceMs;
  while (Date.now() < end) {
    const { lost, wrong } = judge(world, expected());
    const missing = lost.length + wrong.length;
    if (missing === 0) return;
    if (missing < fewest) end = Date.now() + patienceMs;
    fewest = Math.min(fewest, missing);
    await wait(LOOK_MS);
  }
}

async function tick(forMs: number, news: (line: string) => void, words: () => string): Promise<void> {
  const end = Date.now() + forMs;
  while (Date.now() < end) {
    await wait(Math.min(30_000, end - Date.now()));
    news(words());
  }
}

function tally(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}
