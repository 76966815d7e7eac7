import type { Clock as BossClock, PgBoss } from 'pg-boss';
import type { Clock } from '../core/clock.ts';
import { type EngineStats, JobAborted } from './jobs.ts';
import type { Advance, Claim, JobsBackend, Leases, ScheduleTable } from './jobs-backend.ts';
import { BEAT_MS, createBoss, inTransaction, LEASE_MS, POLL_MS, QUEUE_OPTIONS } from './pg-boss.ts';
import { createPgBossQueue, type PgBossQueue } from './pg-boss-queue.ts';
import * as tables from './pg-boss-tables.ts';
import type { RunContext } from './run-job.ts';

export interface PgBossJobsOptions {
  url: string;
  clock: Clock;
  log?: RunContext['log'];
  /** pg-boss's own clock, which a test may move together with the database's. */
  bossClock?: BossClock;
}

/** Jobs of a queue that are read to be counted; of more, pg-boss's own counts are given, which are seconds old. */
const MOST_COUNTED = 1_000;

/** Jobs and schedules in Postgres, shared by any number of replicas; kept by pg-boss, through its public API alone. */
export function createPgBossJobs({ url, clock, log, bossClock }: PgBossJobsOptions): JobsBackend {
  const boss = createBoss(url, bossClock);
  boss.on('error', (err) =>
    log?.error({ event: 'engine_error', err }, 'the jobs go on when the database answers'),
  );
  boss.on('warning', ({ message }) =>
    log?.warn({ event: 'pg_boss_warning', reason: message }, 'pg-boss warns'),
  );
  const { connect, queueOf, close } = openQueues(boss);

  async function count(): Promise<EngineStats['queues']> {
    await connect();
    const counts = (await boss.getQueues()).map(async ({ name, queuedCount, activeCount }) => {
      const queue = await queueOf(name);
      const isCounted = queuedCount + activeCount <= MOST_COUNTED;
      const estimate = { waiting: queuedCount, running: activeCount, oldestDueMs: queue.latenessMs() };
      return [name, isCounted ? await queue.count(clock.now()) : estimate] as const;
    });
    return Object.fromEntries(await Promise.all(counts));
  }

  async function erase(workspace: string): Promise<void> {
    await connect();
    // Schedules first: an occurrence may just be sent.
    await tables.eraseSchedules(boss.getDb(), workspace);
    for (const { name } of await boss.getQueues()) await (await queueOf(name)).erase(workspace);
    await tables.eraseStates(boss.getDb(), workspace);
  }

  return {
    schedules: createSchedules(boss, connect, queueOf),
    leases: createLeases(queueOf),
    start: async (queues) => {
      await connect();
      for (const name of queues) await queueOf(name);
    },
    insert: async (queue, jobs) => (await queueOf(queue)).insert(jobs),
    claim: async (queue, limit, busy): Promise<Claim> => {
      // pg-boss has no call for when the next job falls due, and other replicas send too: `leases.pollMs`.
      return { jobs: await (await queueOf(queue)).claim(limit, busy), nextAt: undefined };
    },
    save: async (job) => ours((await queueOf(job.queue)).save(job)),
    release: async (job, delayMs) => ours((await queueOf(job.queue)).release({ job, delayMs })),
    finish: async (job) => ours((await queueOf(job.queue)).finish(job)),
    setAside: async (job) => (await queueOf(job.queue)).setAside(job),
    erase,
    count,
    ping: async () => {
      await connect();
      await boss.getDb().executeSql('SELECT 1');
    },
    close,
  };
}

/** pg-boss and its queues, each opened by whatever needs it first; again if that failed. */
function openQueues(boss: PgBoss): {
  connect(): Promise<void>;
  queueOf(name: string): Promise<PgBossQueue>;
  close(): Promise<void>;
} {
  const queues = new Map<string, Promise<PgBossQueue>>();
  let connecting: Promise<void> | undefined;

  function connect(): Promise<void> {
    connecting ??= boss
      .start()
      .then(() => tables.createTables(boss.getDb()))
      .catch((error: unknown) => {
        connecting = undefined;
        throw error;
      });
    return connecting;
  }

  async function create(name: string): Promise<PgBossQueue> {
    await connect();
    await boss.createQueue(name, QUEUE_OPTIONS);
    return createPgBossQueue(boss, name);
  }

  return {
    connect,
    queueOf(name) {
      const queue = queues.get(name) ?? create(name);
      queues.set(name, queue);
      queue.catch(() => queues.delete(name));
      return queue;
    },
    async close() {
      await connecting?.catch(() => undefined);
      await boss.stop({ graceful: false });
    },
  };
}

async function ours(write: Promise<boolean>): Promise<void> {
  if (!(await write)) throw new JobAborted('lease lost');
}

function createLeases(queueOf: (name: string) => Promise<PgBossQueue>): Leases {
  return {
    pollMs: POLL_MS,
    beatMs: BEAT_MS,
    leaseMs: LEASE_MS,
    beat: async (queue, jobs) => (await queueOf(queue)).beat(jobs),
  };
}

function createSchedules(
  boss: PgBoss,
  connect: () => Promise<void>,
  queueOf: (name: string) => Promise<PgBossQueue>,
): ScheduleTable {
  async function advance(advances: readonly Advance[]): Promise<void> {
    const names = new Set(advances.map(({ schedule }) => schedule.queue));
    const queues = await Promise.all([...names].map(queueOf));
    await inTransaction(boss, async (db) => {
      const ours = await tables.advanceSchedules(db, advances);
      for (const queue of queues)
        await queue.insertOccurrences(
          ours.filter(({ schedule }) => schedule.queue === queue.name),
          db,
        );
    });
  }

  return {
    put: async (schedule) => {
      await queueOf(schedule.queue);
      await tables.putSchedule(boss.getDb(), schedule);
    },
    remove: async (workspace, key) => {
      await connect();
      await tables.removeSchedule(boss.getDb(), workspace, key);
    },
    due: async (now, limit) => {
      await connect();
      return tables.dueSchedules(boss.getDb(), now, limit);
    },
    advance,
    nextAt: async () => {
      await connect();
      return tables.nextSchedule(boss.getDb());
    },
  };
}
