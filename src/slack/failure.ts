import { ErrorCode, type WebAPICallError } from '@slack/web-api';
import { SlackFailure, type SlackFailureKind } from '../core/errors.ts';
import { wasNeverSent } from '../core/http.ts';
import { SCOPE_NAMES } from './scopes.ts';

/** Slack's error words by kind. Any other word means that Slack rejects the call. */
const WORDS: ReadonlyArray<[SlackFailureKind, string]> = [
  [
    'gone',
    `
    channel_not_found is_archived not_in_channel user_not_in_channel message_not_found thread_not_found
    cant_update_message edit_window_closed update_failed is_inactive user_not_found users_not_found
    cannot_dm_bot user_disabled messages_tab_disabled`,
  ],
  [
    'forbidden',
    `
    restricted_action restricted_action_read_only_channel restricted_action_thread_only_channel
    restricted_action_non_threadable_channel restricted_action_thread_locked cannot_reply_to_message
    posting_to_channel_denied file_uploads_disabled file_uploads_except_images_disabled
    file_type_not_allowed storage_limit_reached msg_blocks_too_long msg_too_long
    enterprise_is_restricted ekm_access_denied missing_scope no_permission not_allowed_token_type
    access_denied accesslimited two_factor_setup_required`,
  ],
  [
    'revoked',
    `
    account_inactive invalid_auth not_authed token_revoked token_expired invalid_refresh_token
    team_access_not_granted org_login_required not_installed`,
  ],
  [
    'expired',
    `
    expired_trigger_id exchanged_trigger_id trigger_exchanged trigger_expired invalid_trigger
    invalid_trigger_id hash_conflict not_found view_not_found`,
  ],
  ['busy', 'ratelimited rate_limited message_limit_exceeded'],
  ['unreachable', 'fatal_error internal_error service_unavailable request_timeout team_added_to_org'],
];

const KINDS = new Map(
  WORDS.flatMap(([kind, words]) => (words.match(/\S+/g) ?? []).map((word) => [word, kind] as const)),
);

/** Any other text, such as a proxy's page, is not from Slack. */
const ERROR_WORD = /^[\w.:-]+$/;

/** Makes the failure that Slack's answer names. */
export function createNamedFailure(method: string, word: string, needed?: unknown): SlackFailure {
  if (!ERROR_WORD.test(word)) return new SlackFailure(method, 'unreachable', 'not_json');
  // Slack may list several scopes. It is enough to name one that Deckhand requests.
  const scopes = typeof needed === 'string' ? needed.split(',') : [];
  const scope =
    scopes.find((name) => SCOPE_NAMES.includes(name)) ?? scopes.find((name) => ERROR_WORD.test(name));
  return new SlackFailure(method, KINDS.get(word) ?? 'rejected', word, { needed: scope });
}

/** Makes a SlackFailure from an error of Slack's clients. Returns any other error as it is. */
export function toSlackFailure(method: string, error: unknown, now: number): unknown {
  if (!isCallError(error)) return error;
  switch (error.code) {
    case ErrorCode.PlatformError:
      return createNamedFailure(
        method,
        error.data.ok === false ? (error.data.error ?? 'unknown_error') : '',
        // Slack's types lack this field of `missing_scope`.
        'needed' in error.data ? error.data.needed : undefined,
      );
    case ErrorCode.RateLimitedError: {
      const retryAt = now + error.retryAfter * 1000;
      return new SlackFailure(method, 'busy', 'ratelimited', { retryAt });
    }
    case ErrorCode.HTTPError:
      return new SlackFailure(method, 'unreachable', `http_${error.statusCode}`);
    case ErrorCode.RequestError:
      return new SlackFailure(method, 'unreachable', 'request_failed', { cause: error.original });
  }
}

/** True if Slack may have the post although its answer was lost. A failed token refresh has posted nothing. */
export function mayHavePosted({ method, kind, cause }: SlackFailure): boolean {
  return method.startsWith('chat.post') && kind === 'unreachable' && !wasNeverSent(cause);
}

/** True if Slack took a post with the same `client_msg_id` before, even if it was deleted later. */
export function isAlreadyPosted(error: unknown): error is SlackFailure {
  return isSlackFailure(error) && error.reason.startsWith('duplicate');
}

export function isSlackFailure(error: unknown, ...kinds: SlackFailureKind[]): error is SlackFailure {
  return error instanceof SlackFailure && (kinds.length === 0 || kinds.includes(error.kind));
}

/** Returns the answer of a call, or undefined for a failure of Slack. @param kinds any kind if left out */
export async function undefinedOnSlackError<T>(
  call: Promise<T>,
  ...kinds: SlackFailureKind[]
): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (isSlackFailure(error, ...kinds)) return undefined;
    throw error;
  }
}

/** True if Slack takes messages in the channel, but no replies in this thread. */
export function isThreadRefused(error: unknown): error is SlackFailure {
  return isSlackFailure(error) && THREAD_WORDS.has(error.reason);
}

const THREAD_WORDS: ReadonlySet<string> = new Set([
  'restricted_action',
  'restricted_action_non_threadable_channel',
  'restricted_action_thread_locked',
  'restricted_action_thread_only_channel',
  'cannot_reply_to_message',
]);

export function isTooLong({ reason }: SlackFailure): boolean {
  return reason === 'msg_blocks_too_long' || reason === 'msg_too_long';
}

/** True if Slack refuses the token itself. The token may work again, so work waits. */
export function isTokenRefused(error: unknown): error is SlackFailure {
  return isSlackFailure(error, 'revoked') && !LASTING_WORDS.has(error.reason);
}

/** True if the same call may succeed later: Slack is busy, does not answer, or refuses the token of an installation. */
export function isPassing(error: unknown): error is SlackFailure {
  return isSlackFailure(error, 'busy', 'unreachable', 'revoked') && error.reason !== NOT_INSTALLED;
}

/** True if the same call will never succeed. */
export function isRefusal(error: unknown): error is SlackFailure {
  return isSlackFailure(error) && !isPassing(error);
}

/** Deckhand's own word for a workspace without a token. */
export const NOT_INSTALLED = 'not_installed';

/** Error words about the installation. Another token would get the same. */
const LASTING_WORDS: ReadonlySet<string> = new Set([NOT_INSTALLED, 'team_access_not_granted']);

/** Error word for a thread whose messages were all deleted. Slack itself answers as if the reply were posted there. */
export const THREAD_GONE = 'thread_not_found';

export function isThreadGone(error: unknown): error is SlackFailure {
  return isSlackFailure(error) && error.reason === THREAD_GONE;
}

const MESSAGE_WORDS: ReadonlySet<string> = new Set([NOT_INSTALLED, 'message_not_found', THREAD_GONE]);

/** True if the message or its thread was deleted, or Deckhand is no longer installed. */
export function isMessageGone(error: unknown): error is SlackFailure {
  return isSlackFailure(error) && MESSAGE_WORDS.has(error.reason);
}

const PLACE_WORDS: ReadonlySet<string> = new Set(['channel_not_found', 'is_archived', 'not_in_channel']);

/** True if the message or its channel is gone, or Deckhand is no longer installed. */
export function isPlaceGone(error: unknown): error is SlackFailure {
  return isMessageGone(error) || (isSlackFailure(error) && PLACE_WORDS.has(error.reason));
}

function isCallError(error: unknown): error is WebAPICallError {
  return error instanceof Error && 'code' in error && CALL_ERRORS.has(error.code);
}

const CALL_ERRORS = new Set<unknown>([
  ErrorCode.PlatformError,
  ErrorCode.RateLimitedError,
  ErrorCode.HTTPError,
  ErrorCode.RequestError,
]);
