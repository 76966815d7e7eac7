import { randomUUID } from 'node:crypto';
import { type Clock as BossClock, type JobWithMetadata, PgBoss, type Queue } from 'pg-boss';
import { z } from 'zod';
import type { Clock } from '../core/time/clock.ts';
import type { Logger } from '../observability/log.ts';
import type { ClaimedJob, JobsBackend, NewJob } from './jobs.ts';

/**
 * A replica shows every 5 s that its jobs are alive. After 15 s without that they are open to others, which is
 * looked after every 3 s, and fetched every 2 s: so a killed replica's jobs run elsewhere within 20 s.
 */
export const LEASE = { pollMs: 2_000, touchMs: 5_000, leaseMs: 15_000 };
const SUPERVISE_SECONDS = 3;
/** How often keys are freed that had stayed taken. */
const DELETE_SECONDS = 60;
const MAX_CONNECTIONS = 6;
/** As the store's: a connection that went silent without closing is given up after this. */
const TIMEOUT_MS = 5_000;
/** pg-boss hands these to its pool, but its types do not list them. */
const POOL = { query_timeout: TIMEOUT_MS, keepAlive: true };
const DAY_SECONDS = 86_400;

const QUEUE_OPTIONS: Omit<Queue, 'name'> = {
  // One job with a key waits or runs.
  policy: 'exclusive',
  heartbeatSeconds: LEASE.leaseMs / 1_000,
  // Which failures count, and how long each waits, is the runner's. Take-overs from dead replicas count here too.
  retryLimit: 1_000_000,
  retryDelay: 0,
  expireInSeconds: DAY_SECONDS,
  retentionSeconds: 365 * DAY_SECONDS,
  // Of jobs that could not be read; other jobs are deleted at their end, or say when.
  deleteAfterSeconds: 365 * DAY_SECONDS,
};
/** A key stays taken in all states while its row is there, because all of time is one slot of pg-boss. */
const ALL_TIME_SECONDS = 2 ** 31 - 1;

/** A job that waits or runs. */
const IS_OPEN: ReadonlySet<string> = new Set(['created', 'retry', 'active']);

/** A job as pg-boss keeps it. `data` is JSON text rather than JSON, because `jsonb` refuses some strings. */
const Envelope = z.object({ workspace: z.string(), data: z.string(), traceparent: z.string().optional() });
type Envelope = z.infer<typeof Envelope>;
/** What an attempt left for the next one, as pg-boss keeps it with a failed job. */
const Failed = z.object({ failures: z.number() });
type Failed = z.infer<typeof Failed>;

/** What pg-boss holds unique begins with this where the sender gave a key; otherwise it is made up. */
const KEYED = 'key ';

/** pg-boss has counts that are seconds old, or all jobs with those that have ended. @param $1 milliseconds since the epoch */
const COUNT = `WITH open AS (
    SELECT name, state, (extract(epoch FROM start_after) * 1000)::float8 AS due FROM pgboss.job WHERE state < 'completed')
  SELECT name AS queue, count(*) FILTER (WHERE state < 'active' AND due <= $1)::int AS waiting,
    count(*) FILTER (WHERE state < 'active' AND due > $1)::int AS later, count(*) FILTER (WHERE state = 'active')::int AS running,
    greatest(0, $1 - min(due) FILTER (WHERE state < 'active')) AS "oldestDueMs"
  FROM open GROUP BY name`;
const Counts = { waiting: z.number(), later: z.number(), running: z.number(), oldestDueMs: z.number() };
const CountRows = z.array(z.object({ queue: z.string(), ...Counts }));
const UNREADABLE = `SELECT name AS queue, id FROM pgboss.job WHERE state = 'cancelled' AND data @> $1`;
const UnreadableRows = z.array(z.object({ queue: z.string(), id: z.string() }));

export interface PgBossJobsOptions {
  url: string;
  clock: Clock;
  log?: Pick<Logger, 'warn' | 'error'> | undefined;
  /** pg-boss's own clock, which a test may move together with the database's. */
  bossClock?: BossClock;
}

/** Jobs in Postgres, shared by any number of replicas; kept by pg-boss, and changed through its public API alone. */
export function createPgBossJobs({ url, clock, log, bossClock }: PgBossJobsOptions): JobsBackend {
  const boss = createBoss(url, bossClock);
  boss.on('error', (err) => log?.warn({ event: 'pg_boss_error', err }, 'pg-boss met an error'));
  boss.on('warning', ({ message }) =>
    log?.warn({ event: 'pg_boss_warning', reason: message }, 'pg-boss warns'),
  );
  const { opened, connect, close } = openQueues(boss);

  return {
    leases: {
      ...LEASE,
      touch: async (queue, jobs) => void (await (await opened(queue)).touch(queue, jobs.map(claimOf))),
    },
    async start(queues) {
      await connect();
      await Promise.all(queues.map(({ name }) => opened(name)));
    },
    async insert({ name, keyStaysMs }, job) {
      await opened(name);
      const { data, ...options } = toInsert(job, keyStaysMs);
      return (await boss.send(name, data, options)) !== null;
    },
    async claim(queue, limit, full) {
      await opened(queue);
      const ignored = full.length === 0 ? {} : { ignoreGroups: [...full] };
      const jobs = await boss.fetch<object>(queue, { includeMetadata: true, batchSize: limit, ...ignored });
      // pg-boss has no call for when the next job falls due, and other replicas send too; hence `pollMs`.
      return { jobs: jobs.map((job) => claimedJob(queue, job)), nextAt: undefined };
    },
    async finish(job, { keyStaysMs }) {
      const isStaying = job.key !== undefined && keyStaysMs !== undefined;
      if (isStaying) await boss.complete(job.queue, claimOf(job));
      else await boss.deleteJob(job.queue, claimOf(job));
    },
    release: (job, delayMs) => releaseJob(boss, job, delayMs),
    keepUnreadable: async (job) => void (await boss.cancel(job.queue, claimOf(job))),
    async unreadable(workspace) {
      await connect();
      const { rows } = await boss.getDb().executeSql(UNREADABLE, [JSON.stringify({ workspace })]);
      return UnreadableRows.parse(rows);
    },
    async *all() {
      await connect();
      for (const { name } of await boss.getQueues())
        for (const job of await boss.findJobs<object>(name)) {
          const { key, workspace, data, traceparent } = claimedJob(name, job);
          const delayMs = Math.max(0, job.startAfter.getTime() - clock.now());
          if (IS_OPEN.has(job.state)) yield { queue: name, key, workspace, data, delayMs, traceparent };
        }
    },
    async cancel(workspace) {
      await connect();
      for (const { name } of await boss.getQueues()) {
        const jobs = await boss.findJobs(name, { data: { workspace } });
        const ids = jobs.map(({ id }) => id);
        if (ids.length > 0) await boss.deleteJob(name, ids);
      }
    },
    async count() {
      await connect();
      const { rows } = await boss.getDb().executeSql(COUNT, [clock.now()]);
      return Object.fromEntries(CountRows.parse(rows).map(({ queue, ...counts }) => [queue, counts]));
    },
    async ping() {
      await connect();
      await boss.schemaVersion();
    },
    close,
  };
}

/** pg-boss, not started, as the keeper of jobs alone: what runs them and when is ours. */
function createBoss(url: string, clock?: BossClock | undefined): PgBoss {
  return new PgBoss({
    connectionString: url,
    application_name: 'deckhand engine',
    max: MAX_CONNECTIONS,
    connectionTimeoutMillis: TIMEOUT_MS,
    ...POOL,
    schedule: false,
    // A span of each look for jobs would bury ours, and its errors may hold a row.
    openTelemetry: { enabled: false },
    superviseIntervalSeconds: SUPERVISE_SECONDS,
    monitorIntervalSeconds: SUPERVISE_SECONDS,
    maintenanceIntervalSeconds: DELETE_SECONDS,
    flowIntervalSeconds: DAY_SECONDS,
    warningQueueSize: 1_000_000,
    ...(clock === undefined ? {} : { clock }),
  });
}

/** pg-boss and its queues, each opened by whatever needs it first; again if that failed. */
function openQueues(boss: PgBoss) {
  const known = new Map<string, Promise<PgBoss>>();
  let isClosed = false;

  /** pg-boss may be told again and again, and would also begin anew once it was stopped. */
  async function connect(): Promise<void> {
    if (isClosed) throw new Error('the jobs were closed');
    await boss.start();
  }

  async function open(name: string): Promise<PgBoss> {
    await connect();
    await boss.createQueue(name, QUEUE_OPTIONS);
    return boss;
  }

  function opened(name: string): Promise<PgBoss> {
    const opening = known.get(name) ?? open(name);
    known.set(name, opening);
    opening.catch(() => known.delete(name));
    return opening;
  }

  async function close(): Promise<void> {
    isClosed = true;
    await boss.stop({ graceful: false });
  }

  return { connect, opened, close };
}

function toInsert(job: NewJob, keyStaysMs?: number) {
  const { workspace, key, data, delayMs, traceparent } = job;
  const envelope: Envelope = { workspace, data, ...(traceparent === undefined ? {} : { traceparent }) };
  const staying = {
    singletonSeconds: ALL_TIME_SECONDS,
    deleteAfterSeconds: Math.ceil((keyStaysMs ?? 0) / 1_000),
  };
  return {
    data: envelope,
    singletonKey: key === undefined ? randomUUID() : `${KEYED}${key}`,
    group: { id: workspace },
    ...(delayMs > 0 ? { startAfter: inSeconds(delayMs) } : {}),
    ...(key === undefined || keyStaysMs === undefined ? {} : staying),
  };
}

/** As it was claimed. */
function claimedJob(queue: string, job: JobWithMetadata): ClaimedJob {
  const { id, singletonKey, retryCount, groupId, output } = job;
  const envelope = Envelope.safeParse(job.data).data;
  return {
    id,
    queue,
    key: singletonKey?.startsWith(KEYED) ? singletonKey.slice(KEYED.length) : undefined,
    workspace: envelope?.workspace ?? groupId ?? '',
    traceparent: envelope?.traceparent,
    // An empty text is no job's data, so it cannot be read.
    data: envelope?.data ?? '',
    attempt: retryCount + 1,
    failures: Failed.safeParse(output).data?.failures ?? 0,
  };
}

/** How pg-boss knows one claim of a job from the next. */
function claimOf({ id, attempt }: ClaimedJob): { id: string; retryCount: number } {
  return { id, retryCount: attempt - 1 };
}

/** Lets a job be claimed again after `delayMs`. */
async function releaseJob(boss: PgBoss, job: ClaimedJob, delayMs: number): Promise<void> {
  const { queue, id, failures } = job;
  const failed: Failed = { failures };
  if (delayMs <= 0) return void (await boss.fail(queue, claimOf(job), failed));
  // In one transaction, or it could be fetched before it has to wait.
  const transaction = await boss.getDb().beginTransaction?.();
  if (transaction === undefined) throw new Error('pg-boss opened no transaction');
  const { db, commit, rollback } = transaction;
  try {
    await boss.fail(queue, claimOf(job), failed, { db });
    await boss.update(queue, undefined, { id, startAfter: inSeconds(delayMs), db });
    await commit();
  } catch (error) {
    await rollback();
    throw error;
  }
}

function inSeconds(ms: number): string {
  return (ms / 1_000).toFixed(3);
}
