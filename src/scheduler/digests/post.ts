import type { Message } from '../../core/message.ts';
import type { Job } from '../../jobs/jobs.ts';
import { type Digest, nextOf, type SlotResult } from '../../records/digests.ts';
import { isFileRefused, isSlackFailure, type SlackFailure } from '../../slack/failure.ts';
import { withRetries } from '../../slack/rate-limit.ts';
import type { MessageRef } from '../../slack/slack.ts';
import { sendWithFiles, type Upload } from '../../slack/uploads.ts';
import { altText, chartName, totalOf } from '../../views/activity/deployments-chart.ts';
import { type DigestFrame, digestMessage, type ReportedAccount } from '../../views/digests/digest.ts';
import { pictureLeftOutMessage, threadMessages } from '../../views/digests/thread.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { deliver, deliverReply } from '../deliver.ts';
import { type Gathered, reportedOf } from './reports.ts';
import type { SlotJob } from './schedule.ts';

/** An occurrence of a digest that is being posted. */
export interface OccurrenceRun {
  workspace: Workspace;
  digest: Digest;
  slot: SlotJob;
  job: Job<SlotJob>;
  /** When it was due, where it comes late. */
  lateSince: number | undefined;
}

/** The same for each attempt, so that the message is posted once. */
export function deliveryId({ digest, slotAt }: SlotJob): string {
  return `digest ${digest} ${slotAt}`;
}

/** How the occurrence ended, for the list of digests. */
export interface OccurrenceResult extends Pick<SlotResult, 'outcome' | 'reason'> {
  /** The success rates that it showed, by account. */
  rates?: Record<string, number | null>;
}

/**
 * Posts the occurrence's message and thread.
 * @param isShown true where the message was posted already, before a kill
 * @throws SlackFailure
 */
export async function postDigest(
  run: OccurrenceRun,
  reports: readonly Gathered[],
  isShown: boolean,
): Promise<OccurrenceResult> {
  const { workspace, job } = run;
  const reported = reportedOf(reports);
  const uploads = isShown ? NO_PICTURES : await uploadPictures(workspace, reported, job.signal);
  const { shown, left, refused = uploads.refused } = await postRoot(run, reports, uploads.pictures);
  if (shown.ts !== '') {
    const unshared = await sharePictures(workspace, shown, left);
    await postThread(run, shown, reports, refused ?? unshared);
  }
  const rates = reported.map(({ account, activity }) => [account, activity.stats?.success_rate ?? null]);
  const outcome = run.lateSince === undefined ? 'posted' : 'late';
  return { outcome, rates: Object.fromEntries(rates) };
}

/**
 * One message an occurrence. The pictures are uploaded before, privately, and the message shows them; where Slack
 * refuses that, the message is posted without them, and they are left for its thread.
 */
async function postRoot(
  { workspace, digest, slot, job, lateSince }: OccurrenceRun,
  reports: readonly Gathered[],
  pictures: readonly Uploaded[],
): Promise<{ shown: MessageRef; left: readonly Uploaded[]; refused?: SlackFailure }> {
  const delivery = { id: deliveryId(slot), channel: digest.channel, signal: job.signal };
  const frame = frameOf(workspace, digest, lateSince);
  const withoutPictures = async (): Promise<MessageRef> =>
    deliver(workspace, { ...delivery, message: digestMessage(frame, reports) });
  if (pictures.length === 0) return { shown: await withoutPictures(), left: pictures };
  const message = digestMessage(frame, reports, filesOf(pictures));
  try {
    const shown = await sendWithFiles(
      workspace.clock,
      () => deliver(workspace, { ...delivery, message }),
      job,
    );
    if (shown !== undefined) return { shown: shown.value, left: [] };
  } catch (error) {
    if (isFileRefused(error)) return { shown: await withoutPictures(), left: [], refused: error };
    throw error;
  }
  return { shown: await withoutPictures(), left: pictures };
}

/** Slack's ids of the files, by account. */
export function filesOf(pictures: readonly Uploaded[]): Map<string, string> {
  return new Map(pictures.map(({ account, file }) => [account, file]));
}

export function frameOf({ clock }: Workspace, digest: Digest, lateSince?: number): DigestFrame {
  return { digest, lateSince, next: nextOf(digest, clock.now()) };
}

async function postThread(
  { workspace, digest, slot, job }: OccurrenceRun,
  root: MessageRef,
  reports: readonly Gathered[],
  refused: SlackFailure | undefined,
): Promise<void> {
  const { channel } = digest;
  const { threads = true } = await workspace.channels.get(channel);
  if (!threads) return;
  const reply = (id: string, message: Message): Promise<boolean> =>
    deliverReply(workspace, {
      id: `${deliveryId(slot)} ${id}`,
      channel,
      threadTs: root.ts,
      message,
      signal: job.signal,
    });
  if (refused !== undefined && !(await reply('picture', pictureLeftOutMessage(refused)))) return;
  for (const [at, message] of threadMessages(reports, digest).entries())
    if (!(await reply(`reply ${at}`, message))) return;
}

/** A digest waits for Slack's rate limit, but not for long: its text matters more. */
const RETRY_POLICY = { busyMs: 3 * 60_000, retriesUnknown: 1 };
/** As many as a message shows. */
const MOST = 4;

interface Uploaded {
  account: string;
  /** Slack's id of the file, which is private until a message shows it. */
  file: string;
  upload: Upload;
}

interface Uploads {
  pictures: readonly Uploaded[];
  /** Why some are missing. */
  refused?: SlackFailure | undefined;
}

const NO_PICTURES: Uploads = { pictures: [] };

/** Draws and uploads a picture for each account that had deployments. What Slack refuses is left out. */
export async function uploadPictures(
  workspace: Workspace,
  reports: readonly ReportedAccount[],
  signal?: AbortSignal,
): Promise<Uploads> {
  const shown = reports.filter(({ data }) => totalOf(data) > 0).slice(0, MOST);
  const pictures: Uploaded[] = [];
  let refused: SlackFailure | undefined;
  for (const { account, data } of shown) {
    const upload: Upload = {
      filename: `deployments-${account}.png`,
      bytes: await workspace.pictures.draw(data),
      title: chartName(data),
      altText: altText(data),
    };
    const send = (): Promise<string> =>
      withRetries(workspace.clock, RETRY_POLICY, () => workspace.slack.upload(upload), signal);
    const unsent = await refusalOf(workspace, async () => {
      pictures.push({ account, file: await send(), upload });
    });
    refused ??= unsent;
  }
  return { pictures, refused };
}

/**
 * Puts pictures that no message could show into its thread.
 * @returns why some are missing
 */
async function sharePictures(
  workspace: Workspace,
  { channel, ts: threadTs }: MessageRef,
  pictures: readonly Uploaded[],
): Promise<SlackFailure | undefined> {
  let refused: SlackFailure | undefined;
  for (const { upload } of pictures) {
    const unshared = await refusalOf(workspace, () =>
      workspace.slack.upload({ ...upload, channel, threadTs }),
    );
    refused ??= unshared;
  }
  return refused;
}

async function refusalOf(
  { log }: Pick<Workspace, 'log'>,
  work: () => Promise<unknown>,
): Promise<SlackFailure | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    if (!isSlackFailure(error)) throw error;
    const { method, kind, reason } = error;
    log.warn({ event: 'picture_left_out', method, kind, reason }, 'Slack refused a picture');
    return error;
  }
}
