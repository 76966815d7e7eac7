import process from 'node:process';
import { watchedChannels } from '../src/records/watches.ts';
import { fromPage, newChannel, WATCH_FEED } from '../src/scheduler/watches/feed.ts';
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

/** What a minute costs in which nothing new has happened: each watched channel is read and compared with the page. */
export async function quietWatches(): Promise<void> {
  const store = await freshFolder();
  const world = await startProgram('bench/peers/world.ts');
  const rows: string[][] = [];
  try {
    await seed(environment(world, store.storeUrl), async ({ store: documents, clock }) => {
      const channels = watchedChannels(documents);
      const now = clock.now();
      const page = { events: Array.from({ length: EVENTS }, (_, at) => event(now - at * 60_000)) };
      for (let at = 0; at < A_WORKSPACE; at += 1) {
        const id = `w${at}`;
        const state = { kind: 'active' } as const;
        const watch = { id, requestId: id, mode: 'failures', setUpBy: 'U0ANN', setUpAt: now, state } as const;
        const channel = { ...newChannel(`C${at}`, ACCOUNT), watches: [watch] };
        await channels.put(`C${at} ${ACCOUNT}`, fromPage(channel, page, now));
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
        const context = { now, batch: 'b1', word: '/deckhand', mentions: new Map<string, string>() };
        for (const { doc } of await channels.list())
          if (JSON.stringify(WATCH_FEED.after(doc, answer, context)) !== JSON.stringify(doc))
            throw new Error('it was quiet');
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
