import type { FilesCompleteUploadExternalArguments } from '@slack/web-api';
import { SlackFailure } from '../core/errors.ts';
import { isThisMachine, sendRequest } from '../core/http.ts';
import { defined } from '../core/json.ts';
import type { Clock } from '../core/time/clock.ts';
import { type Call, INTERACTIVE_POLICY, type RetryPolicy, withRetries } from './rate-limit.ts';
import type { Web } from './web.ts';

export interface Upload {
  filename: string;
  bytes: Uint8Array;
  title: string;
  channel: string;
  threadTs?: string | undefined;
  /** Mrkdwn, escaped; stands above the file. */
  comment?: string | undefined;
}

interface Parts {
  call: Call;
  web: Web;
  clock: Clock;
}

/** More than any invoice; Slack itself takes 1 GB. */
const MAX_BYTES = 25 * 1024 * 1024;
/** Slack says "OK" and the length. */
const MAX_BYTES_OF_ANSWER = 64 * 1024;
const UPLOAD_TIMEOUT_MS = 60_000;
/** A second try could share the file twice, so only a busy Slack is asked again. */
const SHARE_ONCE: RetryPolicy = { ...INTERACTIVE_POLICY, retriesUnknown: 0 };

/**
 * Announces a file, sends its bytes to the address that Slack names, and completes it. Not by the client's own upload in
 * one: it sends the token to that address too, and does not say which of the three calls failed, so that a retry could share the file twice.
 * @throws SlackFailure
 */
export async function uploadFile(parts: Parts, upload: Upload): Promise<void> {
  const { length } = upload.bytes;
  if (length === 0 || length > MAX_BYTES)
    throw new SlackFailure('files.getUploadURLExternal', 'rejected', length === 0 ? 'empty' : 'too_large');
  const file = await withRetries(parts.clock, INTERACTIVE_POLICY, () => send(parts, upload));
  const completion = completionOf(file, upload);
  await parts.call('files.completeUploadExternal', completion, SHARE_ONCE);
}

/** An address takes bytes once, so each try begins with a new one. */
async function send(parts: Parts, upload: Upload): Promise<string> {
  const { filename, bytes } = upload;
  const announced = await parts.call('files.getUploadURLExternal', { filename, length: bytes.length });
  const url = addressOf(announced.upload_url, parts.web.origin);
  await sendBytes(parts.web, url, bytes);
  return announced.file_id ?? '';
}

/** Without any token, and through no redirect. */
async function sendBytes({ agent }: Web, url: URL, body: Uint8Array): Promise<void> {
  const request = {
    origin: url.origin,
    path: `${url.pathname}${url.search}`,
    method: 'POST',
    headers: { 'content-type': 'application/octet-stream' },
    body,
    maxBytes: () => MAX_BYTES_OF_ANSWER,
  } as const;
  const signal = AbortSignal.timeout(UPLOAD_TIMEOUT_MS);
  // The cause is left out: it could hold the address, which is a secret while it works.
  const answer = await sendRequest(agent, request, signal).catch(() => undefined);
  if (answer === undefined) throw new SlackFailure('upload', 'unreachable', 'request_failed');
  const { status } = answer;
  if (status !== 200)
    throw new SlackFailure('upload', status >= 500 ? 'unreachable' : 'rejected', `http_${status}`);
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
  const { title, channel, threadTs, comment } = upload;
  const shared = {
    files: [{ id, title }] as [{ id: string; title: string }],
    channel_id: channel,
    ...defined({ initial_comment: comment }),
  };
  return threadTs === undefined ? shared : { ...shared, thread_ts: threadTs };
}

/** GovSlack is a cloud of its own, with domains of its own. */
const GOV_API = 'slack-gov.com';
const GOV_DOMAINS: readonly string[] = [GOV_API, 'slack-files-gov.com'];

/** The domains under which Slack takes files. @param apiHost where the Web API is */
export function fileDomainsOf(apiHost: string): readonly string[] {
  return isWithin(apiHost, [GOV_API]) ? GOV_DOMAINS : ['slack.com'];
}

/** The hosts that a `response_url` may have: the operator's, and GovSlack's where its Web API is used. */
export function responseHostsOf(hosts: string, apiUrl: string): string[] {
  const configured = hosts.split(',').map((host) => host.trim());
  const isGov = isWithin(new URL(apiUrl).hostname, [GOV_API]);
  return isGov
    ? [...configured, ...GOV_DOMAINS.flatMap((domain) => [domain, `hooks.${domain}`])]
    : configured;
}

export function isWithin(host: string, domains: readonly string[]): boolean {
  return domains.some((domain) => host === domain || host.endsWith(`.${domain}`));
}
