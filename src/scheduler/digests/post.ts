import type { Message } from '../../core/message.ts';
import { isFileRefused, isSlackFailure, type SlackFailure } from '../../slack/failure.ts';
import type { MessageRef } from '../../slack/slack.ts';
import { type DigestFrame, digestMessage } from '../../views/digests/digest.ts';
import { pictureLeftOutMessage, threadMessages } from '../../views/digests/thread.ts';
import { type Digest, nextOf } from '../../workspace/digests.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { deliver, deliverReply } from '../deliver.ts';
import { deliveryId, type OccurrenceRun, recordOccurrence } from './occurrence.ts';
import { NO_PICTURES, sharePictures, type Uploaded, uploadPictures } from './pictures.ts';
import { type Gathered, reportedOf } from './reports.ts';

/** Slack may need a moment before it shows a file that was just uploaded. */
const PICTURE_PAUSES_MS = [0, 1_500, 3_000];

/**
 * Posts the occurrence's message and thread, and records that.
 * @param isShown true where the message was posted already, before a kill
 * @throws SlackFailure
 */
export async function postDigest(
  run: OccurrenceRun,
  reports: readonly Gathered[],
  isShown: boolean,
): Promise<void> {
  const { workspace, digest, slot, job } = run;
  const reported = reportedOf(reports);
  const uploads = isShown ? NO_PICTURES : await uploadPictures(workspace, reported, job.signal);
  const { shown, left, refused = uploads.refused } = await postRoot(run, reports, uploads.pictures);
  if (shown.ts !== '') {
    const unshared = await sharePictures(workspace, shown, left);
    await postThread(run, shown, reports, refused ?? unshared);
  }
  const rates = reported.map(({ account, activity }) => [account, activity.stats?.success_rate ?? null]);
  const outcome = run.lateSince === undefined ? 'posted' : 'late';
  await recordOccurrence(workspace, slot, { outcome, rates: Object.fromEntries(rates) });
  const { id, channel } = digest;
  workspace.log.info({ event: 'digest_posted', channel, digest: id }, 'Digest posted');
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
  for (const pause of pictures.length === 0 ? [] : PICTURE_PAUSES_MS) {
    if (pause > 0) await workspace.clock.sleep(pause, job.signal);
    try {
      const message = digestMessage(frame, reports, filesOf(pictures));
      return { shown: await deliver(workspace, { ...delivery, message }), left: [] };
    } catch (error) {
      if (isFileRefused(error)) return { shown: await withoutPictures(), left: [], refused: error };
      if (!isSlackFailure(error, 'rejected') || error.reason !== 'invalid_blocks') throw error;
    }
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
