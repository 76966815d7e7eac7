import type { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import type { Clock } from '../core/clock.ts';
import { InstallationEnded } from '../core/errors.ts';
import { inTransaction, type SqliteFile, whenFree } from '../core/sqlite-file.ts';
import { JobAborted } from './jobs.ts';
import type { ClaimedJob, JobsBackend, NewJob } from './jobs-backend.ts';
import {
  type Advance,
  CREATE_SCHEDULES,
  createScheduleTable,
  ERASE_SCHEDULES,
  type Query,
  type ScheduleTable,
} from './schedule-table.ts';

/**
 * Waiting jobs have state 0, running ones 1, those set aside 2. `set_at` is when `due` was set, by the same clock.
 * `seq` never repeats, so the outcome of a job that was erased meets no other.
 */
const CREATE_JOBS = `
CREATE TABLE IF NOT EXISTS deckhand_jobs (
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
CREATE INDEX IF NOT EXISTS deckhand_jobs_due ON deckhand_jobs (queue, due, seq, workspace) WHERE state = 0;
CREATE INDEX IF NOT EXISTS deckhand_jobs_workspace ON deckhand_jobs (workspace);
CREATE UNIQUE INDEX IF NOT EXISTS deckhand_jobs_key ON deckhand_jobs (queue, key) WHERE key IS NOT NULL;`;
export const CREATE_TABLES = CREATE_JOBS + CREATE_SCHEDULES;
/** What ran when an earlier process ended. */
const TAKE_OVER = 'UPDATE deckhand_jobs SET state = 0 WHERE state = 1';

const QUEUES = 'SELECT DISTINCT queue FROM deckhand_jobs';
const STANDS = 'SELECT 1 FROM keyv WHERE key = ? AND value = ?';
/** Only while that stands which the job belongs to, where it belongs to anything. */
const INSERT = `INSERT INTO deckhand_jobs (queue, key, workspace, data, due, set_at, traceparent)
  SELECT ?, ?, ?, ?, ?, ?, ? WHERE ? IS NULL OR EXISTS (${STANDS}) ON CONFLICT DO NOTHING`;
const DUE = 'SELECT seq FROM deckhand_jobs WHERE state = 0 AND queue = :queue AND due <= :now';
/** But for those of the workspaces that are left out. To unfold the list takes longer than the rest, if it is empty too. */
const DUE_BUT = `${DUE} AND workspace NOT IN (SELECT value FROM json_each(:left))`;
const NEXT =
  'SELECT due FROM deckhand_jobs WHERE state = 0 AND queue = :queue AND due > :now ORDER BY due LIMIT 1';
/** Gives with each job when the next one falls due, which would take a statement of its own otherwise. */
const [CLAIM, CLAIM_BUT] = [DUE, DUE_BUT].map(
  (due) => `UPDATE deckhand_jobs SET state = 1, claims = claims + 1
  WHERE seq IN (${due} ORDER BY due, seq LIMIT :limit)
  RETURNING CAST(seq AS TEXT) AS id, seq, queue, key, workspace, data, due, claims, handed_back AS handedBack, failures,
    dead, traceparent, (${NEXT}) AS nextAt`,
) as [string, string];
const OURS = 'seq = ? AND claims = ? AND state = 1';
const SAVE = `UPDATE deckhand_jobs SET data = ?, failures = ?, handed_back = ?, dead = ? WHERE ${OURS}`;
const RELEASE = `UPDATE deckhand_jobs SET data = ?, failures = ?, handed_back = ?, dead = ?, due = ?, set_at = ?,
  state = 0 WHERE ${OURS}`;
const FINISH = `DELETE FROM deckhand_jobs WHERE ${OURS}`;
const SET_ASIDE = `UPDATE deckhand_jobs SET state = 2, key = NULL WHERE ${OURS}`;
const ERASE = 'DELETE FROM deckhand_jobs WHERE workspace = $1';
const CLOCK_SET_BACK =
  'UPDATE deckhand_jobs SET due = $1 + due - set_at, set_at = $1 WHERE state = 0 AND set_at > $1';
const COUNT = `SELECT queue, sum(state = 0) AS waiting, sum(state = 1) AS running,
  max(0, :now - min(CASE state WHEN 0 THEN due ELSE :now END)) AS oldestDueMs
  FROM deckhand_jobs WHERE state < 2 GROUP BY queue`;
const ADVANCE = `UPDATE deckhand_schedules SET next_at = ?
  WHERE workspace = ? AND key = ? AND cron = ? AND zone = ? AND next_at = ?`;

const text = z
  .string()
  .nullable()
  .transform((value) => value ?? undefined);
const ClaimedRows = z.array(
  z.object({
    id: z.string(),
    seq: z.number(),
    queue: z.string(),
    key: text,
    workspace: z.string(),
    data: z.string(),
    due: z.number(),
    claims: z.number(),
    handedBack: z.number(),
    failures: z.number(),
    dead: text,
    traceparent: text,
    nextAt: z.number().nullable(),
  }),
);
const NextRow = z.object({ due: z.number() }).optional();
const CountRows = z.array(
  z.object({ queue: z.string(), waiting: z.number(), running: z.number(), oldestDueMs: z.number() }),
);

/**
 * Jobs and schedules in two tables of an SQLite file that this process alone works on, beside its documents. Nothing
 * of them is held in memory. What is written waits while another process holds the file's lock.
 */
export function createSqliteJobs({ database: db, commit }: SqliteFile, clock: Clock): JobsBackend {
  db.exec(CREATE_TABLES);
  const setBack = db.prepare(CLOCK_SET_BACK);
  const erasing = [ERASE_SCHEDULES, ERASE].map((sql) => db.prepare(sql));
  const count = db.prepare(COUNT);
  const insertOne = db.prepare(INSERT);
  const stands = db.prepare(STANDS);
  const queues = db.prepare(QUEUES).all();
  /** Those that may have a job: the others need not be asked. */
  const used = new Set(queues.map(({ queue }) => queue));
  const insert = (queue: string, { during, key, workspace, data, delayMs, traceparent }: NewJob): boolean => {
    used.add(queue);
    const now = clock.now();
    const row = [queue, key ?? null, workspace, data, now + delayMs, now, traceparent ?? null];
    const standing = [during?.key ?? null, during?.key ?? null, during?.text ?? null];
    if (insertOne.run(...row, ...standing).changes > 0) return true;
    if (during !== undefined && stands.get(during.key, during.text) === undefined)
      throw new InstallationEnded();
    return false;
  };
  db.exec(TAKE_OVER);
  setBack.run({ $1: clock.now() });
  return {
    schedules: { ...createSchedules(db, insert), now: async () => clock.now() },
    start: async () => undefined,
    insert: (queue, jobs) => {
      const store = (): boolean[] => jobs.map((job) => insert(queue, job));
      return jobs.length === 1 ? commit(store) : inTransaction(db, store);
    },
    ...changes(db, clock, used),
    erase: (workspace) =>
      inTransaction(db, () => {
        for (const statement of erasing) statement.run({ $1: workspace });
      }),
    clockSetBack: async () => void (await whenFree(() => setBack.run({ $1: clock.now() }))),
    count: async () => {
      const rows = await whenFree(() => count.all({ now: clock.now() }));
      return Object.fromEntries(CountRows.parse(rows).map(({ queue, ...counts }) => [queue, counts]));
    },
    // Sees that another process holds the file; that the disk has room is seen by the store's own ping.
    ping: () => inTransaction(db, () => undefined),
    close: async () => undefined,
  };
}

type Changes = Pick<JobsBackend, 'claim' | 'save' | 'release' | 'finish' | 'setAside'>;

function changes(db: DatabaseSync, clock: Clock, used: ReadonlySet<unknown>): Changes {
  const claim = db.prepare(CLAIM);
  const claimOthers = db.prepare(CLAIM_BUT);
  const next = db.prepare(NEXT);
  const [save, release, finish, setAside] = [SAVE, RELEASE, FINISH, SET_ASIDE].map((sql) => {
    const statement = db.prepare(sql);
    return async (...values: Array<string | number | null>): Promise<void> => {
      const { changes } = await whenFree(() => statement.run(...values));
      if (changes === 0) throw new JobAborted('erased');
    };
  }) as [Change, Change, Change, Change];
  return {
    claim: async (queue, limit, { full, busy }) => {
      if (!used.has(queue)) return { jobs: [], nextAt: undefined };
      const asked = { queue, now: clock.now() };
      const claimBut = (left: readonly string[], most: number): Promise<unknown[]> =>
        whenFree(() =>
          left.length === 0
            ? claim.all({ ...asked, limit: most })
            : claimOthers.all({ ...asked, limit: most, left: JSON.stringify(left) }),
        );
      const found = await claimBut([...full, ...busy], limit);
      // Those of busy workspaces after all others, those of full ones not at all.
      if (busy.length > 0 && found.length < limit)
        found.push(...(await claimBut(full, limit - found.length)));
      const jobs = ClaimedRows.parse(found).sort((a, b) => a.due - b.due || a.seq - b.seq);
      if (jobs[0] !== undefined) return { jobs, nextAt: jobs[0].nextAt ?? undefined };
      return { jobs, nextAt: NextRow.parse(await whenFree(() => next.get(asked)))?.due };
    },
    save: (job) => save(...stateOf(job), job.id, job.claims),
    release: (job, delayMs) => {
      const now = clock.now();
      return release(...stateOf(job), now + delayMs, now, job.id, job.claims);
    },
    finish: ({ id, claims }) => finish(id, claims),
    setAside: ({ id, claims }) => setAside(id, claims),
  };
}

type Change = (...values: Array<string | number | null>) => Promise<void>;

function stateOf({ data, failures, handedBack, dead }: ClaimedJob): Array<string | number | null> {
  return [data, failures, handedBack, dead ?? null];
}

/** For statements whose values are `$1`, `$2` and so on. */
export function sqliteQuery(db: DatabaseSync): Query {
  return (sql, values) =>
    whenFree(() => db.prepare(sql).all(Object.fromEntries(values.map((value, at) => [`$${at + 1}`, value]))));
}

function createSchedules(
  db: DatabaseSync,
  insert: (queue: string, job: NewJob) => boolean,
): Omit<ScheduleTable, 'now'> {
  const one = db.prepare(ADVANCE);
  const advance = ({ schedule, nextAt, job }: Advance): void => {
    const { workspace, key, cron, zone, queue, nextAt: from } = schedule;
    const isOurs = one.run(nextAt ?? null, workspace, key, cron, zone, from).changes > 0;
    if (!isOurs || job === undefined) return;
    insert(queue, { workspace, key: undefined, data: job.data, delayMs: 0, traceparent: undefined });
  };
  return {
    ...createScheduleTable(sqliteQuery(db), ''),
    advance: (advances) => inTransaction(db, () => advances.forEach(advance)),
  };
}
