import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { z } from 'zod';
import { retryIfLocked } from '../core/retry.ts';
import { type Clock, MINUTE_MS } from '../core/time/clock.ts';
import { type ClaimedJob, type JobsBackend, QueueStats, UnreadableJob } from './jobs.ts';

/**
 * States: 0 waits, 1 runs, 2 is unreadable, 3 has ended and keeps its key until `due`. `seq` never repeats,
 * so the outcome of a cancelled job never reaches another job.
 */
const CREATE = `
CREATE TABLE IF NOT EXISTS deckhand_jobs (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  queue TEXT NOT NULL,
  key TEXT,
  workspace TEXT NOT NULL,
  data TEXT NOT NULL,
  due INTEGER NOT NULL,
  state INTEGER NOT NULL DEFAULT 0,
  claims INTEGER NOT NULL DEFAULT 0,
  failures INTEGER NOT NULL DEFAULT 0,
  traceparent TEXT
);
CREATE INDEX IF NOT EXISTS deckhand_jobs_due ON deckhand_jobs (queue, due, seq, workspace) WHERE state = 0;
CREATE INDEX IF NOT EXISTS deckhand_jobs_ended ON deckhand_jobs (due) WHERE state = 3;
CREATE INDEX IF NOT EXISTS deckhand_jobs_workspace ON deckhand_jobs (workspace);
CREATE UNIQUE INDEX IF NOT EXISTS deckhand_jobs_key ON deckhand_jobs (queue, key) WHERE key IS NOT NULL;`;
/** Makes jobs wait again that ran when an earlier process ended. */
const TAKE_OVER = 'UPDATE deckhand_jobs SET state = 0 WHERE state = 1';
const FIRST_DUE = 'SELECT queue, min(due) AS due FROM deckhand_jobs WHERE state = 0 GROUP BY queue';
const FREE_KEYS = 'DELETE FROM deckhand_jobs WHERE state = 3 AND due <= ?';
const INSERT = `INSERT INTO deckhand_jobs (queue, key, workspace, data, due, traceparent) VALUES (?, ?, ?, ?, ?, ?)
  ON CONFLICT DO NOTHING`;
const NEXT = 'SELECT min(due) AS due FROM deckhand_jobs WHERE state = 0 AND queue = :queue AND due > :now';
/** Returns the next due time with each job, which saves a statement. */
const CLAIM = `UPDATE deckhand_jobs SET state = 1, claims = claims + 1 WHERE seq IN
    (SELECT seq FROM deckhand_jobs WHERE state = 0 AND queue = :queue AND due <= :now
      AND workspace NOT IN (SELECT value FROM json_each(:full)) ORDER BY due, seq LIMIT :limit)
  RETURNING CAST(seq AS TEXT) AS id, seq, queue, key, workspace, data, due, traceparent, claims AS attempt, failures,
    (${NEXT}) AS nextAt`;
const OURS = 'seq = ? AND claims = ? AND state = 1';
const RELEASE = `UPDATE deckhand_jobs SET state = 0, due = ?, failures = ? WHERE ${OURS}`;
const END = `UPDATE deckhand_jobs SET state = 3, due = ?, data = '', traceparent = NULL WHERE ${OURS}`;
const DELETE = `DELETE FROM deckhand_jobs WHERE ${OURS}`;
const KEEP_UNREADABLE = `UPDATE deckhand_jobs SET state = 2, key = NULL WHERE ${OURS}`;
const UNREADABLE =
  'SELECT queue, CAST(seq AS TEXT) AS id FROM deckhand_jobs WHERE workspace = :workspace AND state = 2';
const ALL = `SELECT queue, key, workspace, data, max(0, due - :now) AS delayMs, traceparent FROM deckhand_jobs
  WHERE state < 2 ORDER BY seq`;
const CANCEL = 'DELETE FROM deckhand_jobs WHERE workspace = ?';
const COUNT = `SELECT queue, sum(state = 0 AND due <= :now) AS waiting, sum(state = 0 AND due > :now) AS later,
  sum(state = 1) AS running, max(0, :now - min(CASE state WHEN 0 THEN due ELSE :now END)) AS oldestDueMs
  FROM deckhand_jobs WHERE state < 2 GROUP BY queue`;

const text = z
  .string()
  .nullable()
  .transform((value) => value ?? undefined);
const Job = z.object({
  queue: z.string(),
  key: text,
  workspace: z.string(),
  data: z.string(),
  traceparent: text,
});
const ClaimedRows = z.array(
  Job.extend({
    id: z.string(),
    seq: z.number(),
    due: z.number(),
    attempt: z.number(),
    failures: z.number(),
    nextAt: z.number().nullable(),
  }),
);
const NextRow = z.object({ due: z.number().nullable() }).optional();
const DueRows = z.array(z.object({ queue: z.string(), due: z.number() }));
const AllRows = z.array(Job.extend({ delayMs: z.number() }));
const CountRows = z.array(QueueStats.extend({ queue: z.string() }));

type Value = string | number | null;

/** Interval for freeing keys that stayed taken, the same as on Postgres. */
const FREE_KEYS_MS = MINUTE_MS;

/**
 * Jobs in a table of the SQLite file that holds the documents. Only this process works on the file, and it
 * keeps no job in memory. Writes wait while another process has the file's lock.
 */
export function createSqliteJobs(db: DatabaseSync, clock: Clock): JobsBackend {
  db.exec(CREATE);
  const prepared = new Map<string, StatementSync>();
  function statement(sql: string): StatementSync {
    const cached = prepared.get(sql) ?? db.prepare(sql);
    prepared.set(sql, cached);
    return cached;
  }
  const execute = async (sql: string, ...values: Value[]): Promise<boolean> =>
    (await retryIfLocked(() => statement(sql).run(...values))).changes > 0;
  const rows = (sql: string, values: Record<string, Value>): Promise<unknown[]> =>
    retryIfLocked(() => statement(sql).all(values));

  let keysFreedAt = Number.NEGATIVE_INFINITY;

  return {
    async start() {
      await execute(TAKE_OVER);
      return new Map(DueRows.parse(await rows(FIRST_DUE, {})).map(({ queue, due }) => [queue, due]));
    },
    async insert({ name, keyStaysMs }, { key = null, workspace, data, delayMs, traceparent = null }) {
      const now = clock.now();
      if (keyStaysMs !== undefined && now - keysFreedAt >= FREE_KEYS_MS) {
        keysFreedAt = now;
        await execute(FREE_KEYS, now);
      }
      return execute(INSERT, name, key, workspace, data, now + delayMs, traceparent);
    },
    async claim(queue, limit, full) {
      const due = { queue, now: clock.now() };
      const claimed = ClaimedRows.parse(await rows(CLAIM, { ...due, limit, full: JSON.stringify(full) }));
      const jobs = claimed.sort((one, other) => one.due - other.due || one.seq - other.seq);
      const [first] = jobs;
      const nextAt = first === undefined ? NextRow.parse((await rows(NEXT, due))[0])?.due : first.nextAt;
      return { jobs, nextAt: nextAt ?? undefined };
    },
    async finish(job, { keyStaysMs }) {
      if (job.key === undefined || keyStaysMs === undefined) await execute(DELETE, ...identifyClaim(job));
      else await execute(END, clock.now() + keyStaysMs, ...identifyClaim(job));
    },
    async release(job, delayMs) {
      await execute(RELEASE, clock.now() + delayMs, job.failures, ...identifyClaim(job));
    },
    keepUnreadable: async (job) => void (await execute(KEEP_UNREADABLE, ...identifyClaim(job))),
    unreadable: async (workspace) => z.array(UnreadableJob).parse(await rows(UNREADABLE, { workspace })),
    async *all() {
      yield* AllRows.parse(await rows(ALL, { now: clock.now() }));
    },
    cancel: async (workspace) => void (await execute(CANCEL, workspace)),
    async count() {
      const counted = CountRows.parse(await rows(COUNT, { now: clock.now() }));
      return Object.fromEntries(counted.map(({ queue, ...counts }) => [queue, counts]));
    },
    // Notices another process's lock. The store's own ping notices a full disk.
    ping: () => retryIfLocked(() => db.exec('BEGIN IMMEDIATE; ROLLBACK')),
    close: async () => undefined,
  };
}

function identifyClaim({ id, attempt }: ClaimedJob): [string, number] {
  return [id, attempt];
}
