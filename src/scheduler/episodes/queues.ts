import { z } from 'zod';
import type { JobType } from '../../jobs/jobs.ts';
import { Outcome } from '../../records/episodes.ts';

/** `outcome`: the outcome to note. Without it, the job closes an episode that had no news for a week. */
export const EpisodeJob = z.object({ key: z.string(), outcome: Outcome.optional() });
export interface EpisodeJob extends z.infer<typeof EpisodeJob> {}

export const EPISODE_JOBS: JobType<EpisodeJob> = { queue: 'episodes', schema: EpisodeJob };

export const DiagnosisJob = z.object({
  /** `subjectKey` of the episode. */
  key: z.string(),
  /** The failure to start a test for; undefined if a test has ended. */
  failure: z.string().optional(),
});
export interface DiagnosisJob extends z.infer<typeof DiagnosisJob> {}

export const DIAGNOSIS_JOBS: JobType<DiagnosisJob> = { queue: 'diagnoses', schema: DiagnosisJob };

/** `key`: subject of the only failure to review; all of the channel and account if left out. */
export const FailureReview = z.object({
  channel: z.string(),
  account: z.string(),
  key: z.string().optional(),
});
export interface FailureReview extends z.infer<typeof FailureReview> {}

/** Brings the failures that a channel shows up to date with what it follows. */
export const REVIEW_FAILURES: JobType<FailureReview> = { queue: 'failure-reviews', schema: FailureReview };

/** `id`: the quiet. `at`: when it ends, milliseconds since the epoch. */
export const QuietEnd = z.object({ channel: z.string(), id: z.string(), at: z.number() });
export interface QuietEnd extends z.infer<typeof QuietEnd> {}

/** Ends a quiet, and says what happened meanwhile. */
export const QUIET_ENDS: JobType<QuietEnd> = { queue: 'quiet-ends', schema: QuietEnd };
