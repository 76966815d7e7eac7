import { isSlackFailure, type SlackFailure } from '../../slack/failure.ts';
import { withRetries } from '../../slack/rate-limit.ts';
import type { MessageRef } from '../../slack/slack.ts';
import type { Upload } from '../../slack/uploads.ts';
import { altText, chartTitle, totalOf } from '../../views/activity/deployments-chart.ts';
import type { ReportedAccount } from '../../views/digests/digest.ts';
import type { Workspace } from '../../workspace/workspace.ts';

/** A digest waits for Slack's rate limit, but not for long: its text matters more. */
const RETRY_POLICY = { busyMs: 3 * 60_000, retriesUnknown: 1 };
/** As many as a message shows. */
const MOST = 4;

export interface Uploaded {
  account: string;
  /** Slack's id of the file, which is private until a message shows it. */
  file: string;
  upload: Upload;
}

export interface Uploads {
  pictures: readonly Uploaded[];
  /** Why some are missing. */
  refused?: SlackFailure | undefined;
}

export const NO_PICTURES: Uploads = { pictures: [] };

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
      title: `${chartTitle(data)}, ${data.title}`,
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
export async function sharePictures(
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
