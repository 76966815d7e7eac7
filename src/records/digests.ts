import { z } from 'zod';
import { isObject } from '../core/json.ts';
import { ACTIVITY_RANGES } from '../service/activity.ts';
import type { Upgrade, WorkspaceStore } from '../store/store.ts';
import { createTimedSchedules, lastOccurrence, TimedSchedule } from './timed-schedules.ts';

/** A summary of the activity that is posted in a channel on a schedule. */
export const Digest = TimedSchedule.extend({
  range: z.enum(ACTIVITY_RANGES),
  /** Posts nothing without deployments. */
  skipQuiet: z.boolean(),
  last: lastOccurrence(['posted', 'late', 'quiet']).optional(),
  /** The occurrence that no account has answered so far: since when they are asked, and how often in a row it was not found. */
  noAnswer: z.object({ scheduledAt: z.number(), since: z.number(), notFound: z.number() }).optional(),
});
export type Digest = z.infer<typeof Digest>;

/** Release 0.2.0 called the time of an occurrence `slotAt`, here and in the data of its job. */
export function withScheduledAt(stored: unknown): unknown {
  if (!isObject(stored) || !('slotAt' in stored)) return stored;
  const { slotAt: scheduledAt, ...rest } = stored;
  return { ...rest, scheduledAt };
}

export function createDigests(store: WorkspaceStore) {
  const upgrade: Upgrade = ({ last, ...doc }) => ({ ...doc, last: withScheduledAt(last) });
  return createTimedSchedules(store.collection('digests', { schema: Digest, upgrades: [upgrade] }));
}
