import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as wait } from 'node:timers/promises';
import { startPostgres } from '../test/support/postgres-server.ts';
import { checkouts, environment, freshFolder, startDeckhand } from './support/deckhand.ts';
import { cpuSeconds, type Program, startProgram } from './support/processes.ts';
import { printTable } from './support/tables.ts';

const SETTLE_MS = 10_000;
const SECONDS = Number(process.env.SECONDS ?? 60);
const COUNTER = join(import.meta.dirname, 'support', 'count-statements.ts');
/** What a replica costs in which nothing happens. */
export async function idle(): Promise<void> {
  const world = await startProgram('bench/peers/world.ts');
  const postgres = await startPostgres();
  const rows: string[][] = [];
  try {
    for (const [name, root] of Object.entries(checkouts())) {
      const store = await freshFolder();
      rows.push([name, 'SQLite', ...(await measure(world, store.storeUrl, store.folder, root))]);
      rows.push([
        name,
        'Postgres',
        ...(await measure(world, await postgres.createDatabase(), store.folder, root)),
      ]);
      await store.remove();
    }
  } finally {
    await postgres.stop();
    await world.end();
  }
  printTable(['', 'database', 'statements a minute', 'CPU a minute', 'wake-ups a second'], rows);
}

async function measure(world: Program, storeUrl: string, folder: string, root?: string): Promise<string[]> {
  const counts = join(folder, 'counts.json');
  process.env.NODE_FLAGS = `--import ${COUNTER}`;
  const deckhand = await startDeckhand({ ...environment(world, storeUrl), COUNTS: counts }, root);
  await wait(SETTLE_MS);
  process.kill(deckhand.pid, 'SIGUSR2');
  const [cpu, switches] = [cpuSeconds(deckhand.pid), countSwitches(deckhand.pid)];
  await wait(SECONDS * 1_000);
  const minutes = SECONDS / 60;
  const ms = ((cpuSeconds(deckhand.pid) - cpu) * 1_000) / minutes;
  const wakeUps = (countSwitches(deckhand.pid) - switches) / SECONDS;
  await deckhand.end();
  const texts: Array<[text: string, count: number]> = JSON.parse(readFileSync(counts, 'utf8'));
  const statements = texts.reduce((sum, [, count]) => sum + count, 0) / minutes;
  // Which ones they are.
  if (process.env.TEXTS !== undefined)
    for (const [text, count] of texts.toSorted(([, one], [, other]) => other - one))
      console.log(`${count} × ${text}`);
  return [statements.toFixed(0), `${ms.toFixed(0)} ms`, wakeUps.toFixed(0)];
}

/** How often the main thread went to sleep so far. Linux only. */
function countSwitches(pid: number): number {
  return Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
}
