import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import process from 'node:process';
import { environment, freshFolder, SECRET } from './support/deckhand.ts';
import { type Program, residentBytes, startProgram } from './support/processes.ts';
import { alternate, median, ratio } from './support/rounds.ts';
import { mega, ms, printTable } from './support/tables.ts';

const root = join(import.meta.dirname, '..');
const LAUNCHER = 'bin/deckhand.mjs';
const ROUNDS = 9;
/** After this long nothing of the start is still going on. */
const IDLE_MS = 2_000;

interface Sample {
  readyMs: number;
  idle: number;
}

/** From the spawn to the line that says it listens, and the resident memory two seconds later. */
export async function coldStart(): Promise<void> {
  execFileSync(process.execPath, [join(root, 'scripts', 'build.ts')], { stdio: 'ignore' });
  const store = await freshFolder();
  const world = await startProgram('bench/peers/world.ts');
  const env = environment(world, store.storeUrl);
  const candidates = {
    deckhand: () => sample(() => startProgram(LAUNCHER, { ...env, NODE_ENV: 'production' })),
    sources: () => sample(() => startProgram(LAUNCHER, env)),
    bolt: () => sample(() => startProgram('bench/peers/bare-bolt.ts', { SLACK_SIGNING_SECRET: SECRET })),
  };
  try {
    // The first start of all compiles; every later one finds that done, as in the container.
    await candidates.deckhand();
    await candidates.sources();
    const samples = await alternate(candidates, ROUNDS);
    const of = (who: keyof typeof samples, key: keyof Sample) => samples[who].map((one) => one[key]);
    printTable(
      ['candidate', 'ready after', 'idle memory'],
      [
        [
          'Deckhand from its sources',
          ms(median(of('sources', 'readyMs'))),
          mega(median(of('sources', 'idle'))),
        ],
        ['Deckhand', ms(median(of('deckhand', 'readyMs'))), mega(median(of('deckhand', 'idle')))],
        ['bare Bolt', ms(median(of('bolt', 'readyMs'))), mega(median(of('bolt', 'idle')))],
        [
          'Deckhand against it',
          ratio(of('deckhand', 'readyMs'), of('bolt', 'readyMs')),
          ratio(of('deckhand', 'idle'), of('bolt', 'idle')),
        ],
      ],
    );
  } finally {
    await world.end();
    await store.remove();
  }
}

async function sample(start: () => Promise<Program>): Promise<Sample> {
  const program = await start();
  await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
  const idle = residentBytes(program.pid).now;
  await program.end();
  return { readyMs: program.readyMs, idle };
}
