import { z } from 'zod';
import { InstallationEnded } from '../core/errors.ts';
import type { Standing } from './jobs.ts';

/** A schedule as it is stored. Its key is unique in its workspace. */
export const StoredSchedule = z.object({
  workspace: z.string(),
  key: z.string(),
  cron: z.string(),
  zone: z.string(),
  queue: z.string(),
  /** `JobData` as JSON. */
  data: z.string(),
  /** The next occurrence that has not been sent. */
  nextAt: z.number(),
});
export type StoredSchedule = z.infer<typeof StoredSchedule>;

/** A due schedule goes on to its next occurrence, together with the job of the one that is due. */
export interface Advance {
  schedule: StoredSchedule;
  /** Undefined sets the schedule aside: it is not due again until it is replaced. */
  nextAt: number | undefined;
  /** The occurrence's job; undefined if the occurrence is too old to be sent. */
  job: { data: string; at: number } | undefined;
}

export interface ScheduleTable {
  /** By the clock that schedules fall due by, in milliseconds since the epoch: one for all replicas. */
  now(): Promise<number>;
  /** Replaces the schedule with that key; with the same cron and zone it keeps its `nextAt`. */
  put(schedule: StoredSchedule, during?: Standing | undefined): Promise<void>;
  remove(workspace: string, key: string): Promise<void>;
  /** The first schedules that are due. */
  due(now: number, limit: number): Promise<StoredSchedule[]>;
  /** All in one write, each only if it is still as it was read: another replica may have been first. */
  advance(advances: readonly Advance[]): Promise<void>;
  /** When the next schedule falls due. */
  nextAt(): Promise<number | undefined>;
}

/** The same table on SQLite and Postgres, in the SQL that both read. */
export const CREATE_SCHEDULES = `
CREATE TABLE IF NOT EXISTS deckhand_schedules (
  workspace text NOT NULL, key text NOT NULL, cron text NOT NULL, zone text NOT NULL, queue text NOT NULL,
  data text NOT NULL, next_at bigint, PRIMARY KEY (workspace, key)
);
CREATE INDEX IF NOT EXISTS deckhand_schedules_next ON deckhand_schedules (next_at);`;
export const ERASE_SCHEDULES = 'DELETE FROM deckhand_schedules WHERE workspace = $1';

const PUT = `INSERT INTO deckhand_schedules AS s (workspace, key, cron, zone, queue, data, next_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (workspace, key) DO UPDATE SET queue = excluded.queue,
  data = excluded.data, cron = excluded.cron, zone = excluded.zone,
  next_at = CASE WHEN s.cron = excluded.cron AND s.zone = excluded.zone AND s.next_at IS NOT NULL
    THEN s.next_at ELSE excluded.next_at END`;
const REMOVE = 'DELETE FROM deckhand_schedules WHERE workspace = $1 AND key = $2';
const DUE = `SELECT workspace, key, cron, zone, queue, data, CAST(next_at AS double precision) AS "nextAt"
  FROM deckhand_schedules WHERE next_at <= $1 ORDER BY next_at LIMIT $2`;
const NEXT = 'SELECT CAST(min(next_at) AS double precision) AS "nextAt" FROM deckhand_schedules';

const DueRows = z.array(StoredSchedule);
const Next = z.tuple([z.object({ nextAt: z.number().nullable() })]);

/** The same as `PUT`, while a row of the documents stands. @param lock what holds that row until the end of the write */
function putDuring(lock: string): string {
  const standing = `SELECT 1 FROM keyv AS t WHERE t.key = $8 AND t.value = $9 ${lock}`;
  const values = 'SELECT $1, $2, $3, $4, $5, $6, CAST($7 AS bigint)';
  const put = PUT.replace('VALUES ($1, $2, $3, $4, $5, $6, $7)', `${values} WHERE EXISTS (${standing})`);
  return `${put} RETURNING key`;
}

/** Runs a statement with the values of `$1`, `$2` and so on, and gives its rows. */
export type Query = (sql: string, values: Array<string | number | null>) => Promise<unknown[]>;

export function createScheduleTable(query: Query, lock: string): Omit<ScheduleTable, 'advance' | 'now'> {
  return {
    put: async ({ workspace, key, cron, zone, queue, data, nextAt }, during) => {
      const values = [workspace, key, cron, zone, queue, data, nextAt];
      if (during === undefined) return void (await query(PUT, values));
      const stored = await query(putDuring(lock), [...values, during.key, during.text]);
      if (stored.length === 0) throw new InstallationEnded();
    },
    remove: async (workspace, key) => {
      await query(REMOVE, [workspace, key]);
    },
    due: async (now, limit) => DueRows.parse(await query(DUE, [now, limit])),
    nextAt: async () => Next.parse(await query(NEXT, []))[0].nextAt ?? undefined,
  };
}
