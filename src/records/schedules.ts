import { z } from 'zod';
import { type Clock, DAY_MS } from '../core/clock.ts';
import type { Message } from '../core/message.ts';
import type { JobType, WorkspaceJobs } from '../jobs/jobs.ts';
import type { SkippedRows } from '../service/call.ts';
import { Outcome, Subject } from './episodes.ts';

/**
 * Why a schedule posts nothing.
 * - `person`: a person paused it
 * - `account`: none of its accounts works; it resumes by itself once one does
 * - `service`: the service refuses the request
 * - `slack`: Slack refuses the post
 * - `channel`: its command is switched off in its channel; it resumes by itself once it is allowed
 */
export const Paused = z.object({
  kind: z.literal('paused'),
  cause: z.enum(['person', 'account', 'service', 'slack', 'channel']),
  /** Mrkdwn of our own making, half a sentence, e.g. "the channel is archived". */
  reason: z.string(),
  /** The person who paused it. */
  by: z.string().optional(),
  /** Milliseconds since the epoch. */
  at: z.number(),
  /** The request of the person who paused it, so that its repetition after a kill recognises it. */
  causeId: z.string().optional(),
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
  /** Its name and what it does; mrkdwn, e.g. "the guard of *Storefront* in `acme`, every hour". */
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

/** A channel may be sent news of several accounts, and an account's news go to several channels. */
export function feedChannelId({ channel, account }: Pick<Schedule, 'channel' | 'account'>): string {
  return `${channel} ${account}`;
}

/** Changes of a workspace's schedules run one after the other, across replicas, under this key. */
export const SCHEDULES_LOCK = 'schedules';

const AccountsChanged = z.object({ at: z.number() });

/** Pauses and resumes schedules by the state of the accounts. */
export const RECONCILE_SCHEDULES: JobType<z.infer<typeof AccountsChanged>> = {
  queue: 'settle-accounts',
  schema: AccountsChanged,
};

/**
 * To be called whenever a connection was made, broke, healed or was removed, or other commands are allowed in a channel:
 * the schedules follow, also after a kill.
 */
export async function accountsChanged({ jobs, clock }: { jobs: WorkspaceJobs; clock: Clock }): Promise<void> {
  await jobs.send(RECONCILE_SCHEDULES, { at: clock.now() });
}

export const StoredMessage = z.custom<Message>(
  (value) => typeof value === 'object' && value !== null && 'text' in value && 'blocks' in value,
);

/** News of a channel, as it will be posted. It is stored together with the cursor that found it. */
export const Batch = z.object({
  /** The same for each attempt, so that it is posted once. */
  id: z.string(),
  /** When it was found, milliseconds since the epoch. */
  at: z.number(),
  /** Undefined where all of it belongs to an episode. */
  root: StoredMessage.optional(),
  /** For the thread of the root message. */
  replies: z.array(StoredMessage),
  /** What went wrong or right, oldest first, for the episode of its subject. */
  episode: z.object({ subject: Subject, outcomes: z.array(Outcome) }).optional(),
  /** What it is, for lists: "3 events". */
  what: z.string(),
  /** The ids of the watches that ask for it. */
  for: z.array(z.string()),
});
export type Batch = z.infer<typeof Batch>;

/**
 * How many entries of a list could not be read when the channel was last told. It is told again when there are more; a
 * lower number counts after a day, because odd entries come and go.
 */
export const ReportedUnread = z.object({ count: z.number(), at: z.number() });
export type ReportedUnread = z.infer<typeof ReportedUnread>;

/** The latest that was posted, or why not; mrkdwn of our own making. */
export const LastResult = z.object({ at: z.number(), said: z.string() });
export type LastResult = z.infer<typeof LastResult>;

/**
 * Whether a channel is to be told of the entries that could not be read, and what it was told then. Pure.
 * @param now milliseconds since the epoch
 */
export function afterUnread(
  reported: ReportedUnread | undefined,
  skipped: readonly SkippedRows[],
  now: number,
): { unread?: ReportedUnread; isNews: boolean } {
  const count = skipped.reduce((sum, rows) => sum + rows.count, 0);
  const known = reported?.count ?? 0;
  if (count > known) return { unread: { count, at: now }, isNews: true };
  if (reported === undefined) return { isNews: false };
  const isOld = count < known && now - reported.at > DAY_MS;
  return { unread: isOld ? { count, at: now } : reported, isNews: false };
}
