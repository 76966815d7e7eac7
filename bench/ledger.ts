import { monitorEventLoopDelay } from 'node:perf_hooks';
import process from 'node:process';
import { type Clock, DAY_MS, MINUTE_MS } from '../src/core/time/clock.ts';
import type { Account } from '../src/records/accounts.ts';
import { createLedger, type Ledger } from '../src/records/ledger.ts';
import { type ActivityEvent, countByDay } from '../src/service/activity.ts';
import { openStore } from '../src/store/open-store.ts';
import { readKnownActivity } from '../src/workspace/read-activity.ts';
import { startPostgres } from '../test/support/postgres-server.ts';
import { ACCOUNT, freshFolder } from './support/deckhand.ts';
import { printTable } from './support/tables.ts';

const ENTRIES = 100_000;
const DAYS = 400;
const EVERY_MS = Math.floor((DAYS * DAY_MS) / ENTRIES);
const PAGE = 99;
/** Events of a page while the ledger is filled. */
const FILLED = 2_000;
const PROJECTS = 120;
const ROUNDS = 10;
const WARM_UP = 10;

/** The ledger of a busy workspace: 400 days with 100,000 deployments of 120 projects. */
export async function ledger(): Promise<void> {
  const folder = await freshFolder();
  const postgres = await startPostgres();
  try {
    const rows = [
      ['SQLite', ...(await measure(folder.storeUrl))],
      ['Postgres', ...(await measure(await postgres.createDatabase()))],
    ];
    printTable(
      [
        'database',
        'CPU of a poll that adds one',
        'CPU of 90 days, account',
        'of 90 days, project',
        'hold',
        'an entry',
      ],
      rows,
    );
  } finally {
    await postgres.stop();
    await folder.remove();
  }
}

async function measure(url: string): Promise<string[]> {
  let now = Date.parse('2026-01-01T00:00:00Z');
  const clock: Clock = { now: () => now, sleep: async () => undefined };
  const store = await openStore(url, { clock });
  try {
    const entries = createLedger({ store: store.of('T1'), clock });
    for (let at = FILLED; at <= ENTRIES; at += FILLED) {
      now += FILLED * EVERY_MS;
      await entries.take(ACCOUNT, { events: pageAt(at, FILLED) });
    }
    const bytes = store.sqlite === undefined ? await sizePostgres(url) : await sizeSqlite(url);
    // The same events as before, and one more each time.
    let page = pageAt(ENTRIES, PAGE);
    let before = process.cpuUsage();
    for (let round = 1 - WARM_UP; round <= ROUNDS; round += 1) {
      if (round === 1) before = process.cpuUsage();
      now += MINUTE_MS;
      page = [event(ENTRIES + WARM_UP + round, now), ...page].slice(0, PAGE);
      await entries.take(ACCOUNT, { events: page });
    }
    const { user, system } = process.cpuUsage(before);
    const poll = (user + system) / 1000 / ROUNDS;
    const [account, hold] = await timeFigures(entries, clock, undefined);
    const [project] = await timeFigures(entries, clock, 7);
    return [
      ...[poll, account, project, hold].map((value) => `${value.toFixed(1)} ms`),
      `${Math.round(bytes / ENTRIES)} B`,
    ];
  } finally {
    await store.close();
  }

  function pageAt(newest: number, amount: number): ActivityEvent[] {
    return Array.from({ length: amount }, (_, back) => event(newest - back, now - back * EVERY_MS));
  }
}

/** Median CPU time of the figures of 90 days, and the longest hold of the loop. */
async function timeFigures(
  entries: Ledger,
  clock: Clock,
  project: number | undefined,
): Promise<[number, number]> {
  // Only the name and the purpose are read.
  const account = { name: ACCOUNT, purpose: 'shared' } as Account;
  const ref = project === undefined ? undefined : nameProject(project);
  const query = { range: 'last_90_days', zone: 'Europe/Lisbon', project: ref, isCompared: true } as const;
  const delay = monitorEventLoopDelay({ resolution: 1 });
  const times: number[] = [];
  delay.enable();
  for (let round = 0; round < ROUNDS; round += 1) {
    const start = process.cpuUsage();
    const activity = await readKnownActivity({ ledger: entries, clock }, account, query, {
      events: [],
      stats: undefined,
    });
    countByDay(query, activity, clock.now());
    const { user, system } = process.cpuUsage(start);
    times.push((user + system) / 1000);
  }
  delay.disable();
  return [times.toSorted((one, other) => one - other)[ROUNDS / 2] ?? 0, delay.max / 1e6];
}

function nameProject(at: number) {
  return {
    identifier: `5f6b1c2e-0000-4000-8000-${String(at).padStart(12, '0')}`,
    permalink: `project-${at}`,
    name: `Project ${at}`,
  };
}

function event(at: number, time: number): ActivityEvent {
  return {
    event: at % 9 === 0 ? 'deploy_failed' : 'deploy_completed',
    properties: { end_ref: String(at).padStart(40, '4bcef3e'), servers: ['web-1', 'web-2'] },
    project: nameProject(at % PROJECTS),
    user: `Person ${at % 30}`,
    created_at: new Date(time).toISOString(),
  };
}

async function sizeSqlite(url: string): Promise<number> {
  const { DatabaseSync } = await import('node:sqlite');
  const database = new DatabaseSync(url.slice('sqlite://'.length));
  const read = (what: string): number =>
    Number(Object.values(database.prepare(`PRAGMA ${what}`).get() ?? {})[0]);
  const bytes = read('page_count') * read('page_size');
  database.close();
  return bytes;
}

async function sizePostgres(url: string): Promise<number> {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query(
    "SELECT sum(pg_total_relation_size(oid))::text AS bytes FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace",
  );
  await client.end();
  return Number(rows[0]?.bytes);
}
