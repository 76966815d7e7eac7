import type { Db, JobWithMetadata, PgBoss } from 'pg-boss';
import { type JobsTable, newJob, type PortableJob, portableJob, portableSchedules } from './jobs-table.ts';
import { beginTransaction, createBoss, QUEUE_OPTIONS } from './pg-boss.ts';
import { claimedJob, toInsert } from './pg-boss-queue.ts';
import { CREATE_TABLES, readStates } from './pg-boss-tables.ts';
import type { Query } from './schedule-table.ts';

/**
 * Everything of a Postgres store in one transaction; makes the tables where there are none. One that only reads sees a
 * single moment. One that writes must see the queues that pg-boss makes meanwhile.
 */
export async function openPostgresTransaction(url: string, mode: 'read' | 'write') {
  const boss = createBoss(url);
  // What fails is what was asked, and says so itself.
  boss.on('error', () => undefined);
  try {
    await boss.start();
    await boss.getDb().executeSql(CREATE_TABLES);
    const transaction = await beginTransaction(boss);
    const { db } = transaction;
    if (mode === 'read') await db.executeSql('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY');
    const sql = async (text: string, values?: unknown[]): Promise<unknown[]> =>
      (await db.executeSql(text, values)).rows;
    let isOpen = true;
    return {
      jobs: createTable(boss, db, sql),
      sql,
      commit: async () => {
        await transaction.commit();
        isOpen = false;
      },
      /** Nothing of what was not committed stays. */
      close: async () => {
        if (isOpen) await transaction.rollback();
        isOpen = false;
        await boss.stop({ graceful: false });
      },
    };
  } catch (error) {
    await boss.stop({ graceful: false });
    throw error;
  }
}

function createTable(boss: PgBoss, db: Db, sql: Query): JobsTable {
  const known = new Set<string>();
  async function makeQueue(queue: string): Promise<void> {
    if (!known.has(queue)) await boss.createQueue(queue, QUEUE_OPTIONS);
    known.add(queue);
  }
  return {
    ...portableSchedules(sql),
    async *jobs() {
      for (const { name } of await boss.getQueues()) {
        const jobs = await boss.findJobs<object>(name, { db });
        const states = await readStates(
          db,
          jobs.map(({ id }) => id),
        );
        for (const job of jobs) yield toPortable(name, job, states.get(job.id));
      }
    },
    async addJobs(jobs) {
      const now = Date.now();
      for (const [queue, ofQueue] of Map.groupBy(jobs, (job) => job.queue)) {
        await makeQueue(queue);
        const inserts = ofQueue.map((job) => toInsert(newJob(job, now)));
        await boss.insert(queue, inserts, { db });
        const aside = inserts.flatMap(({ id }, at) => (ofQueue[at]?.isSetAside ? id : []));
        if (aside.length > 0) await boss.cancel(queue, aside, { db });
      }
    },
  };
}

function toPortable(queue: string, job: JobWithMetadata<object>, state: string | undefined): PortableJob {
  const { key, workspace, data, claims, handedBack, failures, dead, traceparent } = claimedJob(
    queue,
    job,
    state,
  );
  const wasStarted = job.startedOn !== null;
  return portableJob({
    id: job.id,
    queue,
    key: key ?? null,
    workspace,
    data,
    due: job.startAfter.getTime(),
    attempts: wasStarted ? claims - handedBack : 0,
    failures,
    dead: dead ?? null,
    traceparent: traceparent ?? null,
    isSetAside: job.state === 'cancelled',
  });
}
