import { z } from 'zod';
import type { Clock } from '../core/clock.ts';
import type { JobType } from '../core/job.ts';
import type { WorkspaceJobs } from './workspace-jobs.ts';

/**
 * Why a schedule posts nothing.
 * - `person`: somebody paused it
 * - `account`: no connected account that it asks works; it goes on by itself once one does
 * - `service`: the service refuses what it asks for
 * - `slack`: Slack does not take its posts
 */
export const Paused = z.object({
  kind: z.literal('paused'),
  cause: z.enum(['person', 'account', 'service', 'slack']),
  /** Mrkdwn of our own making, half a sentence, e.g. "the channel is archived". */
  reason: z.string(),
  /** The person who paused it. */
  by: z.string().optional(),
  /** Milliseconds since the epoch. */
  at: z.number(),
  /** What paused it, so that a repetition after a kill knows its own doing. */
  during: z.string().optional(),
});
export type Paused = z.infer<typeof Paused>;

export const ScheduleState = z.discriminatedUnion('kind', [z.object({ kind: z.literal('active') }), Paused]);
export type ScheduleState = z.infer<typeof ScheduleState>;

/** What all schedules are, whichever kind: enough to pause one, and to tell of it. */
export interface Scheduled {
  id: string;
  /** Mrkdwn, e.g. "the digest `d7k2` in <#C1>". */
  what: string;
  channel: string;
  setUpBy: string;
  /** The account it asks; undefined where it asks every connected one. */
  account: string | undefined;
  state: ScheduleState;
  /** The command that resumes it, without the slash word. */
  resume: string;
}

/** Changes of a workspace's schedules run one after the other, across replicas, under this key. */
export const SCHEDULES_LOCK = 'schedules';

const AccountsChanged = z.object({ at: z.number() });

/** Pauses and resumes schedules by the state of the accounts. */
export const RECONCILE_SCHEDULES: JobType<z.infer<typeof AccountsChanged>> = {
  queue: 'settle-accounts',
  schema: AccountsChanged,
};

/** To be called whenever a connection was made, broke, healed or went: its schedules follow soon, also over a kill. */
export async function accountsChanged({ jobs, clock }: { jobs: WorkspaceJobs; clock: Clock }): Promise<void> {
  await jobs.send(RECONCILE_SCHEDULES, { at: clock.now() });
}
