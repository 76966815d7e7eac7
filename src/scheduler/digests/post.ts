import type { Message, Refusal } from '../../core/message.ts';
import type { Job } from '../../jobs/jobs.ts';
import type { Digest } from '../../records/digests.ts';
import { type LastOccurrence, nextOf } from '../../records/timed-schedules.ts';
import type { MessageRef } from '../../slack/slack.ts';
import {
  type DigestFrame,
  digestMessage,
  pictureRefusedMessage,
  threadMessages,
} from '../../views/digests/digest.ts';
import type { ChartOptions } from '../../workspace/charts.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { deliver, deliverReply } from '../deliver.ts';
import type { Occurrence } from '../schedules/timed.ts';
import { type Gathered, reportedOf } from './reports.ts';
import { DIGESTS } from './schedule.ts';

/** An occurrence of a digest that is being posted. */
export interface OccurrenceRun {
  workspace: Workspace;
  digest: Digest;
  job: Job<Occurrence>;
  /** When it was due, where it comes late. */
  lateSince: number | undefined;
}

/** A digest waits for Slack's rate limit to take its picture, but not for long: its text matters more. */
const BUSY_MS = 3 * 60_000;

/**
 * Posts the occurrence's message and thread.
 * @param isPosted true where the message was posted already, before a kill
 * @throws SlackFailure
 */
export async function postDigest(
  run: OccurrenceRun,
  reports: readonly Gathered[],
  isPosted: boolean,
): Promise<Pick<LastOccurrence, 'outcome'>> {
  const { workspace, digest, job, lateSince } = run;
  const { signal } = job;
  const frame = frameOf(workspace, digest, lateSince);
  let refusal: Refusal | undefined;
  const onRefused = (refused: Refusal): void => {
    refusal ??= refused;
  };
  const message = isPosted
    ? digestMessage(frame, reports)
    : await drawDigest(workspace, frame, reports, { busyMs: BUSY_MS, signal, onRefused });
  const { channel } = digest;
  const id = DIGESTS.nameOf(job.data);
  const root = await deliver(workspace, {
    id,
    channel,
    message,
    signal,
    possibleDuplicate: job.attempt > 1,
  });
  if (root.ts !== '') await postThread(run, root, reports, refusal);
  return { outcome: lateSince === undefined ? 'posted' : 'late' };
}

/** The message with the charts of its accounts. */
export function drawDigest(
  { charts }: Pick<Workspace, 'charts'>,
  frame: DigestFrame,
  reports: readonly Gathered[],
  options?: ChartOptions,
): Promise<Message> {
  const data = new Map(reportedOf(reports).map((report) => [report.account, report.data]));
  return charts.message(data, (drawn) => digestMessage(frame, reports, drawn), options);
}

export function frameOf({ clock }: Workspace, digest: Digest, lateSince?: number): DigestFrame {
  return { digest, lateSince, next: nextOf(digest, clock.now()) };
}

async function postThread(
  { workspace, digest, job }: OccurrenceRun,
  root: MessageRef,
  reports: readonly Gathered[],
  refusal: Refusal | undefined,
): Promise<void> {
  const { channel } = digest;
  const { threads = true } = await workspace.channels.get(channel);
  if (!threads) return;
  const reply = (id: string, message: Message): Promise<boolean> =>
    deliverReply(workspace, {
      id: `${DIGESTS.nameOf(job.data)} ${id}`,
      channel,
      threadTs: root.ts,
      message,
      signal: job.signal,
      possibleDuplicate: job.attempt > 1,
    });
  if (refusal !== undefined && !(await reply('picture', pictureRefusedMessage(refusal)))) return;
  for (const [at, message] of threadMessages(reports, digest).entries())
    if (!(await reply(`reply ${at}`, message))) return;
}
