import type { Dispatcher } from 'undici';
import { exchangeWithin } from '../core/exchange.ts';
import type { Message } from '../core/message.ts';
import { inert } from '../core/mrkdwn.ts';
import type { Logger } from '../observability/log.ts';

export type ResponseMode = 'ephemeral' | 'in_channel' | 'replace' | 'delete';

const TIMEOUT_MS = 10_000;
/** Slack says "ok", or a word more. */
const MOST_BYTES = 64 * 1024;

/** Slack may say no with a 200 too. */
const REFUSAL = /^\s*\{\s*"ok"\s*:\s*false\b/;

/**
 * Answers by a `response_url` (5 uses in 30 minutes). It came in a signed request, but is used only for the
 * hosts that the operator allowed, and never through a redirect.
 * @returns false where it was refused, used up or not reached, so that the caller can answer another way
 */
export async function postToResponseUrl(
  agent: Dispatcher,
  url: string,
  message: Message,
  mode: ResponseMode,
  allowedHosts: readonly string[],
  log: Logger,
): Promise<boolean> {
  const address = URL.parse(url);
  if (address === null || !isAllowed(address, allowedHosts)) {
    log.warn({ event: 'response_url_refused' }, 'a response_url on a host that is not allowed was refused');
    return false;
  }
  try {
    const { origin, pathname, search } = address;
    const { status, body } = await exchangeWithin(TIMEOUT_MS, agent, {
      origin,
      path: `${pathname}${search}`,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(bodyOf(message, mode)),
      mostBytes: () => MOST_BYTES,
    });
    if (status === 200 && !REFUSAL.test(body.toString())) return true;
    log.warn({ event: 'response_url_failed', status }, 'a response_url did not take the answer');
    return false;
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    log.warn({ event: 'response_url_failed', reason }, 'a response_url was not reached');
    return false;
  }
}

function isAllowed(parsed: URL, allowedHosts: readonly string[]): boolean {
  if (parsed.username !== '' || parsed.password !== '') return false;
  const isLoopback = ['127.0.0.1', 'localhost', '[::1]'].includes(parsed.hostname);
  if (parsed.protocol !== 'https:' && !(isLoopback && parsed.protocol === 'http:')) return false;
  const isUsualPort = parsed.port === '' || isLoopback;
  return allowedHosts.includes(parsed.host) || (isUsualPort && allowedHosts.includes(parsed.hostname));
}

function bodyOf(message: Message, mode: ResponseMode): object {
  if (mode === 'delete') return { delete_original: true };
  if (mode === 'replace') return { ...inert(message), replace_original: true };
  return { ...inert(message), response_type: mode, replace_original: false };
}
