import { randomUUID } from 'node:crypto';
import type { Db, JobInsert, JobWithMetadata, PgBoss } from 'pg-boss';
import { z } from 'zod';
import { inBatches } from './batches.ts';
import { type EngineStats, JobAborted } from './jobs.ts';
import type { Advance, ClaimedJob, JobState, NewJob } from './jobs-backend.ts';
import { inTransaction } from './pg-boss.ts';
import { deleteStates, readStates, writeStates } from './pg-boss-tables.ts';

/** A job as pg-boss keeps it. `data` is JSON text rather than JSON, because `jsonb` refuses some strings. */
const Envelope = z.object({
  workspace: z.string(),
  data: z.string(),
  traceparent: z.string().optional(),
});
type Envelope = z.infer<typeof Envelope>;
const State = z.object({
  data: z.string(),
  failures: z.number(),
  handedBack: z.number(),
  dead: z.string().optional(),
});
/** What pg-boss answers to a change; its types leave it out. */
const Changed = z.object({ affected: z.number() });

/** What pg-boss holds unique begins with this where the sender gave a key; otherwise it is made up. */
const KEYED = 'key ';

/** A change of claimed jobs resolves with false if the claim was over. */
export interface PgBossQueue {
  name: string;
  insert(jobs: readonly NewJob[]): Promise<boolean[]>;
  insertOccurrences(advances: readonly Advance[], db: Db): Promise<void>;
  claim(limit: number, busy: readonly string[]): Promise<ClaimedJob[]>;
  beat(jobs: readonly ClaimedJob[]): Promise<ClaimedJob[]>;
  save(job: ClaimedJob): Promise<boolean>;
  release(released: { job: ClaimedJob; delayMs: number }): Promise<boolean>;
  finish(job: ClaimedJob): Promise<boolean>;
  setAside(job: ClaimedJob): Promise<void>;
  erase(workspace: string): Promise<void>;
  count(now: number): Promise<EngineStats['queues'][string]>;
  /** How long the last jobs that were claimed here had been due. */
  latenessMs(): number;
}

export function createPgBossQueue(boss: PgBoss, name: string): PgBossQueue {
  /** Jobs running here that have a row among the states. */
  const withState = new Set<string>();
  let lateness = 0;

  async function fetch(limit: number, busy: readonly string[]): Promise<JobWithMetadata[]> {
    const options = { includeMetadata: true as const };
    const others = busy.length === 0 ? {} : { ignoreGroups: [...busy] };
    const jobs = await boss.fetch<object>(name, { ...options, ...others, batchSize: limit });
    if (busy.length === 0 || jobs.length === limit) return jobs;
    return [...jobs, ...(await boss.fetch<object>(name, { ...options, batchSize: limit - jobs.length }))];
  }

  async function claim(limit: number, busy: readonly string[]): Promise<ClaimedJob[]> {
    const jobs = await fetch(limit, busy);
    lateness = Math.max(
      0,
      ...jobs.map(({ startedOn, startAfter }) => startedOn.getTime() - startAfter.getTime()),
    );
    const before = jobs.filter(({ retryCount }) => retryCount > 0).map(({ id }) => id);
    const states = await readStates(boss.getDb(), before);
    for (const id of states.keys()) withState.add(id);
    return jobs.map((job) => claimedJob(name, job, states.get(job.id)));
  }

  /** Some tell how many of the claims stood, and none which; so those that do not are looked for in halves. */
  async function beat(jobs: readonly ClaimedJob[]): Promise<ClaimedJob[]> {
    const { affected } = Changed.parse(await boss.touch(name, jobs.map(attemptOf)));
    if (affected === jobs.length) return [];
    if (jobs.length === 1) return [...jobs];
    const [first, second] = halves(jobs);
    return [...(await beat(first)), ...(await beat(second))];
  }

  /** Changes all in one transaction, and smaller ones where a claim among them is over. */
  async function settle<T>(items: T[], change: (items: T[], db: Db) => Promise<void>): Promise<boolean[]> {
    try {
      await inTransaction(boss, (db) => change(items, db));
      return items.map(() => true);
    } catch (error) {
      if (!(error instanceof JobAborted)) throw error;
      if (items.length === 1) return [false];
      const [first, second] = halves(items);
      return [...(await settle(first, change)), ...(await settle(second, change))];
    }
  }

  /** pg-boss changes no data of a running job: what it has become stands in a table of ours, fenced by the claim. */
  async function store(jobs: readonly ClaimedJob[], db: Db): Promise<void> {
    await writeStates(
      db,
      jobs.map((job) => ({ id: job.id, workspace: job.workspace, state: stateOf(job) })),
    );
    for (const { id } of jobs) withState.add(id);
  }

  const save = inBatches((jobs: ClaimedJob[]) =>
    settle(jobs, async (claimed, db) => {
      expectAll(claimed, await boss.touch(name, claimed.map(attemptOf), { db }));
      await store(claimed, db);
    }),
  );

  /** `fail` lets it be fetched again at once, and only then is `update` allowed to say when. */
  const release = inBatches(async (released: Array<{ job: ClaimedJob; delayMs: number }>) => {
    const results = await settle(released, async (items, db) => {
      const jobs = items.map(({ job }) => job);
      expectAll(jobs, await boss.fail(name, jobs.map(attemptOf), null, { db }));
      await store(jobs, db);
      for (const { job, delayMs } of items)
        if (delayMs > 0) await boss.update(name, undefined, { id: job.id, startAfter: seconds(delayMs), db });
    });
    for (const { job } of released) withState.delete(job.id);
    return results;
  });

  const finish = inBatches(async (jobs: ClaimedJob[]) => {
    const stateless = jobs.filter(({ id }) => !withState.has(id));
    if (stateless.length === jobs.length) {
      await boss.deleteJob(name, jobs.map(attemptOf));
      return jobs.map(() => true);
    }
    const results = await settle(jobs, async (claimed, db) => {
      expectAll(claimed, await boss.deleteJob(name, claimed.map(attemptOf), { db }));
      await deleteStates(
        db,
        claimed.map(({ id }) => id),
      );
    });
    for (const { id } of jobs) withState.delete(id);
    return results;
  });

  const insert = inBatches(async (batches: Array<readonly NewJob[]>) => {
    const jobs = batches.map((batch) => batch.map(toInsert));
    const stored = new Set(await boss.insert(name, jobs.flat(), { returnId: true }));
    return jobs.map((batch) => batch.map(({ id }) => stored.has(id)));
  });

  return {
    name,
    insert,
    insertOccurrences: async (advances, db) => {
      const jobs = advances.flatMap(occurrenceInsert);
      if (jobs.length > 0) await boss.insert(name, jobs, { db });
    },
    claim,
    beat,
    save,
    release,
    finish,
    setAside: async (job) => void (await boss.cancel(name, attemptOf(job))),
    erase: async (workspace) => {
      for (;;) {
        const jobs = await boss.findJobs(name, { data: { workspace } });
        if (jobs.length === 0) return;
        await boss.deleteJob(
          name,
          jobs.map(({ id }) => id),
        );
      }
    },
    count: async (now) => countJobs(await boss.findJobs(name), now),
    latenessMs: () => lateness,
  };
}

function claimedJob(
  queue: string,
  { id, singletonKey, retryCount, groupId, data }: JobWithMetadata,
  stored: string | undefined,
): ClaimedJob {
  const envelope = Envelope.safeParse(data).data;
  const state = stored === undefined ? undefined : parseState(stored);
  return {
    id,
    queue,
    key: singletonKey?.startsWith(KEYED) ? singletonKey.slice(KEYED.length) : undefined,
    workspace: envelope?.workspace ?? groupId ?? '',
    traceparent: envelope?.traceparent,
    claims: retryCount + 1,
    // An empty text is no job's data: it is set aside by what runs it.
    data: (stored === undefined ? envelope?.data : state?.data) ?? '',
    failures: state?.failures ?? 0,
    handedBack: state?.handedBack ?? 0,
    dead: state?.dead,
  };
}

function parseState(text: string): z.infer<typeof State> | undefined {
  try {
    return State.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

function stateOf({ data, failures, handedBack, dead }: ClaimedJob): JobState {
  return { data, failures, handedBack, dead };
}

/** How pg-boss knows one claim of a job from the next. */
function attemptOf({ id, claims }: ClaimedJob): { id: string; retryCount: number } {
  return { id, retryCount: claims - 1 };
}

/** @throws JobAborted if a claim among them is over */
function expectAll(jobs: readonly ClaimedJob[], answer: unknown): void {
  if (Changed.parse(answer).affected < jobs.length) throw new JobAborted('lease lost');
}

function toInsert({ workspace, key, data, delayMs, traceparent }: NewJob): JobInsert & { id: string } {
  const id = randomUUID();
  const envelope: Envelope = { workspace, data, ...(traceparent === undefined ? {} : { traceparent }) };
  return {
    id,
    data: envelope,
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

function countJobs(jobs: readonly JobWithMetadata[], now: number): EngineStats['queues'][string] {
  const waiting = jobs.filter(({ state }) => state === 'created' || state === 'retry');
  const oldest = Math.min(now, ...waiting.map(({ startAfter }) => startAfter.getTime()));
  const running = jobs.filter(({ state }) => state === 'active').length;
  return { waiting: waiting.length, running, oldestDueMs: now - oldest };
}

function halves<T>(items: readonly T[]): [T[], T[]] {
  const middle = Math.ceil(items.length / 2);
  return [items.slice(0, middle), items.slice(middle)];
}
