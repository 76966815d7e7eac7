import { z } from 'zod';
import { HOUR_MS } from '../../core/time/clock.ts';
import type { JobType } from '../../jobs/jobs.ts';
import { Outcome } from '../../records/episodes.ts';
import { undefinedOnSlackError } from '../../slack/failure.ts';
import { defineJob, type JobDefinition } from '../../workspace/define-job.ts';
import type { Workspace } from '../../workspace/workspace.ts';

/** A job about failures. It is over if its channel is gone. */
export function defineFailureJob<Data>(
  type: JobType<Data>,
  work: (workspace: Workspace, data: Data, signal: AbortSignal) => Promise<void>,
): JobDefinition<Data> {
  return defineJob({
    ...type,
    options: { concurrency: 20, attempts: 10, backoffMs: 15_000 },
    handle: (workspace, { data, signal }) =>
      undefinedOnSlackError(work(workspace, data, signal), 'gone', 'forbidden'),
  });
}

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

/** The subject's key, the episode's id, and when the look is due. */
export const LookJob = z.object({ key: z.string(), episode: z.string(), at: z.number() });
export type LookJob = z.infer<typeof LookJob>;

export const LOOKS: JobType<LookJob> = { queue: 'failure-looks', schema: LookJob };

/** Looks at the failures of an account fall together, so that they share one list of its projects. */
const LOOK_MS = HOUR_MS;

/** Old failures are looked at less often. */
const MAX_LOOK_MS = 6 * HOUR_MS;

/** Plans the next look at a failure. Safe to repeat. @param after due time of the last one @param newsAt time of its latest news */
export async function planLook(
  { clock, jobs }: Workspace,
  { key, episode, newsAt, after = 0 }: { key: string; episode: string; newsAt: number; after?: number },
): Promise<void> {
  // The database starts jobs by its own clock, which may be ahead.
  const now = Math.max(clock.now(), after);
  const pauseMs = Math.min(MAX_LOOK_MS, Math.max(LOOK_MS, (now - newsAt) / 2));
  const at = (Math.floor((now + pauseMs - LOOK_MS) / LOOK_MS) + 1) * LOOK_MS;
  await jobs.send(LOOKS, { key, episode, at }, { key: `${episode} look ${at}`, at });
}
