import type { Clock as BossClock, PgBoss } from 'pg-boss';
import type { Clock } from '../core/clock.ts';
import { InstallationEnded } from '../core/errors.ts';
import { type EngineStats, JobAborted } from './jobs.ts';
import type { JobsBackend } from './jobs-backend.ts';
import { createBoss, inTransaction, LEASE, QUEUE_OPTIONS } from './pg-boss.ts';
import { PgBossQueue } from './pg-boss-queue.ts';
import { advanceSchedules, CREATE_TABLES, databaseTime, ERASE_STATES } from './pg-boss-tables.ts';
import type { RunContext } from './run-job.ts';
import { type Advance, createScheduleTable, ERASE_SCHEDULES, type ScheduleTable } from './schedule-table.ts';

export interface PgBossJobsOptions {
  url: string;
  clock: Clock;
  log?: RunContext['log'];
  /** pg-boss's own clock, which a test may move together with the database's. */
  bossClock?: BossClock;
}

/** As many jobs of a queue are read to be counted; of more, pg-boss's own counts are given, which are seconds old. */
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
  const { sql, queueOf, queues, close } = openQueues(boss);
  return {
    schedules: createSchedules(boss, sql, queueOf),
    leases: { ...LEASE, beat: async (queue, jobs) => (await queueOf(queue)).beat(jobs) },
    start: async (names) => {
      await sql('SELECT 1');
      await Promise.all(names.map(queueOf));
    },
    insert: async (queue, jobs) => (await queueOf(queue)).insert(jobs).then(expectStanding),
    // pg-boss has no call for when the next job falls due, and other replicas send too; hence `pollMs`.
    claim: async (queue, limit, from) => {
      return { jobs: await (await queueOf(queue)).claim(limit, from), nextAt: undefined };
    },
    save: async (job) => expectOurs(await (await queueOf(job.queue)).save(job)),
    release: async (job, delayMs) => expectOurs(await (await queueOf(job.queue)).release({ job, delayMs })),
    finish: async (job) => expectOurs(await (await queueOf(job.queue)).finish(job)),
    setAside: async (job) => (await queueOf(job.queue)).setAside(job),
    erase: async (workspace) => {
      // Schedules first: an occurrence may just be sent.
      await sql(ERASE_SCHEDULES, [workspace]);
      for (const { queue } of await queues()) await queue.erase(workspace);
      await sql(ERASE_STATES, [workspace]);
    },
    count: async () => {
      const counts = (await queues()).map(async ({ queue, waiting, running }) => {
        const isCounted = waiting + running <= MOST_COUNTED;
        const estimate = { waiting, running, oldestDueMs: queue.latenessMs };
        return [queue.name, isCounted ? await queue.count(clock.now()) : estimate] as const;
      });
      return Object.fromEntries(await Promise.all(counts)) satisfies EngineStats['queues'];
    },
    ping: async () => void (await sql('SELECT 1')),
    close,
  };
}

function expectStanding(stored: ReadonlyArray<boolean | 'ended'>): boolean[] {
  return stored.map((one) => {
    if (one === 'ended') throw new InstallationEnded();
    return one;
  });
}

function expectOurs(isOurs: boolean): void {
  if (!isOurs) throw new JobAborted('lease lost');
}

type Sql = (text: string, values?: unknown[]) => Promise<unknown[]>;
type QueueOf = (name: string) => Promise<PgBossQueue>;

/** pg-boss and its queues, each opened by whatever needs it first; again if that failed. */
function openQueues(boss: PgBoss) {
  const opened = new Map<string, Promise<PgBossQueue>>();
  let connecting: Promise<unknown> | undefined;

  async function connect(): Promise<void> {
    connecting ??= boss.start().then(() => boss.getDb().executeSql(CREATE_TABLES));
    try {
      await connecting;
    } catch (error) {
      connecting = undefined;
      throw error;
    }
  }

  async function open(name: string): Promise<PgBossQueue> {
    await connect();
    await boss.createQueue(name, QUEUE_OPTIONS);
    return new PgBossQueue(boss, name);
  }

  function queueOf(name: string): Promise<PgBossQueue> {
    const queue = opened.get(name) ?? open(name);
    opened.set(name, queue);
    queue.catch(() => opened.delete(name));
    return queue;
  }

  return {
    /** Runs a statement on tables of our own. */
    sql: async (text: string, values?: unknown[]): Promise<unknown[]> => {
      await connect();
      return (await boss.getDb().executeSql(text, values)).rows;
    },
    queueOf,
    /** All queues of the database, with counts that are seconds old. */
    queues: async () => {
      await connect();
      const known = (await boss.getQueues()).map(async ({ name, queuedCount, activeCount }) => {
        return { queue: await queueOf(name), waiting: queuedCount, running: activeCount };
      });
      return Promise.all(known);
    },
    close: async () => {
      await connecting?.catch(() => undefined);
      await boss.stop({ graceful: false });
    },
  };
}

function createSchedules(boss: PgBoss, sql: Sql, queueOf: QueueOf): ScheduleTable {
  const advance = async (advances: readonly Advance[]): Promise<void> => {
    const names = new Set(advances.map(({ schedule }) => schedule.queue));
    const queues = await Promise.all([...names].map(queueOf));
    await inTransaction(boss, async (db) => {
      const ours = await advanceSchedules(db, advances);
      for (const queue of queues) {
        const sent = ours.filter(({ schedule }) => schedule.queue === queue.name);
        await queue.insertOccurrences(sent, db);
      }
    });
  };
  return { ...createScheduleTable(sql, 'FOR KEY SHARE'), now: () => databaseTime(sql), advance };
}
