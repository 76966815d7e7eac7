import type { Load, LoadResult } from './peers/load.ts';
import { ACCOUNT, environment, freshFolder, SECRET, startDeckhand } from './support/deckhand.ts';
import { cpuSeconds, type Program, startProgram } from './support/processes.ts';
import { alternate, median, quantile, ratio } from './support/rounds.ts';
import { seed } from './support/seed.ts';
import { ms, printTable } from './support/tables.ts';

const DELAY_MS = 20;
const LEVELS = [
  { concurrency: 1, count: 100 },
  { concurrency: 50, count: 2_000 },
];

/** A command, a call of a service that takes 20 ms, and the answer: from the command to its arrival at Slack. */
export async function whoami(): Promise<void> {
  const store = await freshFolder();
  const world = await startProgram('bench/peers/world.ts', { DELAY_MS: String(DELAY_MS) });
  const load = await startProgram('bench/peers/load.ts');
  const env = environment(world, store.storeUrl, load.port);
  await seed(env);
  const deckhand = await startDeckhand(env);
  const byHand = await startProgram('bench/peers/bolt-whoami.ts', {
    SLACK_SIGNING_SECRET: SECRET,
    SERVICE_URL: `http://127.0.0.1:${world.port}/service/${ACCOUNT}`,
  });
  try {
    const rows: string[][] = [];
    for (const level of LEVELS) {
      const candidates = {
        deckhand: () => sample(load, deckhand, level),
        byHand: () => sample(load, byHand, level),
      };
      for (const warmUp of Object.values(candidates)) await warmUp();
      rows.push(...rowsOf(level.concurrency, await alternate(candidates)));
    }
    printTable(
      ['at once', 'candidate', 'answers/s', 'p50', 'p99', 'CPU an answer', 'answers/s against it'],
      rows.map(([concurrency = '', name = '', ...rest]) => [concurrency, name, ...rest]),
    );
  } finally {
    for (const program of [deckhand, byHand, load, world]) await program.end();
    await store.remove();
  }
}

interface Sample {
  perSecond: number;
  p50: number;
  p99: number;
  cpuMs: number;
}

async function sample(
  load: Program,
  program: Program,
  level: Pick<Load, 'count' | 'concurrency'>,
): Promise<Sample> {
  const before = cpuSeconds(program.pid);
  const asked: Load = {
    ...level,
    kind: 'command',
    text: 'whoami',
    origin: `http://127.0.0.1:${program.port}`,
    secret: SECRET,
    reply: 'awaited',
  };
  const result = await load.ask<LoadResult>(asked);
  if (result.failed > 0) throw new Error(`${result.failed} commands were not acknowledged`);
  return {
    perSecond: level.count / result.seconds,
    p50: quantile(result.ms, 0.5),
    p99: quantile(result.ms, 0.99),
    cpuMs: ((cpuSeconds(program.pid) - before) * 1000) / level.count,
  };
}

function rowsOf(concurrency: number, samples: Record<'deckhand' | 'byHand', Sample[]>): string[][] {
  const of = (who: keyof typeof samples, key: keyof Sample): number[] => samples[who].map((one) => one[key]);
  return (['deckhand', 'byHand'] as const).map((who) => [
    String(concurrency),
    who === 'deckhand' ? 'Deckhand' : 'Bolt and fetch by hand',
    Math.round(median(of(who, 'perSecond'))).toString(),
    ms(median(of(who, 'p50'))),
    ms(median(of(who, 'p99'))),
    `${median(of(who, 'cpuMs')).toFixed(2)} ms`,
    who === 'deckhand' ? '' : ratio(of('deckhand', 'perSecond'), of(who, 'perSecond')),
  ]);
}
