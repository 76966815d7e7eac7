import process from 'node:process';
import { openRuns, type Run } from '../src/records/test-runs.ts';
import { FOLLOW_TEST } from '../src/scheduler/test-access/follow-test.ts';
import { ACCOUNT, environment, freshFolder, startDeckhand } from './support/deckhand.ts';
import { cpuSeconds, type Program, residentBytes, startProgram } from './support/processes.ts';
import { quantile } from './support/rounds.ts';
import { seed } from './support/seed.ts';
import { mega, printTable } from './support/tables.ts';

const INTERVAL_MS = 2_500;
/** `SIZES=100,1000` measures these only. */
const SIZES = (process.env.SIZES ?? '100,1000,10000').split(',').map(Number);
/** Posts of one channel go one after another, so the runs are spread as they would be. */
const CHANNELS = 100;
/** All are followed and none has ended. */
const IN_THE_MIDDLE_MS = 10_000;
/** Runs end 15 to 35 s after the start; this is for whoever is late. */
const PATIENCE_MS = 180_000;

interface Told {
  ended: number;
  replies: number;
  lateMs: number[];
}

/** Runs that one process takes up at its start and follows at once: whether all end, how late, and what each costs. */
export async function followedRuns(): Promise<void> {
  const rows: string[][] = [];
  for (const size of SIZES) rows.push(await measure(size));
  printTable(
    [
      'runs',
      'ended',
      'replies',
      'end shown late, p50',
      'p99',
      'heap a run',
      'resident a run',
      'memory at its highest',
      'CPU a run',
    ],
    rows,
  );
}

async function measure(size: number): Promise<string[]> {
  const lone = await withRuns(1, (_, deckhand) => inTheMiddle(deckhand));
  return withRuns(size, (world, deckhand) => follow(size, world, deckhand, lone));
}

/** Starts Deckhand on a store with so many runs to take up, which begin now. */
async function withRuns<T>(
  size: number,
  look: (world: Program, deckhand: Program) => Promise<T>,
): Promise<T> {
  const store = await freshFolder();
  const world = await startProgram('bench/peers/world.ts');
  const env = { ...environment(world, store.storeUrl), POLL_INTERVAL_MS: String(INTERVAL_MS) };
  try {
    await seed(env, async (workspace) => {
      for (let number = 0; number < size; number += 1) {
        const run = makeRun(number);
        await openRuns(workspace.store).put(run.id, run);
        await FOLLOW_TEST.begin(workspace, run.id, run.requestId);
      }
    });
    const deckhand = await startDeckhand(env);
    try {
      await world.ask({ kind: 'runs', start: Date.now() });
      return await look(world, deckhand);
    } finally {
      await deckhand.end();
    }
  } finally {
    await world.end();
    await store.remove();
  }
}

interface Memory {
  heap: number;
  resident: number;
}

/** While all are followed. Beside that of a single run, so that what following itself takes is not counted along. */
async function inTheMiddle(deckhand: Program): Promise<Memory> {
  await pause(IN_THE_MIDDLE_MS);
  const { heapUsed: heap } = await deckhand.ask<{ heapUsed: number }>('memory');
  return { heap, resident: residentBytes(deckhand.pid).now };
}

async function follow(size: number, world: Program, deckhand: Program, lone: Memory): Promise<string[]> {
  const cpuBefore = cpuSeconds(deckhand.pid);
  const { heap, resident } = await inTheMiddle(deckhand);
  const told = await untilAllEnded(size, world);
  const cpu = cpuSeconds(deckhand.pid) - cpuBefore;
  const late = (q: number): string => `${(quantile(told.lateMs, q) / INTERVAL_MS).toFixed(2)} intervals`;
  const kilo = (bytes: number): string => `${(bytes / size / 1024).toFixed(1)} kB`;
  return [
    String(size),
    String(told.ended),
    String(told.replies),
    late(0.5),
    late(0.99),
    kilo(heap - lone.heap),
    kilo(resident - lone.resident),
    mega(residentBytes(deckhand.pid).highest),
    `${((cpu * 1000) / size).toFixed(1)} ms`,
  ];
}

async function untilAllEnded(size: number, world: Program): Promise<Told> {
  const end = Date.now() + PATIENCE_MS;
  for (;;) {
    await pause(1_000);
    const told = await world.ask<Told>({ kind: 'tell' });
    if (told.ended === size || Date.now() > end) return told;
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function makeRun(run: number): Run {
  const startedAt = Date.now();
  return {
    target: { account: ACCOUNT, project: { permalink: `shop-${run}`, name: `Shop ${run}` } },
    id: `run ${run}`,
    requestId: `request ${run}`,
    requestedBy: 'U0BEN',
    channel: `C0BENCH${run % CHANNELS}`,
    rootTs: `${run}.000100`,
    startedAt,
    threads: true,
    layout: 'compact',
    run: `r${run}`,
    status: 'running',
  };
}
