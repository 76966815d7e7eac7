import { z } from 'zod';
import type { Clock } from '../core/clock.ts';
import type { JobType } from '../core/job.ts';
import type { WorkspaceJobs } from './workspace-jobs.ts';

/**
 * Why a schedule posts nothing.
 * - `person`: a person paused it
 * - `account`: none of its accounts works; it resumes by itself once one does
 * - `service`: the service refuses the request
 * - `slack`: Slack refuses the post
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
  /** The request or job that paused it, so that its repetition after a kill recognises it. */
  during: z.string().optional(),
});
export type Paused = z.infer<typeof Paused>;

export const ScheduleState = z.discriminatedUnion('kind', [z.object({ kind: z.literal('active') }), Paused]);
export type ScheduleState = z.infer<typeof ScheduleState>;

export const ACTIVE = { kind: 'active' } as const satisfies ScheduleState;

/** What digests, watches and invoice notices have in common, beside the record of their kind. */
export interface Schedule<R = unknown> {
  id: string;
  /** What people call it: its id, or the account of invoice notices. */
  name: string;
  /** Mrkdwn, e.g. "the digest `d7k2` in <#C1>". */
  what: string;
  channel: string;
  setUpBy: string;
  /** Undefined where it covers every connected account. */
  account: string | undefined;
  state: ScheduleState;
  /** The command that resumes it, without the slash word. */
  resume: string;
  record: R;
}

/** Changes of a workspace's schedules run one after the other, across replicas, under this key. */
export const SCHEDULES_LOCK = 'schedules';

const AccountsChanged = z.object({ at: z.number() });

/** Pauses and resumes schedules by the state of the accounts. */
export const RECONCILE_SCHEDULES: JobType<z.infer<typeof AccountsChanged>> = {
  queue: 'settle-accounts',
  schema: AccountsChanged,
};

/** To be called whenever a connection was made, broke, healed or was removed: its schedules follow, also after a kill. */
export async function accountsChanged({ jobs, clock }: { jobs: WorkspaceJobs; clock: Clock }): Promise<void> {
  await jobs.send(RECONCILE_SCHEDULES, { at: clock.now() });
}
