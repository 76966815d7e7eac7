import process from 'node:process';
import { setTimeout } from 'node:timers/promises';
import type { Load, LoadResult } from './peers/load.ts';
import { checkouts, environment, freshFolder, SECRET, startDeckhand } from './support/deckhand.ts';
import { type Program, startProgram } from './support/processes.ts';
import { alternate, median, quantile, ratio } from './support/rounds.ts';
import { seed } from './support/seed.ts';
import { ms, printTable } from './support/tables.ts';

const COUNT = 500;
const CHANNELS = 10;
const LEVELS = (process.env.LEVELS ?? '1,50,500').split(',').map(Number);
/** Of the service and of Slack. */
const DELAY_MS = 20;
const ROOTS_MS = 30_000;

interface Sample {
  perSecond: number;
  p99: number;
  slowest: number;
  /** From each command to its first message in the channel; 0 for `help`, which posts none. */
  rootP99: number;
  roots: number;
}

/** 500 commands that are stored before their ack, in a process that was just started, and `help` beside them. */
export async function bursts(): Promise<void> {
  const rows: string[][] = [];
  for (const concurrency of LEVELS) {
    const candidates = Object.entries(checkouts()).flatMap(([name, root]) =>
      ['test p{n}', 'help'].map(
        (text) => [`${name}, ${text}`, () => sample(text, concurrency, root)] as const,
      ),
    );
    const samples = await alternate(Object.fromEntries(candidates));
    for (const [name] of candidates) rows.push(rowOf(name, concurrency, samples));
  }
  const head = ['candidate', 'at once', 'acks/s', 'p99', 'slowest', 'worst round', 'first message, p99'];
  printTable([...head, 'posted', 'acks/s of the first'], rows);
}

async function sample(text: string, concurrency: number, root: string | undefined): Promise<Sample> {
  const store = await freshFolder();
  const world = await startWorld();
  const load = await startProgram('bench/peers/load.ts');
  const env = environment(world, store.storeUrl, load.port);
  await seed(env);
  const deckhand = await startDeckhand(env, root);
  try {
    await world.ask({ kind: 'runs', start: Date.now() });
    const { port } = deckhand;
    const asked: Load = {
      origin: `http://127.0.0.1:${port}`,
      secret: SECRET,
      kind: 'command',
      text,
      count: COUNT,
      channels: CHANNELS,
      concurrency,
      reply: text === 'help' ? 'after' : 'none',
    };
    const result = await load.ask<LoadResult>(asked);
    if (result.failed > 0) throw new Error(`${result.failed} requests were not acknowledged`);
    const late = text === 'help' ? [] : await rootsOf(world, result);
    return {
      perSecond: COUNT / result.seconds,
      p99: quantile(result.ms, 0.99),
      slowest: Math.max(...result.ms),
      rootP99: late.length === 0 ? 0 : quantile(late, 0.99),
      roots: late.length,
    };
  } finally {
    for (const program of [deckhand, load, world]) await program.end();
    await store.remove();
  }
}

function startWorld(): Promise<Program> {
  return startProgram('bench/peers/world.ts', { DELAY_MS: String(DELAY_MS), PROJECTS: String(COUNT + 1) });
}

/** How long after its command each test's first message stood in the channel. */
async function rootsOf(world: Program, { sentAt }: LoadResult): Promise<number[]> {
  const end = performance.now() + ROOTS_MS;
  for (;;) {
    const { roots } = await world.ask<{ roots: Array<[project: number, at: number]> }>({ kind: 'told' });
    if (roots.length === COUNT || performance.now() > end)
      return roots.map(([project, at]) => at - (sentAt[project - 1] ?? Number.NaN));
    await setTimeout(200);
  }
}

function rowOf(name: string, concurrency: number, samples: Record<string, Sample[]>): string[] {
  const [first = []] = Object.values(samples);
  const own = samples[name] ?? [];
  const of = (key: keyof Sample): number[] => own.map((one) => one[key]);
  return [
    name,
    String(concurrency),
    String(Math.round(median(of('perSecond')))),
    ms(median(of('p99'))),
    ms(median(of('slowest'))),
    ms(Math.max(...of('slowest'))),
    ms(median(of('rootP99'))),
    String(median(of('roots'))),
    ratio(
      of('perSecond'),
      first.map(({ perSecond }) => perSecond),
    ),
  ];
}
