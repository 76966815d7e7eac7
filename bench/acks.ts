import type { Load, LoadResult } from './peers/load.ts';
import { environment, freshFolder, SECRET, startDeckhand } from './support/deckhand.ts';
import { cpuSeconds, type Program, startProgram } from './support/processes.ts';
import { alternate, median, quantile, ratio } from './support/rounds.ts';
import { ms, printTable } from './support/tables.ts';

const LEVELS = [
  { concurrency: 1, count: 1_000 },
  { concurrency: 50, count: 4_000 },
  { concurrency: 500, count: 4_000 },
];

interface Sample {
  perSecond: number;
  p50: number;
  p99: number;
  cpuMs: number;
}

/**
 * From a signed request to its acknowledgement. `closed` is what only has to be acknowledged, the same work for
 * both; with `help` Deckhand answers too, while bare Bolt has nothing more to do.
 */
export async function acks(): Promise<void> {
  const store = await freshFolder();
  const world = await startProgram('bench/peers/world.ts');
  const load = await startProgram('bench/peers/load.ts');
  const env = { SLACK_SIGNING_SECRET: SECRET };
  const deckhand = await startDeckhand(environment(world, store.storeUrl, load.port));
  const bolt = await startProgram('bench/peers/bare-bolt.ts', env);
  try {
    for (const kind of ['closed', 'command'] as const) {
      console.log(`\n${kind === 'closed' ? 'Only acknowledged' : 'A slash command, `help`'}:\n`);
      const rows: string[][] = [];
      for (const level of LEVELS) {
        const measure = (program: Program, reply: Load['reply']) => () =>
          sample(load, program, { kind, reply, ...level });
        const candidates = {
          deckhand: measure(deckhand, kind === 'command' ? 'after' : 'none'),
          bolt: measure(bolt, 'none'),
        };
        for (const warmUp of Object.values(candidates)) await warmUp();
        const samples = await alternate(candidates);
        rows.push(...rowsOf(level.concurrency, samples));
      }
      printTable(
        [
          'at once',
          'candidate',
          'requests/s',
          'p50',
          'p99',
          'CPU a request',
          'requests/s against it',
          'p99 against it',
        ],
        rows,
      );
    }
  } finally {
    for (const program of [deckhand, bolt, load, world]) await program.end();
    await store.remove();
  }
}

async function sample(
  load: Program,
  program: Program,
  what: Pick<Load, 'kind' | 'reply' | 'count' | 'concurrency'>,
): Promise<Sample> {
  const before = cpuSeconds(program.pid);
  const asked: Load = {
    ...what,
    origin: `http://127.0.0.1:${program.port}`,
    secret: SECRET,
    text: 'help',
  };
  const result = await load.ask<LoadResult>(asked);
  if (result.failed > 0) throw new Error(`${result.failed} requests were not acknowledged`);
  return {
    perSecond: what.count / result.seconds,
    p50: quantile(result.ms, 0.5),
    p99: quantile(result.ms, 0.99),
    cpuMs: ((cpuSeconds(program.pid) - before) * 1000) / what.count,
  };
}

function rowsOf(concurrency: number, samples: Record<'deckhand' | 'bolt', Sample[]>): string[][] {
  const of = (who: keyof typeof samples, key: keyof Sample): number[] => samples[who].map((one) => one[key]);
  const names = { deckhand: 'Deckhand', bolt: 'bare Bolt' } as const;
  return (['deckhand', 'bolt'] as const).map((who) => [
    String(concurrency),
    names[who],
    Math.round(median(of(who, 'perSecond'))).toString(),
    ms(median(of(who, 'p50'))),
    ms(median(of(who, 'p99'))),
    `${median(of(who, 'cpuMs')).toFixed(2)} ms`,
    who === 'deckhand' ? '' : ratio(of('deckhand', 'perSecond'), of(who, 'perSecond')),
    who === 'deckhand' ? '' : ratio(of('deckhand', 'p99'), of(who, 'p99')),
  ]);
}
