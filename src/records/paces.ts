import { z } from 'zod';
import type { Collection, WorkspaceStore } from '../store/store.ts';

/** Results of an account's latest polls. */
export const Pace = z.object({
  failures: z.number(),
  retryAt: z.number().optional(),
  /** Number of polls in a row that got `record_not_found`. */
  notFound: z.number().optional(),
  /** Time of the service's latest answer, milliseconds since the epoch. */
  lookedAt: z.number().optional(),
  /** Time of that answer, if a call of the service caused the read. */
  pushedAt: z.number().optional(),
  /** Wait before the next poll; an interval if left out. */
  pauseMs: z.number().optional(),
});
export interface Pace extends z.infer<typeof Pace> {}

export const STEADY_PACE: Pace = { failures: 0 };

export function openPaces(store: WorkspaceStore): Collection<Pace> {
  return store.collection('rounds', Pace);
}

/** @param queue of the polls */
export function openPace(
  { store }: { store: WorkspaceStore },
  { queue }: { queue: string },
  account: string,
) {
  const paces = openPaces(store);
  const id = `${queue} ${account}`;
  return {
    id,
    read: async () => (await paces.get(id)) ?? STEADY_PACE,
    put: (pace: Pace) => paces.put(id, pace),
    forget: () => paces.delete(id),
  };
}
