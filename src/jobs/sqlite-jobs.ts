import type { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import type { Clock } from '../core/clock.ts';
import { type EngineStats, JobAborted } from './jobs.ts';
import type { Claim, ClaimedJob, JobsBackend, NewJob } from './jobs-backend.ts';
import { createSqliteSchedules, SCHEDULES_TABLE } from './sqlite-schedules.ts';

/**
 * Waiting jobs have state 0, running ones 1, those set aside 2. `set_at` is when `due` was set, by the same clock.
 * `seq` never repeats, so the outcome of a job that was erased meets no other.
 */
const JOBS_TABLE = `
CREATE TABLE IF NOT EXISTS jobs (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  queue TEXT NOT NULL,
  key TEXT,
  workspace TEXT NOT NULL,
  data TEXT NOT NULL,
  due INTEGER NOT NULL,
  set_at INTEGER NOT NULL,
  state INTEGER NOT NULL DEFAULT 0,
  claims INTEGER NOT NULL DEFAULT 0,
  handed_back INTEGER NOT NULL DEFAULT 0,
  failures INTEGER NOT NULL DEFAULT 0,
  dead TEXT,
  traceparent TEXT
);
CREATE INDEX IF NOT EXISTS jobs_due ON jobs (queue, due, seq, workspace) WHERE state = 0;
CREATE INDEX IF NOT EXISTS jobs_workspace ON jobs (workspace);
CREATE UNIQUE INDEX IF NOT EXISTS jobs_key ON jobs (queue, key) WHERE key IS NOT NULL;`;

/** What ran when an earlier process ended. */
const TAKE_OVER = 'UPDATE jobs SET state = 0 WHERE state = 1';
const CLOCK_SET_BACK =
  'UPDATE jobs SET due = :now + due - set_at, set_at = :now WHERE state = 0 AND set_at > :now';
const INSERT = `INSERT INTO jobs (queue, key, workspace, data, due, set_at, traceparent)
  VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`;
const DUE = 'SELECT seq, due FROM jobs WHERE state = 0 AND queue = :queue AND due <= :now';
const FIRST = 'ORDER BY due, seq LIMIT :limit';
const NEXT = 'SELECT due FROM jobs WHERE state = 0 AND queue = :queue AND due > :now ORDER BY due LIMIT 1';
const BUSY = '(SELECT value FROM json_each(:busy))';
/** Those of busy workspaces after all others. */
const FAIR = `SELECT seq FROM (
    SELECT * FROM (SELECT seq, due, 0 AS turn FROM (${DUE} AND workspace NOT IN ${BUSY} ${FIRST}))
    UNION ALL SELECT * FROM (SELECT seq, due, 1 AS turn FROM (${DUE} AND workspace IN ${BUSY} ${FIRST}))
  ) ORDER BY turn, due, seq LIMIT :limit`;
const claiming = (
  due: string,
): string => `UPDATE jobs SET state = 1, claims = claims + 1 WHERE seq IN (${due})
  RETURNING seq, queue, key, workspace, data, due, claims, handed_back AS handedBack, failures, dead, traceparent,
    (${NEXT}) AS nextAt`;
const OURS = 'seq = ? AND claims = ? AND state = 1';
const SAVE = `UPDATE jobs SET data = ?, failures = ?, handed_back = ?, dead = ? WHERE ${OURS}`;
const RELEASE = `UPDATE jobs SET data = ?, failures = ?, handed_back = ?, dead = ?, due = ?, set_at = ?, state = 0 WHERE ${OURS}`;
const FINISH = `DELETE FROM jobs WHERE ${OURS}`;
const SET_ASIDE = `UPDATE jobs SET state = 2, key = NULL WHERE ${OURS}`;
const ERASE = 'DELETE FROM jobs WHERE workspace = ?';
const COUNT = `SELECT queue, sum(state = 0) AS waiting, sum(state = 1) AS running,
  min(CASE state WHEN 0 THEN due END) AS oldest FROM jobs WHERE state < 2 GROUP BY queue`;

const ClaimedRow = z.object({
  seq: z.number(),
  queue: z.string(),
  key: z.string().nullable(),
  workspace: z.string(),
  data: z.string(),
  due: z.number(),
  claims: z.number(),
  handedBack: z.number(),
  failures: z.number(),
  dead: z.string().nullable(),
  traceparent: z.string().nullable(),
  nextAt: z.number().nullable(),
});
type ClaimedRow = z.infer<typeof ClaimedRow>;
const NextRow = z.object({ due: z.number() }).optional();
const CountRows = z.array(
  z.object({ queue: z.string(), waiting: z.number(), running: z.number(), oldest: z.number().nullable() }),
);

/**
 * Jobs and schedules in two tables of an SQLite file that this process alone works on, beside its documents. Only
 * what runs is held in memory.
 */
export function createSqliteJobs(db: DatabaseSync, clock: Clock): JobsBackend {
  db.exec(JOBS_TABLE + SCHEDULES_TABLE);
  const setBack = db.prepare(CLOCK_SET_BACK);
  db.exec(TAKE_OVER);
  setBack.run({ now: clock.now() });
  const insertOne = db.prepare(INSERT);
  const insert = (queue: string, { key, workspace, data, delayMs, traceparent }: NewJob): boolean => {
    const now = clock.now();
    const row = [queue, key ?? null, workspace, data, now + delayMs, now, traceparent ?? null];
    return insertOne.run(...row).changes > 0;
  };
  const erase = db.prepare(ERASE);
  const count = db.prepare(COUNT);
  const schedules = createSqliteSchedules(db, inTransaction, (queue, job) => insert(queue, job));

  function inTransaction<T>(work: () => T): T {
    db.exec('BEGIN IMMEDIATE');
    try {
      const result = work();
      db.exec('COMMIT');
      return result;
    } catch (error) {
      if (db.isTransaction) db.exec('ROLLBACK');
      throw error;
    }
  }

  return {
    schedules,
    start: async () => undefined,
    insert: async (queue, jobs) => {
      const store = (): boolean[] => jobs.map((job) => insert(queue, job));
      return jobs.length === 1 ? store() : inTransaction(store);
    },
    ...claimedJobs(db, clock),
    erase: async (workspace) => {
      inTransaction(() => {
        schedules.erase(workspace);
        erase.run(workspace);
      });
    },
    clockSetBack: async () => void setBack.run({ now: clock.now() }),
    count: async () => {
      const now = clock.now();
      const queues: EngineStats['queues'] = {};
      for (const { queue, waiting, running, oldest } of CountRows.parse(count.all()))
        queues[queue] = { waiting, running, oldestDueMs: Math.max(0, now - (oldest ?? now)) };
      return queues;
    },
    // Sees that another process holds the file; that the disk has room is seen by the store's own ping.
    ping: async () => inTransaction(() => undefined),
    close: async () => undefined,
  };
}

type ClaimedJobs = Pick<JobsBackend, 'claim' | 'save' | 'release' | 'finish' | 'setAside'>;

function claimedJobs(db: DatabaseSync, clock: Clock): ClaimedJobs {
  const claimFirst = db.prepare(claiming(`SELECT seq FROM (${DUE} ${FIRST})`));
  const claimFairly = db.prepare(claiming(FAIR));
  const next = db.prepare(NEXT);
  const save = db.prepare(SAVE);
  const release = db.prepare(RELEASE);
  const finish = db.prepare(FINISH);
  const setAside = db.prepare(SET_ASIDE);

  function change(run: () => { changes: number | bigint }): void {
    if (Number(run().changes) === 0) throw new JobAborted('erased');
  }

  return {
    claim: async (queue, limit, busy): Promise<Claim> => {
      const now = clock.now();
      const rows = (
        busy.length === 0
          ? claimFirst.all({ queue, now, limit })
          : claimFairly.all({ queue, now, limit, busy: JSON.stringify(busy) })
      ).map((row) => ClaimedRow.parse(row));
      const [first] = rows.sort((a, b) => a.due - b.due || a.seq - b.seq);
      const nextAt = first === undefined ? NextRow.parse(next.get({ queue, now }))?.due : first.nextAt;
      return { jobs: rows.map(toJob), nextAt: nextAt ?? undefined };
    },
    save: async (job) => change(() => save.run(...stateOf(job), job.id, job.claims)),
    release: async (job, delayMs) => {
      const now = clock.now();
      change(() => release.run(...stateOf(job), now + delayMs, now, job.id, job.claims));
    },
    finish: async ({ id, claims }) => change(() => finish.run(id, claims)),
    setAside: async ({ id, claims }) => change(() => setAside.run(id, claims)),
  };
}

function stateOf({ data, failures, handedBack, dead }: ClaimedJob): [string, number, number, string | null] {
  return [data, failures, handedBack, dead ?? null];
}

function toJob({ seq, due, nextAt, key, dead, traceparent, ...row }: ClaimedRow): ClaimedJob {
  return {
    ...row,
    id: String(seq),
    key: key ?? undefined,
    dead: dead ?? undefined,
    traceparent: traceparent ?? undefined,
  };
}
