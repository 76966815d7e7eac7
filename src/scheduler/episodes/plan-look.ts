import { z } from 'zod';
import { HOUR_MS } from '../../core/time/clock.ts';
import type { JobType } from '../../jobs/jobs.ts';
import type { Workspace } from '../../workspace/workspace.ts';

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
