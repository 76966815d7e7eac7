import type { FilesCompleteUploadExternalArguments } from '@slack/web-api';
import { SlackFailure } from '../core/errors.ts';
import { isThisMachine } from '../core/http.ts';
import { defined } from '../core/json.ts';
import type { Clock } from '../core/time/clock.ts';
import { type Call, INTERACTIVE_POLICY, type RetryPolicy, withRetries } from './rate-limit.ts';
import { postTo, type Web } from './web.ts';

export interface Upload {
  filename: string;
  bytes: Uint8Array;
  title: string;
  channel: string;
  threadTs?: string | undefined;
  /** Mrkdwn above the file, escaped. */
  comment?: string | undefined;
}

interface Parts {
  call: Call;
  web: Web;
  clock: Clock;
}

/** Larger than any invoice. Slack itself takes 1 GB. */
const MAX_BYTES = 25 * 1024 * 1024;
const UPLOAD_TIMEOUT_MS = 60_000;
/** A second try could share the file twice, so Deckhand repeats the call only if Slack is busy. */
const SHARE_ONCE: RetryPolicy = { ...INTERACTIVE_POLICY, retriesUnknown: 0 };

/**
 * Announces a file, sends its bytes to the address that Slack names, and completes it. Slack's own client sends
 * the token to that address too. It also does not say which of the three calls failed, so a retry could share the file
 * twice.
 * @throws SlackFailure
 */
export async function uploadFile(parts: Parts, upload: Upload): Promise<void> {
  const { length } = upload.bytes;
  if (length === 0 || length > MAX_BYTES)
    throw new SlackFailure('files.getUploadURLExternal', 'rejected', length === 0 ? 'empty' : 'too_large');
  const file = await withRetries(parts.clock, INTERACTIVE_POLICY, () => sendFile(parts, upload));
  const completion = createCompletion(file, upload);
  await parts.call('files.completeUploadExternal', completion, SHARE_ONCE);
}

/** Each try needs a new address, because Slack takes bytes at an address once. */
async function sendFile(parts: Parts, upload: Upload): Promise<string> {
  const { filename, bytes } = upload;
  const announced = await parts.call('files.getUploadURLExternal', { filename, length: bytes.length });
  const url = parseUploadUrl(announced.upload_url, parts.web.origin);
  await sendBytes(parts.web, url, bytes);
  return announced.file_id ?? '';
}

async function sendBytes({ agent }: Web, url: URL, body: Uint8Array): Promise<void> {
  const content = { headers: { 'content-type': 'application/octet-stream' }, body };
  const signal = AbortSignal.timeout(UPLOAD_TIMEOUT_MS);
  // The cause could hold the address, which is a secret while it is valid.
  const answer = await postTo(agent, url, content, signal).catch(() => undefined);
  if (answer === undefined) throw new SlackFailure('upload', 'unreachable', 'request_failed');
  const { status } = answer;
  if (status !== 200)
    throw new SlackFailure('upload', status >= 500 ? 'unreachable' : 'rejected', `http_${status}`);
}

/** Files are confidential, so the host must be Slack's. @throws SlackFailure for another host */
function parseUploadUrl(text: string | undefined, apiOrigin: string): URL {
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
  const isHost = isWithin(url.hostname, listFileDomains(hostname));
  return isHost && url.protocol === 'https:' && url.port === '';
}

function createCompletion(id: string, upload: Upload): FilesCompleteUploadExternalArguments {
  const { title, channel, threadTs, comment } = upload;
  const shared = {
    files: [{ id, title }] as [{ id: string; title: string }],
    channel_id: channel,
    ...defined({ initial_comment: comment }),
  };
  return threadTs === undefined ? shared : { ...shared, thread_ts: threadTs };
}

/** GovSlack is a separate cloud with its own domains. */
const GOV_API = 'slack-gov.com';
const GOV_DOMAINS: readonly string[] = [GOV_API, 'slack-files-gov.com'];

/** Domains under which Slack takes files. @param apiHost host of the Web API */
export function listFileDomains(apiHost: string): readonly string[] {
  return isWithin(apiHost, [GOV_API]) ? GOV_DOMAINS : ['slack.com'];
}

/** Hosts that a `response_url` may have: the configured ones, and GovSlack's if Deckhand uses its Web API. */
export function listResponseHosts(hosts: string, apiUrl: string): string[] {
  const configured = hosts.split(',').map((host) => host.trim());
  const isGov = isWithin(new URL(apiUrl).hostname, [GOV_API]);
  return isGov
    ? [...configured, ...GOV_DOMAINS.flatMap((domain) => [domain, `hooks.${domain}`])]
    : configured;
}

export function isWithin(host: string, domains: readonly string[]): boolean {
  return domains.some((domain) => host === domain || host.endsWith(`.${domain}`));
}
