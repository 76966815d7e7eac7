import type { Db, JobInsert, PgBoss } from 'pg-boss';
import { z } from 'zod';
import type { Standing } from './jobs.ts';
import type { ClaimedJob, JobState } from './jobs-backend.ts';
import { inTransaction } from './pg-boss.ts';
import { type Advance, CREATE_SCHEDULES } from './schedule-table.ts';

/**
 * Tables of our own, changed in one transaction with pg-boss's: schedules, since pg-boss's own give a job no
 * occurrence and catch up without a limit, and what a running job has become, for which pg-boss has no call. Replicas
 * that start at once would fail each other without the lock.
 */
export const CREATE_TABLES = `BEGIN; SELECT pg_advisory_xact_lock(hashtextextended('deckhand jobs', 0));
CREATE TABLE IF NOT EXISTS deckhand_job_states (id uuid PRIMARY KEY, workspace text NOT NULL, state text NOT NULL);
CREATE INDEX IF NOT EXISTS deckhand_job_states_workspace ON deckhand_job_states (workspace);
${CREATE_SCHEDULES}
DO $do$ BEGIN
  IF to_regprocedure('deckhand_now()') IS NULL THEN
    CREATE FUNCTION deckhand_now() RETURNS timestamptz LANGUAGE sql STABLE AS 'SELECT now()';
  END IF;
END $do$;
COMMIT`;
/** A function, so that a test may move it together with pg-boss's clock. */
const NOW = 'SELECT floor(extract(epoch FROM deckhand_now()) * 1000)::float8 AS now';
export const ERASE_STATES = 'DELETE FROM deckhand_job_states WHERE workspace = $1';

const READ_STATES = 'SELECT id, state FROM deckhand_job_states WHERE id = ANY($1::uuid[])';
const WRITE_STATES = `INSERT INTO deckhand_job_states (id, workspace, state)
  SELECT id, workspace, state FROM json_to_recordset($1::json) AS s (id uuid, workspace text, state text)
  ON CONFLICT (id) DO UPDATE SET state = excluded.state`;
const DELETE_STATES = 'DELETE FROM deckhand_job_states WHERE id = ANY($1::uuid[])';
const ADVANCE = `UPDATE deckhand_schedules AS s SET next_at = a."nextAt"
  FROM json_to_recordset($1::json) AS a (at int, workspace text, key text, cron text, zone text, "from" bigint, "nextAt" bigint)
  WHERE (s.workspace, s.key, s.cron, s.zone, s.next_at) = (a.workspace, a.key, a.cron, a.zone, a."from")
  RETURNING a.at`;

/** In the order of the keys, so that two writers never wait for each other. */
const LOCK_STANDING = 'SELECT key, value FROM keyv WHERE key = ANY($1::text[]) ORDER BY key FOR KEY SHARE';

const StandingRows = z.array(z.object({ key: z.string(), value: z.string() }));
const StateRows = z.array(z.object({ id: z.string(), state: z.string() }));
const NowRows = z.tuple([z.object({ now: z.number() })]);
const AdvancedRows = z.array(z.object({ at: z.number() }));

/** By the database's clock, which all replicas share. */
export async function databaseTime(sql: (text: string) => Promise<unknown[]>): Promise<number> {
  return NowRows.parse(await sql(NOW))[0].now;
}

/** The rows of the documents that stand, as text by key; they stay until the transaction ends. */
async function lockStanding(db: Db, guards: readonly Standing[]): Promise<Map<string, string>> {
  const keys = [...new Set(guards.map(({ key }) => key))];
  const { rows } = await db.executeSql(LOCK_STANDING, [keys]);
  return new Map(StandingRows.parse(rows).map(({ key, value }) => [key, value]));
}

/** What is stored of these jobs, as text by id. */
export async function readStates(db: Db, ids: readonly string[]): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const { rows } = await db.executeSql(READ_STATES, [ids]);
  return new Map(StateRows.parse(rows).map(({ id, state }) => [id, state]));
}

export async function writeStates(db: Db, jobs: readonly ClaimedJob[]): Promise<void> {
  const rows = jobs.map(({ id, workspace, data, failures, handedBack, dead }) => {
    const state = JSON.stringify({ data, failures, handedBack, dead } satisfies JobState);
    return { id, workspace, state };
  });
  await db.executeSql(WRITE_STATES, [JSON.stringify(rows)]);
}

export async function deleteStates(db: Db, jobs: readonly ClaimedJob[]): Promise<void> {
  await db.executeSql(DELETE_STATES, [jobs.map(({ id }) => id)]);
}

/** Gives back the advances that no other replica made before. */
export async function advanceSchedules(db: Db, advances: readonly Advance[]): Promise<Advance[]> {
  const rows = advances.map(({ schedule: { workspace, key, cron, zone, nextAt: from }, nextAt }, at) => {
    return { at, workspace, key, cron, zone, from, nextAt };
  });
  const { rows: advanced } = await db.executeSql(ADVANCE, [JSON.stringify(rows)]);
  const ours = new Set(AdvancedRows.parse(advanced).map(({ at }) => at));
  return advances.filter((_, at) => ours.has(at));
}

export interface ToStore {
  insert: JobInsert & { id: string };
  during: Standing | undefined;
}

/** Stores what belongs to nothing that has ended, in one transaction that holds what it belongs to. */
export async function insertStanding(
  boss: PgBoss,
  queue: string,
  all: readonly ToStore[],
): Promise<{ stored: Set<string>; ended: Set<string> }> {
  const guards = all.flatMap(({ during }) => during ?? []);
  if (guards.length === 0) {
    const inserts = all.map(({ insert }) => insert);
    return { stored: new Set(await boss.insert(queue, inserts, { returnId: true })), ended: new Set() };
  }
  return inTransaction(boss, async (db) => {
    const standing = await lockStanding(db, guards);
    const isStanding = ({ during }: ToStore): boolean =>
      during === undefined || standing.get(during.key) === during.text;
    const rows = all.filter(isStanding).map(({ insert }) => insert);
    const ended = new Set(
      guards.filter(({ key, text }) => standing.get(key) !== text).map(({ text }) => text),
    );
    const ids = rows.length === 0 ? [] : await boss.insert(queue, rows, { returnId: true, db });
    return { stored: new Set(ids), ended };
  });
}
