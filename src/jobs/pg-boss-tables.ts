import type { Db } from 'pg-boss';
import { z } from 'zod';
import type { Advance, JobState, StoredSchedule } from './jobs-backend.ts';

/**
 * Two tables of our own, in the same database so that they change in one transaction with pg-boss's: what a claimed job
 * has become, for which pg-boss has no call, and the schedules, since pg-boss's own do not tell a job its occurrence
 * and catch up without a limit. Replicas that start at once would fail each other without the lock.
 */
const CREATE = `BEGIN; SELECT pg_advisory_xact_lock(hashtextextended('deckhand jobs', 0));
CREATE TABLE IF NOT EXISTS deckhand_job_states (
  id uuid PRIMARY KEY, workspace text NOT NULL, state text NOT NULL
);
CREATE INDEX IF NOT EXISTS deckhand_job_states_workspace ON deckhand_job_states (workspace);
CREATE TABLE IF NOT EXISTS deckhand_schedules (
  workspace text NOT NULL, key text NOT NULL, cron text NOT NULL, zone text NOT NULL, queue text NOT NULL,
  data text NOT NULL, next_at bigint, PRIMARY KEY (workspace, key)
);
CREATE INDEX IF NOT EXISTS deckhand_schedules_next ON deckhand_schedules (next_at);
COMMIT`;

const READ_STATES = 'SELECT id, state FROM deckhand_job_states WHERE id = ANY($1::uuid[])';
const WRITE_STATES = `INSERT INTO deckhand_job_states (id, workspace, state)
  SELECT id, workspace, state FROM json_to_recordset($1::json) AS s (id uuid, workspace text, state text)
  ON CONFLICT (id) DO UPDATE SET state = excluded.state`;
const DELETE_STATES = 'DELETE FROM deckhand_job_states WHERE id = ANY($1::uuid[])';

const PUT = `INSERT INTO deckhand_schedules AS s (workspace, key, cron, zone, queue, data, next_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (workspace, key) DO UPDATE SET queue = excluded.queue,
  data = excluded.data, cron = excluded.cron, zone = excluded.zone,
  next_at = CASE WHEN s.cron = excluded.cron AND s.zone = excluded.zone AND s.next_at IS NOT NULL
    THEN s.next_at ELSE excluded.next_at END`;
const REMOVE = 'DELETE FROM deckhand_schedules WHERE workspace = $1 AND key = $2';
const DUE = `SELECT workspace, key, cron, zone, queue, data, next_at::float8 AS "nextAt" FROM deckhand_schedules
  WHERE next_at <= $1 ORDER BY next_at LIMIT $2`;
const ADVANCE = `UPDATE deckhand_schedules AS s SET next_at = a."nextAt"
  FROM json_to_recordset($1::json) AS a (workspace text, key text, cron text, zone text, "from" bigint, "nextAt" bigint)
  WHERE (s.workspace, s.key, s.cron, s.zone, s.next_at) = (a.workspace, a.key, a.cron, a.zone, a."from")
  RETURNING s.workspace, s.key`;
const NEXT = 'SELECT min(next_at)::float8 AS "nextAt" FROM deckhand_schedules';

const ERASE_STATES = 'DELETE FROM deckhand_job_states WHERE workspace = $1';
const ERASE_SCHEDULES = 'DELETE FROM deckhand_schedules WHERE workspace = $1';

const StateRows = z.array(z.object({ id: z.string(), state: z.string() }));
const ScheduleRows = z.array(
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
const AdvancedRows = z.array(z.object({ workspace: z.string(), key: z.string() }));
const NextRows = z.tuple([z.object({ nextAt: z.number().nullable() })]);

export async function createTables(db: Db): Promise<void> {
  await db.executeSql(CREATE);
}

/** What is stored of these jobs, as text by id. */
export async function readStates(db: Db, ids: readonly string[]): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const { rows } = await db.executeSql(READ_STATES, [ids]);
  return new Map(StateRows.parse(rows).map(({ id, state }) => [id, state]));
}

export async function writeStates(
  db: Db,
  jobs: ReadonlyArray<{ id: string; workspace: string; state: JobState }>,
): Promise<void> {
  const rows = jobs.map(({ id, workspace, state }) => ({ id, workspace, state: JSON.stringify(state) }));
  await db.executeSql(WRITE_STATES, [JSON.stringify(rows)]);
}

export async function deleteStates(db: Db, ids: readonly string[]): Promise<void> {
  await db.executeSql(DELETE_STATES, [ids]);
}

export async function eraseStates(db: Db, workspace: string): Promise<void> {
  await db.executeSql(ERASE_STATES, [workspace]);
}

export async function eraseSchedules(db: Db, workspace: string): Promise<void> {
  await db.executeSql(ERASE_SCHEDULES, [workspace]);
}

export async function putSchedule(db: Db, schedule: StoredSchedule): Promise<void> {
  const { workspace, key, cron, zone, queue, data, nextAt } = schedule;
  await db.executeSql(PUT, [workspace, key, cron, zone, queue, data, nextAt]);
}

export async function removeSchedule(db: Db, workspace: string, key: string): Promise<void> {
  await db.executeSql(REMOVE, [workspace, key]);
}

export async function dueSchedules(db: Db, now: number, limit: number): Promise<StoredSchedule[]> {
  return ScheduleRows.parse((await db.executeSql(DUE, [now, limit])).rows);
}

export async function nextSchedule(db: Db): Promise<number | undefined> {
  const [{ nextAt }] = NextRows.parse((await db.executeSql(NEXT)).rows);
  return nextAt ?? undefined;
}

/** Gives back the advances that no other replica made before. */
export async function advanceSchedules(db: Db, advances: readonly Advance[]): Promise<Advance[]> {
  const idOf = ({ workspace, key }: { workspace: string; key: string }): string =>
    JSON.stringify([workspace, key]);
  // Each replica in the same order, so that they do not wait for each other.
  const rows = advances
    .map(({ schedule: { workspace, key, cron, zone, nextAt: from }, nextAt = null }) => {
      return { workspace, key, cron, zone, from, nextAt };
    })
    .sort((a, b) => (idOf(a) < idOf(b) ? -1 : 1));
  const { rows: advanced } = await db.executeSql(ADVANCE, [JSON.stringify(rows)]);
  const ours = new Set(AdvancedRows.parse(advanced).map(idOf));
  return advances.filter(({ schedule }) => ours.has(idOf(schedule)));
}
