import process from 'node:process';
import type { Watch } from '../src/records/schedules.ts';
import { ACTIVITY, newFeed } from '../src/scheduler/watches/feed.ts';
import type { ActivityEvent } from '../src/service/activity.ts';
import { ACCOUNT, environment, freshFolder } from './support/deckhand.ts';
import { startProgram } from './support/processes.ts';
import { seed } from './support/seed.ts';
import { printTable } from './support/tables.ts';

const SIZES = (process.env.SIZES ?? '500,10000').split(',').map(Number);
/** A workspace has at most so many. */
const A_WORKSPACE = 500;
const EVENTS = 100;
const ROUNDS = 5;

/** What a minute costs in which nothing new has happened. */
export async function quietWatches(): Promise<void> {
  const store = await freshFolder();
  const world = await startProgram('bench/peers/world.ts');
  const rows: string[][] = [];
  try {
    await seed(environment(world, store.storeUrl), async (workspace) => {
      const { feeds, ledger, schedules, clock } = workspace;
      const now = clock.now();
      const page = { events: Array.from({ length: EVENTS }, (_, at) => event(now - at * 60_000)) };
      const next = await ledger.take(ACCOUNT, page);
      for (let at = 0; at < A_WORKSPACE; at += 1) {
        const place = { channel: `C${at}`, account: ACCOUNT };
        const id = `w${at}`;
        const state = { kind: 'active' } as const;
        const watch: Watch = {
          kind: 'watch',
          ...place,
          id,
          requestId: id,
          mode: 'failures',
          createdBy: 'U0ANN',
          createdAt: now,
          state,
        };
        await schedules.put(watch);
        await feeds.update('watch', place, () => newFeed(place, next));
      }
      for (const size of SIZES) rows.push(await measure(size));

      async function measure(size: number): Promise<string[]> {
        const before = process.cpuUsage();
        for (let round = 0; round < ROUNDS; round += 1)
          for (let watched = 0; watched < size; watched += A_WORKSPACE) await quietPoll();
        const { user, system } = process.cpuUsage(before);
        const ms = (user + system) / 1000 / ROUNDS;
        return [String(size), `${ms.toFixed(0)} ms`, `${((ms / size) * 1000).toFixed(0)} µs`];
      }

      /** Of one workspace; a page is parsed anew with each answer. */
      async function quietPoll(): Promise<void> {
        const answer = structuredClone(page);
        await ACTIVITY.takePage(workspace, ACCOUNT, answer, await schedules.list('watch'));
      }
    });
  } finally {
    await world.end();
    await store.remove();
  }
  printTable(['watches', 'CPU of a quiet minute', 'a watch'], rows);
}

function event(at: number): ActivityEvent {
  return {
    event: at % 7 === 0 ? 'deploy_failed' : 'deploy_completed',
    properties: { end_ref: String(at), servers: ['web-1', 'web-2'] },
    project: { name: 'Storefront', permalink: 'storefront', identifier: 'p1' },
    user: 'Kim Lee',
    created_at: new Date(at).toISOString(),
  };
}
