import { writeSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  addProjects,
  DEPLOYMENTS,
  type Death,
  GUARDS,
  type OutageResult,
  type Phase,
  playOutage,
  type Scene,
  spread,
  type,
  untilTested,
} from './outage-rounds.ts';
import { openSite, type Site, type StoreKind } from './site.ts';

const STORES: readonly StoreKind[] = ['sqlite', 'postgres'];
const PHASES: readonly Phase[] = ['begin', 'owner', 'end'];
/** Kills of each phase at each door. */
const KILLS: Readonly<Record<Phase, number>> = { begin: 1, owner: 1, end: 3 };
const POLLED = { NOTICE_INTERVAL_MS: '100' };
const REPLICAS = 3;
const HOUR_MS = 3_600_000;

describe.each(STORES)('an outage of 20 projects while processes are killed, on %s', (store) => {
  async function openScene(env: Record<string, string>, lines: readonly string[]): Promise<Site> {
    const site = await openSite(store, { env, replicas: REPLICAS });
    // Between two hours of the guards, so that no round meets runs of them but its own.
    await site.moveTo((Math.floor(site.now() / HOUR_MS) + 1) * HOUR_MS + HOUR_MS / 6);
    addProjects(site, 0);
    for (const line of lines) await type(site, line);
    return site;
  }

  /** A round without a kill says how many calls there are. Each of the others has one. */
  async function playAll(site: Site, scene: Scene, phases: readonly Phase[]): Promise<OutageResult> {
    const whole = await playOutage(site, scene, 0);
    check(whole, scene, 'without a kill');
    let killed = 0;
    const deaths = chooseDeaths(whole, phases);
    for (const [at, death] of deaths.entries()) {
      const round = at + 1;
      if (scene === DEPLOYMENTS) addProjects(site, round);
      const { calls: _, ...result } = await playOutage(site, scene, round, death);
      const name = `${death.when} call ${death.at} to ${death.door} at its ${death.phase}`;
      writeSync(1, `\n${store}, ${name}: ${JSON.stringify(result)}\n`);
      check({ ...whole, ...result }, scene, name);
      if (result.isKilled) killed += 1;
    }
    expect(killed, 'kills').toBeGreaterThan(deaths.length / 2);
    return whole;
  }

  it.each(PHASES)(
    'is one message with one owner, at most three replies and three tests: its %s',
    async (phase) => {
      const site = await openScene(POLLED, ['watch all failures']);
      try {
        await playAll(site, DEPLOYMENTS, [phase]);
      } finally {
        await site.close();
      }
    },
  );

  it('is one message of 20 guards, but for four that came before', async () => {
    const names = GUARDS.names(0).map((name) => `guard add ${name} hourly UTC`);
    const site = await openScene(POLLED, names);
    try {
      await untilTested(site, GUARDS);
      await playAll(site, GUARDS, ['begin']);
    } finally {
      await site.close();
    }
  });
});

function check(result: OutageResult, { most }: Scene, name: string): void {
  expect(result.roots, `messages, ${name}`).toBeLessThanOrEqual(most.roots);
  expect(result.owners, `owners, ${name}`).toBe(1);
  expect(result.replies, `replies, ${name}`).toBeLessThanOrEqual(most.replies);
  // A run whose start was not answered is started again, and counted.
  expect(result.tests, `tests, ${name}`).toBeLessThanOrEqual(most.tests + 1);
  expect(result.uncounted, name).toEqual([]);
}

function chooseDeaths({ calls }: OutageResult, phases: readonly Phase[]): Death[] {
  const doors = ['slack', 'service', 'store'] as const;
  return phases.flatMap((phase) =>
    doors.flatMap((door) => {
      const amount = Math.min(KILLS[phase], calls[phase][door]);
      return Array.from({ length: amount }, (_, at): Death => {
        const share = (at + spread(`${phase} ${door}`)) / amount;
        const when = spread(`${phase} ${door} ${at}`) < 0.5 ? 'before' : 'after';
        return { phase, door, at: 1 + Math.floor(share * calls[phase][door]), when };
      });
    }),
  );
}
