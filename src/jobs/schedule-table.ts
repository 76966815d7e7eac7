import { z } from 'zod';
import { InstallationEnded } from '../core/errors.ts';
import type { ScheduleTable, StoredSchedule } from './jobs-backend.ts';

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

export const ScheduleRow = z.object({
  workspace: z.string(),
  key: z.string(),
  cron: z.string(),
  zone: z.string(),
  queue: z.string(),
  data: z.string(),
  nextAt: z.number(),
}) satisfies z.ZodType<StoredSchedule>;
const DueRows = z.array(ScheduleRow);
const Next = z.tuple([z.object({ nextAt: z.number().nullable() })]);

/** The same as `PUT`, while a row of the documents stands. @param lock what holds that row until the end of the write */
function putDuring(lock: string): string {
  const standing = `SELECT 1 FROM keyv AS t WHERE t.key = $8 AND t.value = $9 ${lock}`;
  const values = 'SELECT $1, $2, $3, $4, $5, $6, CAST($7 AS bigint)';
  const put = PUT.replace('VALUES ($1, $2, $3, $4, $5, $6, $7)', `${values} WHERE EXISTS (${standing})`);
  return `${put} RETURNING key`;
}

/** Runs a statement with the values of `$1`, `$2` and so on, and gives its rows. */
export type Query = (sql: string, values: Array<string | number>) => Promise<unknown[]>;

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
