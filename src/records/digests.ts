import { z } from 'zod';
import { ACTIVITY_RANGES } from '../service/activity.ts';
import type { WorkspaceStore } from '../store/store.ts';
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

export function createDigests(store: WorkspaceStore) {
  return createTimedSchedules(store.collection('digests', Digest));
}
