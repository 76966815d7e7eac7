import type { Db, JobInsert, JobWithMetadata, PgBoss } from 'pg-boss';
import { lastSlot, nextSlot } from './cron-occurrences.ts';
import { CATCH_UP_MS, type JobData, type Schedule, type Slot } from './jobs.ts';
import { type JobEnvelope, payloadOf, SCHEMA, SLOTS_QUEUE } from './pg-boss-documents.ts';

/**
 * A schedule is one job that waits for its next slot. Whichever replica fetches it sends the slot's job and
 * sets the next slot in one transaction, so a slot is sent once whatever dies; and nothing but due slots is
 * ever read. pg-boss's own schedules do not tell a job its slot and have no limit to what they catch up on.
 */
export interface Tick {
  cron: string;
  zone: string;
  queue: string;
  payload: string;
  slotAt: number;
}

const THE_TICK = `name = '${SLOTS_QUEUE}' AND policy = 'exclusive' AND state <= 'active'
  AND COALESCE(singleton_key, '') = $1`;
const KEEP_GOING = `UPDATE ${SCHEMA}.job SET data = data || $2::jsonb
  WHERE ${THE_TICK} AND data->>'cron' = $3 AND data->>'zone' = $4 RETURNING id`;
const REMOVE = `DELETE FROM ${SCHEMA}.job WHERE ${THE_TICK}`;
const MOVE_ON = `UPDATE ${SCHEMA}.job SET state = 'created', started_on = NULL, heartbeat_on = NULL,
  data = data || jsonb_build_object('slotAt', next.at),
  start_after = to_timestamp(next.at / 1000.0), keep_until = to_timestamp(next.at / 1000.0) + interval '10 years'
  FROM json_to_recordset($1::json) AS next (id uuid, "retryCount" int, at bigint)
  WHERE name = '${SLOTS_QUEUE}' AND job.id = next.id AND state = 'active' AND retry_count = next."retryCount"
  RETURNING job.id`;

/** Replaces the schedule; with the same cron and zone it keeps its place. */
export async function setSchedule<T extends JobData>(
  boss: PgBoss,
  workspace: string,
  key: string,
  { cron, zone, queue, data }: Schedule<T>,
): Promise<void> {
  const singletonKey = keyOf(workspace, key);
  const payload = JSON.stringify({ ...data, workspace });
  const now = await databaseTime(boss.getDb());
  const tick: Tick = { cron, zone, queue, payload, slotAt: nextSlot(cron, zone, now) };
  const changes = JSON.stringify({ queue, payload });
  // Twice at most: only another replica that sets the same schedule at once comes in between.
  for (;;) {
    const { rows } = await boss.getDb().executeSql(KEEP_GOING, [singletonKey, changes, cron, zone]);
    if (rows.length > 0) return;
    const isSet = await inTransaction(boss, async (db) => {
      await db.executeSql(REMOVE, [singletonKey]);
      const options = { singletonKey, group: { id: workspace }, startAfter: new Date(tick.slotAt), db };
      return (await boss.send(SLOTS_QUEUE, tick, options)) !== null;
    });
    if (isSet) return;
  }
}

export async function removeSchedule(boss: PgBoss, workspace: string, key: string): Promise<void> {
  await boss.getDb().executeSql(REMOVE, [keyOf(workspace, key)]);
}

/**
 * Sends the last due slot of each fetched schedule, if it is young enough, and lets them wait for the next.
 * @returns the queues that got jobs
 */
export async function sendSlots(boss: PgBoss, fetched: Array<JobWithMetadata<Tick>>): Promise<Set<string>> {
  const slots = fetched.map((job) => ({ job, ...dueSlot(job) }));
  return inTransaction(boss, async (db) => {
    const moves = slots.map(({ job, next }) => ({ id: job.id, retryCount: job.retryCount, at: next }));
    const { rows } = await db.executeSql(MOVE_ON, [JSON.stringify(moves)]);
    const ours = new Set((rows as Array<{ id: string }>).map(({ id }) => id));
    const byQueue = new Map<string, JobInsert[]>();
    for (const { job, slotAt, isFresh } of slots) {
      if (!isFresh || !ours.has(job.id)) continue;
      const insert = slotJob(job, slotAt);
      byQueue.set(job.data.queue, [...(byQueue.get(job.data.queue) ?? []), insert]);
    }
    for (const [queue, jobs] of byQueue) await boss.insert(queue, jobs, { db });
    return new Set(byQueue.keys());
  });
}

/** By the database's clock, which all replicas share. */
function dueSlot({ data, startedOn }: JobWithMetadata<Tick>): {
  slotAt: number;
  next: number;
  isFresh: boolean;
} {
  const now = Math.max(startedOn.getTime(), data.slotAt);
  const slotAt = lastSlot(data.cron, data.zone, now);
  return { slotAt, next: nextSlot(data.cron, data.zone, now), isFresh: now - slotAt < CATCH_UP_MS };
}

function slotJob(job: JobWithMetadata<Tick>, slotAt: number): JobInsert {
  const data = { ...payloadOf(job.data), slotAt } satisfies Slot & JobData;
  return {
    data: { payload: JSON.stringify(data), failures: 0 } satisfies JobEnvelope,
    singletonKey: `slot ${job.singletonKey}@${slotAt}`,
    group: { id: data.workspace },
  };
}

async function databaseTime(db: Db): Promise<number> {
  const sql = `SELECT (extract(epoch FROM ${SCHEMA}.job_now()) * 1000)::float8 AS now`;
  const [row] = (await db.executeSql(sql)).rows as Array<{ now: number }>;
  if (row === undefined) throw new Error('the database did not tell the time');
  return Math.floor(row.now);
}

async function inTransaction<T>(boss: PgBoss, work: (db: Db) => Promise<T>): Promise<T> {
  const transaction = await boss.getDb().beginTransaction?.();
  if (transaction === undefined) throw new Error('pg-boss was not given a pool of its own');
  try {
    const result = await work(transaction.db);
    await transaction.commit();
    return result;
  } catch (error) {
    await transaction.rollback();
    throw error;
  }
}

function keyOf(workspace: string, key: string): string {
  return `${workspace}/${key}`;
}
