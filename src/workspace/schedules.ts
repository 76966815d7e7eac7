import { z } from 'zod';

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

/** Runs changes of a workspace's schedules one after the other, across replicas. */
export function schedulesKey(workspace: string): string {
  return `schedules ${workspace}`;
}
