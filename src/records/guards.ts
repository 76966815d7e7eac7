import { z } from 'zod';
import type { JobType } from '../jobs/jobs.ts';
import { FailedItem } from './episodes.ts';

/** A test for a guard's occurrence; times are milliseconds since the epoch. */
export const GuardCheck = z.object({
  id: z.string(),
  scheduledAt: z.number(),
  /** When it is due: it is the first of the occurrence, or tests again what was unreachable. */
  at: z.number(),
  /** When the check before ended. */
  since: z.number().optional(),
  /** What was unreachable in the check before: only what is again begins an episode. */
  unreachable: z.array(z.string()),
  /** Checks in a row for which the service had no such project. */
  notFound: z.number(),
});
export type GuardCheck = z.infer<typeof GuardCheck>;

/** The request of the run that a guard begins for a check, the same for each attempt. */
export function requestOf({ id, at }: Pick<GuardCheck, 'id' | 'at'>): string {
  return `guard ${id} ${at}`;
}

/** How the run ended that a guard waited for, its own or one that went on already. */
export const GuardResult = z.object({
  check: GuardCheck,
  /** The request that began the run. */
  requestId: z.string(),
  /** When it ended, milliseconds since the epoch. */
  at: z.number(),
  /** What is unreachable, by a key of its own; undefined where the outcome is not known. Foreign text. */
  unreachable: z.array(FailedItem).optional(),
  /** The outcome, or why it is not known; mrkdwn, half a sentence. */
  words: z.string(),
  /** The kind of the service's failure, where that ended it. */
  failure: z.string().optional(),
});
export type GuardResult = z.infer<typeof GuardResult>;

/** Sent at the end of a run to each guard that waits for it. */
export const GUARD_RESULTS: JobType<GuardResult> = { queue: 'guard-results', schema: GuardResult };
