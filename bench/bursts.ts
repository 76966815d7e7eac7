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
const ROOTS_MS = 10_000;

interface Sample {
  perSecond: number;
  p99: number;
  slowest: number;
  /** From each command to its first message in the channel; of those that came in time. */
  late: number[];
}

/** The first burst of a process that was just started, and the one after it. */
interface Bursts {
  fresh: Sample;
  warm: Sample;
}

const STATES = ['fresh', 'warm'] as const;

/**
 * 500 commands that are stored before their acks, in a process that was just started and then again; beside them `help`,
 * which is stored nowhere, and bare Bolt, which only acknowledges.
 */
export async function bursts(): Promise<void> {
  const rows: string[][] = [];
  for (const concurrency of LEVELS) {
    const candidates = Object.fromEntries([
      ...Object.entries(checkouts()).flatMap(([name, root]) => [
        [`${name}, test`, () => ofDeckhand('test p{n}', concurrency, root)] as const,
        [`${name}, help`, () => ofDeckhand('help', concurrency, root)] as const,
      ]),
      ['bare Bolt', () => ofBolt(concurrency)] as const,
    ]);
    const samples = await alternate(candidates);
    for (const name of Object.keys(candidates))
      for (const state of STATES) rows.push(rowOf(name, concurrency, state, samples));
  }
  const head = ['candidate', 'at once', 'process', 'acks/s', 'p99', 'slowest', 'worst round'];
  printTable([...head, 'first message, p99', 'channels', 'in time', 'acks/s of the first'], rows);
}

async function ofDeckhand(text: string, concurrency: number, root: string | undefined): Promise<Bursts> {
  const store = await freshFolder();
  const world = await startProgram('bench/peers/world.ts', {
    DELAY_MS: String(DELAY_MS),
    PROJECTS: String(2 * COUNT + 1),
  });
  const load = await startProgram('bench/peers/load.ts');
  const env = environment(world, store.storeUrl, load.port);
  await seed(env);
  const deckhand = await startDeckhand(env, root);
  const burst = async (before: number): Promise<Sample> => {
    const result = await load.ask<LoadResult>(loadOf(deckhand, text, concurrency, before));
    return sampleOf(result, text === 'help' ? [] : await rootsOf(world, result, before));
  };
  try {
    await world.ask({ kind: 'runs', start: Date.now() });
    return { fresh: await burst(0), warm: await burst(COUNT) };
  } finally {
    for (const program of [deckhand, load, world]) await program.end();
    await store.remove();
  }
}

async function ofBolt(concurrency: number): Promise<Bursts> {
  const load = await startProgram('bench/peers/load.ts');
  const bolt = await startProgram('bench/peers/bare-bolt.ts', { SLACK_SIGNING_SECRET: SECRET });
  const burst = async (): Promise<Sample> =>
    sampleOf(await load.ask<LoadResult>({ ...loadOf(bolt, 'help', concurrency, 0), reply: 'none' }), []);
  try {
    return { fresh: await burst(), warm: await burst() };
  } finally {
    for (const program of [bolt, load]) await program.end();
  }
}

function loadOf({ port }: Program, text: string, concurrency: number, before: number): Load {
  return {
    origin: `http://127.0.0.1:${port}`,
    secret: SECRET,
    kind: 'command',
    text,
    before,
    count: COUNT,
    channels: CHANNELS,
    concurrency,
    reply: text === 'help' ? 'after' : 'none',
  };
}

function sampleOf(result: LoadResult, late: number[]): Sample {
  if (result.failed > 0) throw new Error(`${result.failed} requests were not acknowledged`);
  return {
    perSecond: COUNT / result.seconds,
    p99: quantile(result.ms, 0.99),
    slowest: Math.max(...result.ms),
    late,
  };
}

/** How long after its command each test's first message stood in the channel, in the commands' order. */
async function rootsOf(world: Program, { sentAt }: LoadResult, before: number): Promise<number[]> {
  const end = performance.now() + ROOTS_MS;
  for (;;) {
    const { roots } = await world.ask<{ roots: Array<[project: number, at: number]> }>({ kind: 'told' });
    const late = new Map(roots.map(([project, at]) => [project - before, at]));
    const known = sentAt.map((sent, at) => (late.get(at + 1) ?? Number.NaN) - sent);
    if (!known.some(Number.isNaN) || performance.now() > end) return known;
    await setTimeout(200);
  }
}

/** The p99 of the first messages; one that did not come in time makes it as long as was waited. */
function p99Of(late: readonly number[]): number {
  return quantile(
    late.map((one) => (Number.isNaN(one) ? ROOTS_MS : one)),
    0.99,
  );
}

/** The median of the fastest and of the slowest channel. */
function channelsOf(late: readonly number[]): string {
  if (late.length === 0) return '';
  const medians = Array.from({ length: CHANNELS }, (_, channel) =>
    median(late.filter((one, at) => (at + 1) % CHANNELS === channel && !Number.isNaN(one))),
  );
  return `${ms(Math.min(...medians))} to ${ms(Math.max(...medians))}`;
}

function rowOf(
  name: string,
  concurrency: number,
  state: keyof Bursts,
  samples: Record<string, Bursts[]>,
): string[] {
  const [first = []] = Object.values(samples);
  const own = (samples[name] ?? []).map((one) => one[state]);
  const of = (key: 'perSecond' | 'p99' | 'slowest'): number[] => own.map((one) => one[key]);
  const late = own.map((one) => one.late).filter((one) => one.length > 0);
  return [
    name,
    String(concurrency),
    state,
    String(Math.round(median(of('perSecond')))),
    ms(median(of('p99'))),
    ms(median(of('slowest'))),
    ms(Math.max(...of('slowest'))),
    late.length === 0 ? '' : ms(median(late.map(p99Of))),
    channelsOf(late.at(-1) ?? []),
    late.length === 0 ? '' : String(median(late.map((one) => one.filter((ms) => !Number.isNaN(ms)).length))),
    ratio(
      of('perSecond'),
      first.map((one) => one[state].perSecond),
    ),
  ];
}
