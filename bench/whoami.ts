import type { Load, LoadResult } from './peers/load.ts';
import { ACCOUNT, checkouts, environment, freshFolder, SECRET, startDeckhand } from './support/deckhand.ts';
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
  const stores = await Promise.all(Object.keys(checkouts()).map(freshFolder));
  const world = await startProgram('bench/peers/world.ts', { DELAY_MS: String(DELAY_MS) });
  const load = await startProgram('bench/peers/load.ts');
  const deckhands: Array<[name: string, program: Program]> = [];
  for (const [at, [name, root]] of Object.entries(checkouts()).entries()) {
    const env = environment(world, stores[at]?.storeUrl ?? '', load.port);
    await seed(env);
    deckhands.push([name, await startDeckhand(env, root)]);
  }
  const origin = `http://127.0.0.1:${world.port}`;
  const peer = {
    SLACK_SIGNING_SECRET: SECRET,
    SLACK_API_URL: `${origin}/slack/`,
    SERVICE_URL: `${origin}/service/${ACCOUNT}`,
  };
  const byHand = await startProgram('bench/peers/bolt-whoami.ts', peer);
  try {
    const rows: string[][] = [];
    for (const level of LEVELS) {
      const peers = [...deckhands, ['Bolt and fetch by hand', byHand]] as const;
      const candidates = Object.fromEntries(
        peers.map(([name, program]) => [name, () => sample(load, program, level)]),
      );
      for (const warmUp of Object.values(candidates)) await warmUp();
      rows.push(...rowsOf(level.concurrency, await alternate(candidates)));
    }
    printTable(
      ['at once', 'candidate', 'answers/s', 'p50', 'p99', 'CPU an answer', 'Deckhand’s answers/s against it'],
      rows,
    );
  } finally {
    for (const [, program] of deckhands) await program.end();
    for (const program of [byHand, load, world]) await program.end();
    for (const store of stores) await store.remove();
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

function rowsOf(concurrency: number, samples: Record<string, Sample[]>): string[][] {
  const of = (who: string, key: keyof Sample): number[] => (samples[who] ?? []).map((one) => one[key]);
  return Object.keys(samples).map((who) => [
    String(concurrency),
    who,
    Math.round(median(of(who, 'perSecond'))).toString(),
    ms(median(of(who, 'p50'))),
    ms(median(of(who, 'p99'))),
    `${median(of(who, 'cpuMs')).toFixed(2)} ms`,
    who === 'Deckhand' ? '' : ratio(of('Deckhand', 'perSecond'), of(who, 'perSecond')),
  ]);
}
