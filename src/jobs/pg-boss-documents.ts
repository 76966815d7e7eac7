import type { Db, JobWithMetadata } from 'pg-boss';
import { JobAborted, type JobData } from './jobs.ts';

/** The schema pg-boss keeps its tables in, its own default. */
export const SCHEMA = 'pgboss';

/** Holds the next slot of each schedule. */
export const SLOTS_QUEUE = 'deckhand-slots';

/** What of a job is ours, in pg-boss's `data` column. */
export interface JobEnvelope {
  /** JSON text rather than JSON, because `jsonb` refuses some strings that people type. */
  payload: string;
  failures: number;
  dead?: string;
  /** W3C's, of the span it was sent in; only where traces are on. */
  traceparent?: string;
}

/** What pg-boss holds unique begins with this where the sender gave a key; otherwise it is made up. */
export const KEYED = 'key ';

/** One fetch of a job; what another replica fetched later is out of its reach. */
export interface Claim {
  queue: string;
  id: string;
  retryCount: number;
}

export function claimOf(queue: string, { id, retryCount }: JobWithMetadata): Claim {
  return { queue, id, retryCount };
}

export function payloadOf({ payload }: { payload: string }): JobData {
  return JSON.parse(payload) as JobData;
}

/**
 * What pg-boss has no call for: changing an active job. Each statement is fenced by the claim, as pg-boss's own
 * are, and written for the tables of the pinned version.
 */
const CLAIMED = `name = $1 AND id = $2 AND state = 'active' AND retry_count = $3`;
const SAVE = `UPDATE ${SCHEMA}.job SET data = $4 WHERE ${CLAIMED} RETURNING id`;
/** Without `started_on` the next fetch counts as no retry. */
const PUT_BACK = `UPDATE ${SCHEMA}.job SET data = $4, state = 'created', started_on = NULL, heartbeat_on = NULL,
  start_after = ${SCHEMA}.job_now() + $5 * interval '1 millisecond' WHERE ${CLAIMED} RETURNING id`;
const FINISH = `DELETE FROM ${SCHEMA}.job WHERE ${CLAIMED} RETURNING id`;
const BEAT = `UPDATE ${SCHEMA}.job SET heartbeat_on = ${SCHEMA}.job_now()
  WHERE name = $1 AND id = ANY($2::uuid[]) AND state = 'active'
  AND (id::text || ':' || retry_count) = ANY($3::text[]) RETURNING id`;
const ERASE = `DELETE FROM ${SCHEMA}.job WHERE group_id = $1 RETURNING id`;
/** Replicas that start at once would fail each other without the lock. */
const WORKSPACE_INDEX = `BEGIN; SELECT pg_advisory_xact_lock(hashtextextended('deckhand index', 0));
  CREATE INDEX IF NOT EXISTS deckhand_workspace_idx ON ${SCHEMA}.job (group_id) WHERE group_id IS NOT NULL;
  COMMIT`;
const STATS = `SELECT name AS queue, count(*) FILTER (WHERE state < 'active')::int AS waiting,
  count(*) FILTER (WHERE state = 'active')::int AS running,
  coalesce(extract(epoch FROM ${SCHEMA}.job_now() - min(start_after) FILTER (WHERE state < 'active')) * 1000, 0)::float8
    AS "oldestDueMs"
  FROM ${SCHEMA}.job WHERE state <= 'active' GROUP BY name`;

/** @throws JobAborted if the claim is over */
export function saveJob(db: Db, claim: Claim, envelope: JobEnvelope): Promise<void> {
  return change(db, SAVE, claim, JSON.stringify(envelope));
}

/** Lets it be fetched again after `delayMs`; that counts as no take-over. */
export function putBackJob(db: Db, claim: Claim, envelope: JobEnvelope, delayMs: number): Promise<void> {
  return change(db, PUT_BACK, claim, JSON.stringify(envelope), delayMs);
}

/** Nothing of a job that is done stays. */
export function finishJob(db: Db, claim: Claim): Promise<void> {
  return change(db, FINISH, claim);
}

async function change(
  db: Db,
  sql: string,
  { queue, id, retryCount }: Claim,
  ...rest: unknown[]
): Promise<void> {
  const { rows } = await db.executeSql(sql, [queue, id, retryCount, ...rest]);
  if (rows.length === 0) throw new JobAborted('lease lost');
}

/** Shows that the claims, all of one queue, are alive, and tells the ids of those that still stand. */
export async function beat(db: Db, queue: string, claims: readonly Claim[]): Promise<Set<string>> {
  const ids = claims.map(({ id }) => id);
  const attempts = claims.map(({ id, retryCount }) => `${id}:${retryCount}`);
  const { rows } = await db.executeSql(BEAT, [queue, ids, attempts]);
  return new Set((rows as Array<{ id: string }>).map(({ id }) => id));
}

/** Each job's group is its workspace. Until nothing is found: a slot may just have been sent. */
export async function eraseJobs(db: Db, workspace: string): Promise<void> {
  const { rows } = await db.executeSql(ERASE, [workspace]);
  if (rows.length > 0) await eraseJobs(db, workspace);
}

export async function indexWorkspaces(db: Db): Promise<void> {
  await db.executeSql(WORKSPACE_INDEX);
}

export interface QueueCounts {
  queue: string;
  waiting: number;
  running: number;
  oldestDueMs: number;
}

export async function countJobs(db: Db): Promise<QueueCounts[]> {
  const { rows } = await db.executeSql(STATS);
  return rows as QueueCounts[];
}
