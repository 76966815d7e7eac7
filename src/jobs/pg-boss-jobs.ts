import { randomUUID } from 'node:crypto';
import { type Clock as BossClock, type JobWithMetadata, PgBoss, type Queue } from 'pg-boss';
import { z } from 'zod';
import { CONNECTION_NAMES, openAs } from '../core/postgres-url.ts';
import type { Clock } from '../core/time/clock.ts';
import type { Logger } from '../observability/log.ts';
import { type ClaimedJob, type JobsBackend, type NewJob, QueueStats, UnreadableJob } from './jobs.ts';

/**
 * A killed replica's jobs run elsewhere within 20 s: each replica touches its jobs every 5 s; after 13 s without a touch, pg-boss
 * releases them within 5 s, and another replica fetches them within 2 s.
 */
export const LEASE = { pollMs: 2_000, touchMs: 5_000, leaseMs: 13_000 };
/** Each pass takes some 24 statements, so more passes would cost an idle replica most. */
const SUPERVISE_SECONDS = 5;
/** Interval for freeing keys that stayed taken. */
const DELETE_SECONDS = 60;
const MAX_CONNECTIONS = 6;
/** Time-out of a silent connection, the same as the store's. */
const TIMEOUT_MS = 5_000;
/** pg-boss passes these options to its pool, but its types do not list them. */
const POOL = { query_timeout: TIMEOUT_MS, keepAlive: true };
const DAY_SECONDS = 86_400;

const QUEUE_OPTIONS: Omit<Queue, 'name'> = {
  // At most one job with a key waits or runs.
  policy: 'exclusive',
  heartbeatSeconds: LEASE.leaseMs / 1_000,
  // The runner counts failures and their delays itself, because pg-boss also counts take-overs from dead replicas.
  retryLimit: 1_000_000,
  retryDelay: 0,
  expireInSeconds: DAY_SECONDS,
  retentionSeconds: 365 * DAY_SECONDS,
  // For unreadable jobs. Other jobs are deleted at their end, or have their own time.
  deleteAfterSeconds: 365 * DAY_SECONDS,
};
/** One slot for all time, so that a key stays taken in every state until its row is deleted. */
const ALL_TIME_SECONDS = 2 ** 31 - 1;

/** A job that waits or runs. */
const IS_OPEN: ReadonlySet<string> = new Set(['created', 'retry', 'active']);

/** Data of a job in pg-boss. `data` is JSON as text, because `jsonb` rejects some strings. */
const Envelope = z.object({ workspace: z.string(), data: z.string(), traceparent: z.string().optional() });
type Envelope = z.infer<typeof Envelope>;
/** Output of a failed attempt, which the next attempt reads. */
const Failed = z.object({ failures: z.number() });
type Failed = z.infer<typeof Failed>;

/** Prefix of `singletonKey` if the sender gave a key. Otherwise the key is random. */
const KEYED = 'key ';

/** pg-boss's own counts are seconds old, or include ended jobs. @param $1 milliseconds since the epoch */
const COUNT = `WITH open AS (
    SELECT name, state, (extract(epoch FROM start_after) * 1000)::float8 AS due FROM pgboss.job WHERE state < 'completed')
  SELECT name AS queue, count(*) FILTER (WHERE state < 'active' AND due <= $1)::int AS waiting,
    count(*) FILTER (WHERE state < 'active' AND due > $1)::int AS later, count(*) FILTER (WHERE state = 'active')::int AS running,
    greatest(0, $1 - min(due) FILTER (WHERE state < 'active')) AS "oldestDueMs"
  FROM open GROUP BY name`;
const CountRows = z.array(QueueStats.extend({ queue: z.string() }));
/** Queues with jobs that can be claimed. One look into an index for each. */
const DUE = `SELECT queue.name FROM unnest($1::text[]) AS queue (name) WHERE EXISTS (SELECT FROM pgboss.job WHERE job.name = queue.name
  AND job.state < 'active' AND NOT job.blocked AND job.start_after <= pgboss.job_now())`;
const DueRows = z.array(z.object({ name: z.string() }));
const UNREADABLE = `SELECT name AS queue, id FROM pgboss.job WHERE state = 'cancelled' AND data @> $1`;

export interface PgBossJobsOptions {
  url: string;
  clock: Clock;
  log?: Pick<Logger, 'warn' | 'error'> | undefined;
  /** pg-boss's own clock. A test moves it together with the database's. */
  bossClock?: BossClock;
}

/** Jobs in Postgres, shared by any number of replicas, through the public API of pg-boss. */
export function createPgBossJobs({ url, clock, log, bossClock }: PgBossJobsOptions): JobsBackend {
  const boss = createBoss(url, bossClock);
  boss.on('error', (err) => log?.warn({ event: 'pg_boss_error', err }, 'pg-boss error'));
  boss.on('warning', ({ message }) =>
    log?.warn({ event: 'pg_boss_warning', reason: message }, 'pg-boss reported a warning'),
  );
  const { opened, connect, close } = openQueues(boss);

  return {
    leases: {
      ...LEASE,
      async findDue(names) {
        await connect();
        const { rows } = await boss.getDb().executeSql(DUE, [[...names]]);
        return DueRows.parse(rows).map(({ name }) => name);
      },
      touch: async (queue, jobs) => void (await (await opened(queue)).touch(queue, jobs.map(identifyClaim))),
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
      // pg-boss does not tell the next due time, and other replicas send too; hence `pollMs`.
      return { jobs: jobs.map((job) => claimedJob(queue, job)), nextAt: undefined };
    },
    async finish(job, { keyStaysMs }) {
      const isStaying = job.key !== undefined && keyStaysMs !== undefined;
      if (isStaying) await boss.complete(job.queue, identifyClaim(job));
      else await boss.deleteJob(job.queue, identifyClaim(job));
    },
    release: (job, delayMs) => releaseJob(boss, job, delayMs),
    keepUnreadable: async (job) => void (await boss.cancel(job.queue, identifyClaim(job))),
    async unreadable(workspace) {
      await connect();
      const { rows } = await boss.getDb().executeSql(UNREADABLE, [JSON.stringify({ workspace })]);
      return z.array(UnreadableJob).parse(rows);
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

/** pg-boss, not started, because it only stores jobs; Deckhand's runner runs them. */
function createBoss(url: string, clock?: BossClock | undefined): PgBoss {
  return new PgBoss({
    ...openAs(url, CONNECTION_NAMES.engine),
    max: MAX_CONNECTIONS,
    connectionTimeoutMillis: TIMEOUT_MS,
    ...POOL,
    schedule: false,
    // Spans of every fetch would hide Deckhand's, and their errors may hold a row.
    openTelemetry: { enabled: false },
    superviseIntervalSeconds: SUPERVISE_SECONDS,
    monitorIntervalSeconds: SUPERVISE_SECONDS,
    maintenanceIntervalSeconds: DELETE_SECONDS,
    flowIntervalSeconds: DAY_SECONDS,
    warningQueueSize: 1_000_000,
    ...(clock === undefined ? {} : { clock }),
  });
}

/** Opens pg-boss and its queues on first use, and again after a failure. */
function openQueues(boss: PgBoss) {
  const queues = new Map<string, Promise<PgBoss>>();
  let isClosed = false;

  /** `start` may be called repeatedly. After `stop` it would start pg-boss again. */
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
    const opening = queues.get(name) ?? open(name);
    queues.set(name, opening);
    opening.catch(() => queues.delete(name));
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

function claimedJob(queue: string, job: JobWithMetadata): ClaimedJob {
  const { id, singletonKey, retryCount, groupId, output } = job;
  const envelope = Envelope.safeParse(job.data).data;
  return {
    id,
    queue,
    key: singletonKey?.startsWith(KEYED) ? singletonKey.slice(KEYED.length) : undefined,
    workspace: envelope?.workspace ?? groupId ?? '',
    traceparent: envelope?.traceparent,
    // An empty text is unreadable.
    data: envelope?.data ?? '',
    attempt: retryCount + 1,
    failures: Failed.safeParse(output).data?.failures ?? 0,
  };
}

function identifyClaim({ id, attempt }: ClaimedJob): { id: string; retryCount: number } {
  return { id, retryCount: attempt - 1 };
}

async function releaseJob(boss: PgBoss, job: ClaimedJob, delayMs: number): Promise<void> {
  const { queue, id, failures } = job;
  const failed: Failed = { failures };
  if (delayMs <= 0) return void (await boss.fail(queue, identifyClaim(job), failed));
  // In one transaction. Otherwise another replica could fetch it before the delay is set.
  const transaction = await boss.getDb().beginTransaction?.();
  if (transaction === undefined) throw new Error('pg-boss opened no transaction');
  const { db, commit, rollback } = transaction;
  try {
    await boss.fail(queue, identifyClaim(job), failed, { db });
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
