import { join } from 'node:path';
import process from 'node:process';
import { type PostgresServer, startPostgres } from '../test/support/postgres-server.ts';
import type { Operation, StoreAsked, StoreTold } from './peers/store.ts';
import { freshFolder } from './support/deckhand.ts';
import { type Program, startProgram } from './support/processes.ts';
import { alternate, median, ratio } from './support/rounds.ts';
import { printTable } from './support/tables.ts';

/** Workspaces in a database. `SIZES=10,1000` measures these only. */
const SIZES = (process.env.SIZES ?? '10,1000,10000').split(',').map(Number);
const OPERATIONS: readonly Operation[] = ['get', 'put', 'update', 'send'];
const NAMES = {
  get: 'get',
  put: 'set',
  update: 'read, change, write',
  send: 'job: sent and handled',
} as const;
/** Enough to take about half a second each. */
const COUNTS = {
  sqlite: { get: 20_000, put: 5_000, update: 5_000, send: 1_500 },
  postgres: { get: 4_500, put: 1_500, update: 1_500, send: 900 },
} as const;
/** Operations under way at once, of all replicas together. */
const CONCURRENCY = 30;

type Kind = keyof typeof COUNTS;
type By = 'deckhand' | 'hand';

interface Setting {
  kind: Kind;
  replicas: number;
  /** A database of each, by how many workspaces are in it. */
  urls: ReadonlyMap<string, string>;
}

/** What the store and the engine do in a second, beside the driver by hand, and whether more workspaces slow it down. */
export async function storeEngine(): Promise<void> {
  const folder = await freshFolder();
  const postgres = await startPostgres();
  const programs = await Promise.all([1, 2, 3].map(() => startProgram('bench/peers/store.ts')));
  try {
    const sqlite = await fill(programs, async (name) => `sqlite://${join(folder.folder, `${name}.sqlite`)}`);
    const shared = await fill(programs, () => freshDatabase(postgres));
    const rows = [
      ...(await measure(programs, { kind: 'sqlite', replicas: 1, urls: sqlite })),
      ...(await measure(programs, { kind: 'postgres', replicas: 1, urls: shared })),
      ...(await measure(programs, { kind: 'postgres', replicas: 3, urls: shared })),
    ];
    printTable(
      [
        'operation',
        'database',
        'replicas',
        'workspaces',
        'a second',
        'by hand',
        'against it',
        `against ${SIZES[0]} workspaces`,
        'by hand, likewise',
      ],
      rows,
    );
  } finally {
    for (const program of programs) await program.end();
    await postgres.stop();
    await folder.remove();
  }
}

function freshDatabase(postgres: PostgresServer): Promise<string> {
  return postgres.createDatabase();
}

function keyOf(by: By, size: number): `${By} ${number}` {
  return `${by} ${size}`;
}

function ask(program: Program, asked: StoreAsked): Promise<StoreTold> {
  return program.ask<StoreTold>(asked);
}

async function fill(
  programs: readonly Program[],
  urlOf: (name: string) => Promise<string>,
): Promise<Map<string, string>> {
  const urls = new Map<string, string>();
  const [program] = programs;
  if (program === undefined) return urls;
  for (const size of SIZES)
    for (const by of ['deckhand', 'hand'] as const) {
      const url = await urlOf(`${by}-${size}`);
      urls.set(keyOf(by, size), url);
      await ask(program, { kind: 'open', url, by, works: false });
      await ask(program, { kind: 'fill', workspaces: size });
      await ask(program, { kind: 'close' });
    }
  return urls;
}

async function measure(programs: readonly Program[], setting: Setting): Promise<string[][]> {
  const rows: string[][] = [];
  for (const operation of OPERATIONS) {
    const candidates = Object.fromEntries(
      SIZES.flatMap((size) =>
        (['deckhand', 'hand'] as const).map((by) => [
          keyOf(by, size),
          () => sample(programs.slice(0, setting.replicas), setting, operation, by, size),
        ]),
      ),
    );
    const samples = await alternate(candidates, Number(process.env.ROUNDS ?? 5));
    rows.push(...SIZES.map((size) => rowOf(setting, operation, size, samples)));
  }
  return rows;
}

/** Operations a second, of all replicas at once. */
async function sample(
  replicas: readonly Program[],
  { kind, urls }: Setting,
  operation: Operation,
  by: By,
  size: number,
): Promise<number> {
  const url = urls.get(keyOf(by, size)) ?? '';
  const all = <T>(act: (program: Program) => Promise<T>): Promise<T[]> => Promise.all(replicas.map(act));
  const count = Math.round(COUNTS[kind][operation] / replicas.length);
  const concurrency = CONCURRENCY / replicas.length;
  await all((program) => ask(program, { kind: 'open', url, by, works: operation === 'send' }));
  const asked: StoreAsked = { kind: 'run', operation, workspaces: size, count, concurrency };
  await all((program) => ask(program, asked));
  const total = count * replicas.length;
  const isOver = (told: StoreTold[]) =>
    operation !== 'send' || told.reduce((sum, { handled }) => sum + handled, 0) >= total;
  let told = await all((program) => ask(program, { kind: 'told' }));
  while (!isOver(told)) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    told = await all((program) => ask(program, { kind: 'told' }));
  }
  await all((program) => ask(program, { kind: 'close' }));
  const end = Math.max(...told.map(({ endedAt, handledAt }) => Math.max(endedAt, handledAt)));
  return (total * 1000) / (end - Math.min(...told.map(({ startedAt }) => startedAt)));
}

function rowOf(
  { kind, replicas }: Setting,
  operation: Operation,
  size: number,
  samples: Record<string, number[]>,
): string[] {
  const of = (by: By, workspaces: number): number[] => samples[keyOf(by, workspaces)] ?? [];
  const ours = of('deckhand', size);
  const fewest = SIZES[0] ?? size;
  return [
    NAMES[operation],
    kind === 'sqlite' ? 'SQLite' : 'Postgres',
    String(replicas),
    size.toLocaleString('en'),
    Math.round(median(ours)).toLocaleString('en'),
    Math.round(median(of('hand', size))).toLocaleString('en'),
    ratio(ours, of('hand', size)),
    ...(size === fewest
      ? ['', '']
      : [ratio(ours, of('deckhand', fewest)), ratio(of('hand', size), of('hand', fewest))]),
  ];
}
