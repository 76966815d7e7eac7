import { posix } from 'node:path';
import { z } from 'zod';

/** What goes wrong, where and how often. Delays are real milliseconds, whatever the service's clock says. */
export const Fault = z.strictObject({
  /** Any method when left out. */
  method: z.string().toUpperCase().optional(),
  /** A glob over the path with the account in front and no `.json`: `*` is one segment, `**` any number. */
  path: z.string(),
  status: z.number().int().min(200).max(599).optional(),
  /** The answer's body; without it, the service's usual one for that status. */
  body: z.unknown().optional(),
  headers: z.record(z.string(), z.string()).optional(),
  delayMs: z.number().min(0).optional(),
  /** Destroys the connection instead of answering. */
  drop: z.boolean().optional(),
  /** Answers with JSON that breaks off in the middle. */
  badJson: z.boolean().optional(),
  /** Does the work first and only then goes wrong, as a lost answer does. */
  afterHandling: z.boolean().optional(),
  /** The `Retry-After` header: seconds or an HTTP date. */
  retryAfter: z.string().optional(),
  /** How many requests it meets; all when left out. */
  times: z.number().int().positive().optional(),
});
export type Fault = z.infer<typeof Fault>;
type NewFault = z.input<typeof Fault>;

interface FaultHandle {
  readonly id: number;
  /** How many requests met it. */
  hits(): number;
  remove(): void;
}

export interface Faults {
  add(fault: NewFault): FaultHandle;
  remove(id: number): boolean;
  clear(): void;
  list(): (Fault & { id: number; hits: number })[];
  /** The first fault for this request, counted as met. */
  take(method: string, path: string): Fault | undefined;
}

export function createFaults(): Faults {
  const entries = new Map<number, { fault: Fault; hits: number }>();
  let lastId = 0;

  function isFor(fault: Fault, method: string, path: string): boolean {
    if (fault.method !== undefined && fault.method !== method) return false;
    return posix.matchesGlob(path, fault.path);
  }

  return {
    add(input) {
      const entry = { fault: Fault.parse(input), hits: 0 };
      lastId += 1;
      const id = lastId;
      entries.set(id, entry);
      return { id, hits: () => entry.hits, remove: () => entries.delete(id) };
    },
    remove: (id) => entries.delete(id),
    clear: () => entries.clear(),
    list: () => [...entries].map(([id, { fault, hits }]) => ({ id, hits, ...fault })),
    take(method, path) {
      for (const [id, entry] of entries) {
        if (!isFor(entry.fault, method, path)) continue;
        entry.hits += 1;
        if (entry.fault.times !== undefined && entry.hits >= entry.fault.times) entries.delete(id);
        return entry.fault;
      }
      return undefined;
    },
  };
}
