import { z } from 'zod';
import type { JobType } from '../../jobs/jobs.ts';
import { FailedItem } from '../../records/episodes.ts';
import { GuardCheck } from '../../records/test-runs.ts';

/** Outcome of a run that a guard waited for. The guard started it, or joined it. */
export const GuardResult = z.object({
  check: GuardCheck,
  /** The request that started the run. */
  requestId: z.string(),
  /** Milliseconds since the epoch. */
  at: z.number(),
  /** Unreachable parts; undefined if the outcome is unknown. The text comes from the service. */
  unreachable: z.array(FailedItem).optional(),
  /** The outcome, or why it is unknown; half a sentence of mrkdwn. */
  words: z.string(),
  /** Kind of the service's failure that ended the run. */
  failure: z.string().optional(),
});
export interface GuardResult extends z.infer<typeof GuardResult> {}

/** Sent at the end of a run to each guard that waits for it. */
export const GUARD_RESULTS: JobType<GuardResult> = { queue: 'guard-results', schema: GuardResult };
