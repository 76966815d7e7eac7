import type { Engine, JobType, SendOptions } from '../jobs/jobs.ts';
import type { JobsBackend } from '../jobs/jobs-backend.ts';
import {
  type AskTenancy,
  asking,
  type Collection,
  type Place,
  type Sealer,
  type WorkspaceStore,
} from '../store/store.ts';

/** What the process shares, as one workspace has it: documents, sealed secrets, jobs. */

/** Where a sealed value stands in its workspace. */
export type Field = Omit<Place, 'workspace'>;

/** Seals secrets of one workspace. */
export interface WorkspaceSealer {
  seal(field: Field, secret: string): Promise<string>;
  /** Rejects with `SealError` if the value was moved, changed, or sealed with a key that is not at hand. */
  open(field: Field, sealed: string): Promise<string>;
}

/** Every write is refused once the tenancy `during` has ended. */
export function bindSealer(
  sealer: Sealer,
  workspace: string,
  during: AskTenancy | undefined,
): WorkspaceSealer {
  return {
    seal: (field, secret) => sealer.seal({ workspace, ...field }, secret, during),
    open: (field, sealed) => sealer.open({ workspace, ...field }, sealed),
  };
}

/**
 * The documents of a workspace for the length of one request: each is read once, and again after a write through here.
 * An `update` changes what stands in the database, whatever was read before.
 */
export function readOnce(store: WorkspaceStore): WorkspaceStore {
  return {
    collection: (name, schema) => onceCollection(store.collection(name, schema)),
    exclusive: store.exclusive,
  };
}

function onceCollection<T>(stored: Collection<T>): Collection<T> {
  const known = new Map<string, Promise<T | undefined>>();
  let all: ReturnType<typeof stored.list> | undefined;

  function forget(): void {
    known.clear();
    all = undefined;
  }

  /** Before the write, for what is read meanwhile, and after it. */
  async function writing<R>(write: () => Promise<R>): Promise<R> {
    forget();
    try {
      return await write();
    } finally {
      forget();
    }
  }

  async function find(id: string): Promise<T | undefined> {
    if (all === undefined) return stored.get(id);
    return (await all).find((row) => row.id === id)?.doc;
  }

  return {
    latest: (limit, upTo) => stored.latest(limit, upTo),
    get(id) {
      const read = known.get(id) ?? find(id);
      known.set(id, read);
      return read;
    },
    async first(ids) {
      if (all === undefined) return stored.first(ids);
      const rows = new Map((await all).map(({ id, doc }) => [id, doc]));
      return ids.map((id) => rows.get(id)).find((doc) => doc !== undefined);
    },
    list() {
      all ??= stored.list();
      return all;
    },
    put: (...row) => writing(() => stored.put(...row)),
    create: (...row) => writing(() => stored.create(...row)),
    update: (id, change) => writing(() => stored.update(id, change)),
    delete: (id) => writing(() => stored.delete(id)),
  };
}

/** When a schedule's job is sent, and with what. */
interface JobSchedule<Data> {
  /** Five-field cron expression. */
  cron: string;
  /** IANA time zone the fields are meant in. */
  zone: string;
  job: JobType<Data>;
  /** Its job gets the time of the occurrence as `slotAt` as well. */
  data: Omit<Data, 'slotAt'>;
  /** As in `SendOptions`, of its jobs. */
  lane?: string | undefined;
}

/** The jobs and schedules of one workspace. */
export interface WorkspaceJobs {
  /** False if the key is taken in the queue. */
  send<Data>(job: JobType<Data>, data: Data, options?: Omit<SendOptions, 'during'>): Promise<boolean>;
  /** As `Engine.schedule`. @throws CronError if the expression or the zone is wrong */
  schedule<Data>(key: string, schedule: JobSchedule<Data>): Promise<void>;
  unschedule(key: string): Promise<void>;
}

/** What is sent once the tenancy `during` has ended is refused. */
export function bindJobs(engine: Engine, workspace: string, during: AskTenancy | undefined): WorkspaceJobs {
  return {
    send: async ({ queue }, data, { key, ...options } = {}) =>
      engine.send(
        queue,
        { ...data, workspace },
        {
          ...options,
          ...(key === undefined ? {} : { key: `${workspace} ${key}` }),
          during: await during?.(),
        },
      ),
    schedule: async (key, { cron, zone, job, data, lane }) =>
      engine.schedule(
        workspace,
        key,
        { cron, zone, lane, queue: job.queue, data: { ...data, workspace } },
        await during?.(),
      ),
    unschedule: (key) => engine.unschedule(workspace, key),
  };
}

/** What commands ask of the jobs fails as the store does, with `StoreUnavailable`. */
export function askingBackend(backend: JobsBackend): JobsBackend {
  const { schedules } = backend;
  return {
    ...backend,
    insert: (queue, jobs) => asking(backend.insert(queue, jobs)),
    erase: (workspace) => asking(backend.erase(workspace)),
    schedules: {
      ...schedules,
      now: () => asking(schedules.now()),
      put: (schedule, during) => asking(schedules.put(schedule, during)),
      remove: (workspace, key) => asking(schedules.remove(workspace, key)),
    },
  };
}
