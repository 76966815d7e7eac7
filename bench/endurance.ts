import type { Load, LoadResult } from './peers/load.ts';
import { environment, freshFolder, SECRET, startDeckhand } from './support/deckhand.ts';
import { residentBytes, startProgram } from './support/processes.ts';
import { seed } from './support/seed.ts';
import { mega, printTable } from './support/tables.ts';

/** A busy workspace's day, several times over. */
const STEPS = 6;
const COMMANDS = 5_000;

/** Whether memory stays what it is while commands go on: the heap after a collection, and what is resident. */
export async function endurance(): Promise<void> {
  const store = await freshFolder();
  const world = await startProgram('bench/peers/world.ts');
  const load = await startProgram('bench/peers/load.ts');
  const env = environment(world, store.storeUrl, load.port);
  await seed(env);
  const deckhand = await startDeckhand(env);
  const asked: Load = {
    kind: 'command',
    text: 'whoami',
    count: COMMANDS,
    concurrency: 50,
    origin: `http://127.0.0.1:${deckhand.port}`,
    secret: SECRET,
    reply: 'awaited',
  };
  try {
    const rows: string[][] = [];
    for (let step = 1; step <= STEPS; step += 1) {
      await load.ask<LoadResult>(asked);
      const { heapUsed } = await deckhand.ask<{ heapUsed: number }>('memory');
      const heap = `${(heapUsed / 1024 / 1024).toFixed(1)} MB`;
      rows.push([String(step * COMMANDS), heap, mega(residentBytes(deckhand.pid).now)]);
    }
    printTable(['commands so far', 'heap', 'resident'], rows);
  } finally {
    for (const program of [deckhand, load, world]) await program.end();
    await store.remove();
  }
}
