import { setTimeout as wait } from 'node:timers/promises';
import { createRandom, startStorm } from './storm.ts';
import { prepare, startTraffic } from './traffic.ts';
import { type Expected, judge, type Verdict } from './verdict.ts';
import { openWorld, type StoreKind, type World } from './world.ts';

export interface ChaosOptions {
  store: StoreKind;
  seed: number;
  /** How long things go wrong, in milliseconds. */
  forMs: number;
  /** Mean time between two requests, two events at the service, and the longest between two faults. */
  pace: { askMs: number; happeningMs: number; faultMs: number };
}

/** What is missing is lost if nothing came right for so long. */
const PATIENCE_MS = 120_000;

/** Lets people and the service go on while everything goes wrong, then compares what Slack shows with what must be there. */
export async function runChaos({ store, seed, forMs, pace }: ChaosOptions): Promise<Verdict & Expected> {
  const world = await openWorld(store);
  try {
    await prepare(world);
    const storm = startStorm(world, createRandom(seed), pace.faultMs);
    const traffic = startTraffic(world, createRandom(seed + 1), pace);
    await wait(forMs);
    await traffic.end();
    await storm.end();
    const { asks, happenings } = traffic;
    const expected: Expected = { asks, happenings, strikes: storm.strikes };
    return { ...(await judgeAtLast(world, expected)), ...expected };
  } finally {
    await world.stop();
  }
}

async function judgeAtLast(world: World, expected: Expected): Promise<Verdict> {
  let fewest = Number.POSITIVE_INFINITY;
  for (let end = Date.now() + PATIENCE_MS; ; await wait(500)) {
    const verdict = judge(world, expected);
    const missing = verdict.lost.length + verdict.wrong.length;
    if (missing === 0 || Date.now() > end) return verdict;
    if (missing < fewest) end = Date.now() + PATIENCE_MS;
    fewest = Math.min(fewest, missing);
  }
}
