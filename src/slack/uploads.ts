import type { FilesCompleteUploadExternalArguments } from '@slack/web-api';
import type { Clock } from '../core/clock.ts';
import { isThisMachine } from '../core/exchange.ts';
import { fileDomainsOf, isWithin } from './domains.ts';
import { isSlackFailure, SlackFailure } from './failure.ts';
import { type Call, type RetryPolicy, SOMEONE_WAITS, withRetries } from './rate-limit.ts';
import type { Web } from './web.ts';

export interface Upload {
  filename: string;
  bytes: Uint8Array;
  title: string;
  /** What a picture shows, for people who cannot see it. */
  altText?: string | undefined;
  /** Without one only Deckhand sees the file. */
  channel?: string | undefined;
  threadTs?: string | undefined;
  /** Mrkdwn, escaped; stands above the file. */
  comment?: string | undefined;
}

interface Parts {
  call: Call;
  web: Web;
  clock: Clock;
}

/** More than any picture or invoice of ours; Slack itself takes 1 GB. */
const MOST_BYTES = 25 * 1024 * 1024;
const MOST_ALT_TEXT = 1000;
/** A second try could share the file twice, so only a busy Slack is asked again. */
const SHARE_ONCE: RetryPolicy = { ...SOMEONE_WAITS, retriesUnknown: 0 };

/**
 * Announces a file, sends its bytes to the address that Slack names, and completes it.
 * @throws SlackFailure
 */
export async function uploadFile(parts: Parts, upload: Upload): Promise<string> {
  const { length } = upload.bytes;
  if (length === 0 || length > MOST_BYTES)
    throw new SlackFailure('files.getUploadURLExternal', 'rejected', length === 0 ? 'empty' : 'too_large');
  const file = await withRetries(parts.clock, SOMEONE_WAITS, () => send(parts, upload));
  const completion = completionOf(file, upload);
  await parts.call('files.completeUploadExternal', completion, SHARE_ONCE);
  return file;
}

/** Slack may need a moment before it shows a file that was just uploaded. */
const PAUSES_MS = [0, 1_500, 3_000];
const REFUSALS: ReadonlySet<string> = new Set(['invalid_blocks', 'invalid_arguments']);

/**
 * Sends blocks that show files, again where Slack does not take them yet.
 * @param meanwhile called after the first refusal
 * @returns undefined where Slack does not take them at all
 */
export async function sendWithFiles<T>(
  clock: Clock,
  send: () => Promise<T>,
  { signal, meanwhile }: { signal?: AbortSignal; meanwhile?: () => Promise<unknown> } = {},
): Promise<{ value: T } | undefined> {
  for (const pause of PAUSES_MS) {
    if (pause > 0) await clock.sleep(pause, signal);
    const sent = await unlessRefused(send);
    if (sent !== undefined) return sent;
    if (pause === 0) await meanwhile?.();
  }
  return undefined;
}

/** Undefined where Slack does not take the blocks. */
export async function unlessRefused<T>(send: () => Promise<T>): Promise<{ value: T } | undefined> {
  try {
    return { value: await send() };
  } catch (error) {
    if (isSlackFailure(error, 'rejected') && REFUSALS.has(error.reason)) return undefined;
    throw error;
  }
}

/** An address takes bytes once, so each try begins with a new one. */
async function send(parts: Parts, upload: Upload): Promise<string> {
  const { filename, bytes, altText } = upload;
  const announced = await parts.call('files.getUploadURLExternal', {
    filename,
    length: bytes.length,
    ...(altText === undefined ? {} : { alt_txt: [...altText].slice(0, MOST_ALT_TEXT).join('') }),
  });
  const url = addressOf(announced.upload_url, parts.web.origin);
  await post(parts.web, url, bytes);
  return announced.file_id ?? '';
}

async function post(web: Web, url: URL, bytes: Uint8Array): Promise<void> {
  try {
    const status = await web.sendBytes(url, bytes);
    if (status === 200) return;
    const kind = status >= 500 ? 'unreachable' : 'rejected';
    throw new SlackFailure('upload', kind, `http_${status}`);
  } catch (error) {
    if (isSlackFailure(error)) throw error;
    // The cause is left out: it could hold the address, which is a secret while it works.
    throw new SlackFailure('upload', 'unreachable', 'request_failed');
  }
}

/**
 * Files are confidential, so the address must be the Web API's own or one of Slack's.
 * @throws SlackFailure for any other
 */
function addressOf(text: string | undefined, apiOrigin: string): URL {
  const url = URL.parse(text ?? '');
  if (url !== null && isSlacks(url, apiOrigin)) return url;
  throw new SlackFailure('files.getUploadURLExternal', 'rejected', 'foreign_upload_url');
}

function isSlacks(url: URL, apiOrigin: string): boolean {
  if (url.username !== '' || url.password !== '') return false;
  if (url.origin === apiOrigin) return true;
  // A Slack on this machine, as in tests, may take files on another port.
  const { hostname } = new URL(apiOrigin);
  if (isThisMachine(hostname) && isThisMachine(url.hostname)) return url.protocol === 'http:';
  const isHost = isWithin(url.hostname, fileDomainsOf(hostname));
  return isHost && url.protocol === 'https:' && url.port === '';
}

function completionOf(id: string, upload: Upload): FilesCompleteUploadExternalArguments {
  const files: FilesCompleteUploadExternalArguments['files'] = [{ id, title: upload.title }];
  const { channel, threadTs, comment } = upload;
  if (channel === undefined) return { files };
  const shared = {
    files,
    channel_id: channel,
    ...(comment === undefined ? {} : { initial_comment: comment }),
  };
  return threadTs === undefined ? shared : { ...shared, thread_ts: threadTs };
}
