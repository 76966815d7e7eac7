import { randomUUID } from 'node:crypto';
import type { Db, JobInsert, JobWithMetadata, PgBoss } from 'pg-boss';
import { z } from 'zod';
import { inBatches } from '../core/batches.ts';
import { parseJson } from '../core/json.ts';
import { type EngineStats, JobAborted } from './jobs.ts';
import type { ClaimedJob, ClaimOrder, NewJob } from './jobs-backend.ts';
import { inTransaction } from './pg-boss.ts';
import { deleteStates, insertStanding, readStates, type ToStore, writeStates } from './pg-boss-tables.ts';
import type { Advance } from './schedule-table.ts';

/** A job as pg-boss keeps it. `data` is JSON text rather than JSON, because `jsonb` refuses some strings. */
const Envelope = z.object({ workspace: z.string(), data: z.string(), traceparent: z.string().optional() });
type Envelope = z.infer<typeof Envelope>;
const StoredState = z.object({
  data: z.string(),
  failures: z.number(),
  handedBack: z.number(),
  dead: z.string().optional(),
});
/** What pg-boss answers to a change; its types leave it out. */
const Changed = z.object({ affected: z.number() });

/** What pg-boss holds unique begins with this where the sender gave a key; otherwise it is made up. */
const KEYED = 'key ';

/** One queue of pg-boss. A change of a claimed job resolves with false if the claim was over. */
export class PgBossQueue {
  readonly #boss: PgBoss;
  readonly name: string;
  /** Jobs running here that have a row among the states. */
  readonly #withState = new Set<string>();
  /** How long the last jobs that were claimed here had been due. */
  latenessMs = 0;

  constructor(boss: PgBoss, name: string) {
    this.#boss = boss;
    this.name = name;
  }

  /** What a job belongs to may have ended. */
  async insert(jobs: readonly NewJob[]): Promise<Array<boolean | 'ended'>> {
    return this.#insertAll(jobs.map((job) => ({ insert: toInsert(job), during: job.during })));
  }

  readonly #insertAll = inBatches(async (batches: Array<readonly ToStore[]>) => {
    const all = batches.flat();
    const { stored, ended } = await insertStanding(this.#boss, this.name, all);
    return batches.map((batch) =>
      batch.map(({ insert: { id }, during }) =>
        during !== undefined && ended.has(during.text) ? 'ended' : stored.has(id),
      ),
    );
  });

  async insertOccurrences(advances: readonly Advance[], db: Db): Promise<void> {
    const inserts = advances.flatMap(occurrenceInsert);
    if (inserts.length > 0) await this.#boss.insert(this.name, inserts, { db });
  }

  async claim(limit: number, from: ClaimOrder): Promise<ClaimedJob[]> {
    const jobs = await this.#fetch(limit, from);
    const lateness = jobs.map(({ startedOn, startAfter }) => startedOn.getTime() - startAfter.getTime());
    this.latenessMs = Math.max(0, ...lateness);
    const before = jobs.filter(({ retryCount }) => retryCount > 0).map(({ id }) => id);
    const states = await readStates(this.#boss.getDb(), before);
    for (const id of states.keys()) this.#withState.add(id);
    return jobs.map((job) => claimedJob(this.name, job, states.get(job.id)));
  }

  async #fetch(limit: number, { full, busy }: ClaimOrder): Promise<JobWithMetadata[]> {
    const jobs = await this.#fetchWithout([...full, ...busy], limit);
    const room = limit - jobs.length;
    if (busy.length === 0 || room === 0) return jobs;
    return [...jobs, ...(await this.#fetchWithout(full, room))];
  }

  #fetchWithout(workspaces: readonly string[], batchSize: number): Promise<JobWithMetadata[]> {
    const others = workspaces.length === 0 ? {} : { ignoreGroups: [...workspaces] };
    return this.#boss.fetch<object>(this.name, { includeMetadata: true, ...others, batchSize });
  }

  /** pg-boss reports how many of the claims stand but not which, so those that do not are searched for in halves. */
  async beat(jobs: readonly ClaimedJob[]): Promise<ClaimedJob[]> {
    const { affected } = Changed.parse(await this.#boss.touch(this.name, jobs.map(attemptOf)));
    if (affected === jobs.length) return [];
    if (jobs.length === 1) return [...jobs];
    const [first, second] = halves(jobs);
    return [...(await this.beat(first)), ...(await this.beat(second))];
  }

  /** pg-boss changes no data of a running job, so that stands in a table of ours; `touch` shows that the claim stands. */
  readonly save = inBatches((saved: ClaimedJob[]) =>
    this.#settle(saved, async (jobs, db) => {
      expectAll(jobs, await this.#boss.touch(this.name, jobs.map(attemptOf), { db }));
      await this.#store(jobs, db);
    }),
  );

  /** `fail` lets it be fetched again at once, and after that `update` may say when. */
  readonly release = inBatches(async (released: Array<{ job: ClaimedJob; delayMs: number }>) => {
    const results = await this.#settle(released, async (items, db) => {
      const jobs = items.map(({ job }) => job);
      expectAll(jobs, await this.#boss.fail(this.name, jobs.map(attemptOf), null, { db }));
      await this.#store(jobs, db);
      for (const { job, delayMs } of items) {
        const options = { id: job.id, startAfter: seconds(delayMs), db };
        if (delayMs > 0) await this.#boss.update(this.name, undefined, options);
      }
    });
    for (const { job } of released) this.#withState.delete(job.id);
    return results;
  });

  readonly finish = inBatches(async (finished: ClaimedJob[]) => {
    if (!finished.some(({ id }) => this.#withState.has(id))) {
      await this.#boss.deleteJob(this.name, finished.map(attemptOf));
      return finished.map(() => true);
    }
    const results = await this.#settle(finished, async (jobs, db) => {
      expectAll(jobs, await this.#boss.deleteJob(this.name, jobs.map(attemptOf), { db }));
      await deleteStates(db, jobs);
    });
    for (const { id } of finished) this.#withState.delete(id);
    return results;
  });

  async setAside(job: ClaimedJob): Promise<void> {
    await this.#boss.cancel(this.name, attemptOf(job));
  }

  async erase(workspace: string): Promise<void> {
    for (;;) {
      const jobs = await this.#boss.findJobs(this.name, { data: { workspace } });
      if (jobs.length === 0) return;
      const ids = jobs.map(({ id }) => id);
      await this.#boss.deleteJob(this.name, ids);
    }
  }

  async count(now: number): Promise<EngineStats['queues'][string]> {
    const jobs = await this.#boss.findJobs(this.name);
    const waiting = jobs.filter(({ state }) => state === 'created' || state === 'retry');
    const oldest = Math.min(now, ...waiting.map(({ startAfter }) => startAfter.getTime()));
    const running = jobs.filter(({ state }) => state === 'active').length;
    return { waiting: waiting.length, running, oldestDueMs: now - oldest };
  }

  /** Changes all in one transaction, and fewer where a claim among them is over. */
  async #settle<T>(items: T[], change: (items: T[], db: Db) => Promise<void>): Promise<boolean[]> {
    try {
      await inTransaction(this.#boss, (db) => change(items, db));
      return items.map(() => true);
    } catch (error) {
      if (!(error instanceof JobAborted)) throw error;
      if (items.length === 1) return [false];
      const [first, second] = halves(items);
      return [...(await this.#settle(first, change)), ...(await this.#settle(second, change))];
    }
  }

  async #store(jobs: readonly ClaimedJob[], db: Db): Promise<void> {
    await writeStates(db, jobs);
    for (const { id } of jobs) this.#withState.add(id);
  }
}

/** As it was claimed, or would be. */
export function claimedJob(
  queue: string,
  { id, singletonKey, retryCount, groupId, data }: JobWithMetadata,
  stored: string | undefined,
): ClaimedJob {
  const envelope = Envelope.safeParse(data).data;
  const state = stored === undefined ? undefined : StoredState.safeParse(parseJson(stored)).data;
  return {
    id,
    queue,
    key: singletonKey?.startsWith(KEYED) ? singletonKey.slice(KEYED.length) : undefined,
    workspace: envelope?.workspace ?? groupId ?? '',
    traceparent: envelope?.traceparent,
    claims: retryCount + 1,
    // An empty text is no job's data, so what runs the job sets it aside.
    data: (stored === undefined ? envelope?.data : state?.data) ?? '',
    failures: state?.failures ?? 0,
    handedBack: state?.handedBack ?? 0,
    dead: state?.dead,
  };
}

/** How pg-boss knows one claim of a job from the next. */
function attemptOf({ id, claims }: ClaimedJob): { id: string; retryCount: number } {
  return { id, retryCount: claims - 1 };
}

/** @throws JobAborted if a claim among them is over */
function expectAll(jobs: readonly ClaimedJob[], answer: unknown): void {
  if (Changed.parse(answer).affected < jobs.length) throw new JobAborted('lease lost');
}

export function toInsert({ workspace, key, data, delayMs, traceparent }: NewJob): JobInsert & { id: string } {
  const id = randomUUID();
  // Postgres would refuse it, and with it what others send at the same time.
  if (key !== undefined && (key.includes('\0') || !key.isWellFormed()))
    throw new TypeError('The key of a job is no text that Postgres stores');
  return {
    id,
    data: { workspace, data, traceparent } satisfies Envelope,
    singletonKey: key === undefined ? id : `${KEYED}${key}`,
    group: { id: workspace },
    ...(delayMs > 0 ? { startAfter: seconds(delayMs) } : {}),
  };
}

/** By the database's clock it starts no earlier than its time. */
function occurrenceInsert({ schedule: { workspace, key }, job }: Advance): JobInsert[] {
  if (job === undefined) return [];
  const data: Envelope = { workspace, data: job.data };
  const singletonKey = `occurrence ${workspace}/${key}@${job.at}`;
  return [{ data, singletonKey, group: { id: workspace }, startAfter: new Date(job.at) }];
}

function seconds(ms: number): string {
  return (ms / 1_000).toFixed(3);
}

function halves<T>(items: readonly T[]): [T[], T[]] {
  const middle = Math.ceil(items.length / 2);
  return [items.slice(0, middle), items.slice(middle)];
}
