import type { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import type { NewJob, ScheduleTable } from './jobs-backend.ts';

export const SCHEDULES_TABLE = `
CREATE TABLE IF NOT EXISTS schedules (
  workspace TEXT NOT NULL,
  key TEXT NOT NULL,
  cron TEXT NOT NULL,
  zone TEXT NOT NULL,
  queue TEXT NOT NULL,
  data TEXT NOT NULL,
  next_at INTEGER,
  PRIMARY KEY (workspace, key)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS schedules_next ON schedules (next_at) WHERE next_at IS NOT NULL;`;

const PUT = `INSERT INTO schedules (workspace, key, cron, zone, queue, data, next_at) VALUES (?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (workspace, key) DO UPDATE SET queue = excluded.queue, data = excluded.data, cron = excluded.cron,
    zone = excluded.zone, next_at = CASE WHEN cron = excluded.cron AND zone = excluded.zone AND next_at IS NOT NULL
      THEN next_at ELSE excluded.next_at END`;
const REMOVE = 'DELETE FROM schedules WHERE workspace = ? AND key = ?';
const ERASE = 'DELETE FROM schedules WHERE workspace = ?';
const DUE = `SELECT workspace, key, cron, zone, queue, data, next_at AS nextAt FROM schedules
  WHERE next_at <= ? ORDER BY next_at LIMIT ?`;
const ADVANCE =
  'UPDATE schedules SET next_at = ? WHERE workspace = ? AND key = ? AND cron = ? AND zone = ? AND next_at = ?';
const NEXT = 'SELECT min(next_at) AS nextAt FROM schedules';

const DueRows = z.array(
  z.object({
    workspace: z.string(),
    key: z.string(),
    cron: z.string(),
    zone: z.string(),
    queue: z.string(),
    data: z.string(),
    nextAt: z.number(),
  }),
);
const NextRow = z.object({ nextAt: z.number().nullable() });

export function createSqliteSchedules(
  db: DatabaseSync,
  inTransaction: (work: () => void) => void,
  insert: (queue: string, job: NewJob) => boolean,
): ScheduleTable & { erase(workspace: string): void } {
  const put = db.prepare(PUT);
  const remove = db.prepare(REMOVE);
  const erase = db.prepare(ERASE);
  const due = db.prepare(DUE);
  const advance = db.prepare(ADVANCE);
  const next = db.prepare(NEXT);
  return {
    put: async ({ workspace, key, cron, zone, queue, data, nextAt }) =>
      void put.run(workspace, key, cron, zone, queue, data, nextAt),
    remove: async (workspace, key) => void remove.run(workspace, key),
    erase: (workspace) => void erase.run(workspace),
    due: async (now, limit) => DueRows.parse(due.all(now, limit)),
    nextAt: async () => NextRow.parse(next.get()).nextAt ?? undefined,
    advance: async (advances) =>
      inTransaction(() => {
        for (const { schedule, nextAt, job } of advances) {
          const { workspace, key, cron, zone, queue, nextAt: from } = schedule;
          const isOurs = advance.run(nextAt ?? null, workspace, key, cron, zone, from).changes > 0;
          if (!isOurs || job === undefined) continue;
          insert(queue, { workspace, key: undefined, data: job.data, delayMs: 0, traceparent: undefined });
        }
      }),
  };
}
