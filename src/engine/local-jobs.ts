import { z } from 'zod';
import { type Collection, EVERYWHERE, type Store } from '../store/store.ts';

/** A job as it is stored, until it is done. */
export const StoredJob = z.object({
  queue: z.string(),
  key: z.string().optional(),
  data: z.looseObject({ workspace: z.string() }),
  dueAt: z.number(),
  /** How often it was started and not handed back. */
  starts: z.number(),
  failures: z.number(),
  /** Why the last attempt failed, until that has been reported. */
  dead: z.string().optional(),
});
export type StoredJob = z.infer<typeof StoredJob>;

/**
 * The jobs of all workspaces. They stand together, because the engine needs all of them at start and knows
 * each one's workspace from then on.
 */
export interface JobDocuments {
  get(id: string): Promise<StoredJob | undefined>;
  put(id: string, job: StoredJob): Promise<void>;
  /** False if that job stands already. */
  create(id: string, job: StoredJob): Promise<boolean>;
  delete(id: string): Promise<boolean>;
  list(): Promise<Array<{ id: string; doc: StoredJob }>>;
}

export function jobDocuments(store: Store): JobDocuments {
  const jobs: Collection<StoredJob> = store.collection('jobs', StoredJob);
  return {
    get: (id) => jobs.get(EVERYWHERE, id),
    put: (id, job) => jobs.put(EVERYWHERE, id, job),
    create: (id, job) => jobs.create(EVERYWHERE, id, job),
    delete: (id) => jobs.delete(EVERYWHERE, id),
    list: () => jobs.list(EVERYWHERE),
  };
}
