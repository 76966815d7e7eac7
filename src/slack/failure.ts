import { ErrorCode, type WebAPICallError } from '@slack/web-api';
import { SlackFailure, type SlackFailureKind } from '../core/errors.ts';
import { wasNeverSent } from '../core/http.ts';

const KINDS: Record<string, SlackFailureKind> = {
  channel_not_found: 'gone',
  is_archived: 'gone',
  not_in_channel: 'gone',
  user_not_in_channel: 'gone',
  message_not_found: 'gone',
  thread_not_found: 'gone',
  cant_update_message: 'gone',
  edit_window_closed: 'gone',
  update_failed: 'gone',
  is_inactive: 'gone',
  user_not_found: 'gone',
  users_not_found: 'gone',
  cannot_dm_bot: 'gone',
  user_disabled: 'gone',
  messages_tab_disabled: 'gone',
  restricted_action: 'forbidden',
  restricted_action_read_only_channel: 'forbidden',
  restricted_action_thread_only_channel: 'forbidden',
  restricted_action_non_threadable_channel: 'forbidden',
  restricted_action_thread_locked: 'forbidden',
  cannot_reply_to_message: 'forbidden',
  posting_to_channel_denied: 'forbidden',
  file_uploads_disabled: 'forbidden',
  file_uploads_except_images_disabled: 'forbidden',
  file_type_not_allowed: 'forbidden',
  storage_limit_reached: 'forbidden',
  msg_blocks_too_long: 'forbidden',
  msg_too_long: 'forbidden',
  enterprise_is_restricted: 'forbidden',
  ekm_access_denied: 'forbidden',
  missing_scope: 'forbidden',
  no_permission: 'forbidden',
  not_allowed_token_type: 'forbidden',
  access_denied: 'forbidden',
  accesslimited: 'forbidden',
  two_factor_setup_required: 'forbidden',
  account_inactive: 'revoked',
  invalid_auth: 'revoked',
  not_authed: 'revoked',
  token_revoked: 'revoked',
  token_expired: 'revoked',
  invalid_refresh_token: 'revoked',
  team_access_not_granted: 'revoked',
  org_login_required: 'revoked',
  not_installed: 'revoked',
  expired_trigger_id: 'expired',
  exchanged_trigger_id: 'expired',
  trigger_exchanged: 'expired',
  trigger_expired: 'expired',
  invalid_trigger: 'expired',
  invalid_trigger_id: 'expired',
  hash_conflict: 'expired',
  not_found: 'expired',
  view_not_found: 'expired',
  ratelimited: 'busy',
  rate_limited: 'busy',
  message_limit_exceeded: 'busy',
  fatal_error: 'unreachable',
  internal_error: 'unreachable',
  service_unavailable: 'unreachable',
  request_timeout: 'unreachable',
  team_added_to_org: 'unreachable',
};

/** What is not one of Slack's words, e.g. a proxy's page, is no answer of Slack's. */
const ERROR_WORD = /^[\w.:-]+$/;

/** The failure that Slack named in its answer. */
export function failureNamed(method: string, word: string, needed?: unknown): SlackFailure {
  if (!ERROR_WORD.test(word)) return new SlackFailure(method, 'unreachable', 'not_json');
  // Slack may list several, of which one of those that Deckhand asks for is enough.
  const scopes = typeof needed === 'string' ? needed.split(',') : [];
  const scope =
    scopes.find((name) => SCOPE_NAMES.includes(name)) ?? scopes.find((name) => ERROR_WORD.test(name));
  return new SlackFailure(method, KINDS[word] ?? 'rejected', word, { needed: scope });
}

/** Makes a SlackFailure of what Slack's clients throw; any other error is returned as it is. */
export function asSlackFailure(method: string, error: unknown, now: number): unknown {
  if (!isCallError(error)) return error;
  switch (error.code) {
    case ErrorCode.PlatformError:
      return failureNamed(
        method,
        error.data.ok === false ? (error.data.error ?? 'unknown_error') : '',
        // What Slack adds to `missing_scope`; its types do not know it.
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

/** True if Slack may have the post, although its answer was lost. A refresh of the token posts nothing. */
export function mayHavePosted({ method, kind, cause }: SlackFailure): boolean {
  return method.startsWith('chat.post') && kind === 'unreachable' && !wasNeverSent(cause);
}

/** True where Slack has the post already, under the same `client_msg_id`: it stands there, or was deleted since. */
export function isAlreadyPosted(error: unknown): error is SlackFailure {
  return isSlackFailure(error) && error.reason.startsWith('duplicate');
}

export function isSlackFailure(error: unknown, ...kinds: SlackFailureKind[]): error is SlackFailure {
  return error instanceof SlackFailure && (kinds.length === 0 || kinds.includes(error.kind));
}

/** What a call gives; undefined where Slack fails it, in one of these ways where any are named. */
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

/** True where Slack takes messages of Deckhand there, but no replies in this thread. */
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

/** True where Slack takes no message of that length. */
export function isTooLong({ reason }: SlackFailure): boolean {
  return reason === 'msg_blocks_too_long' || reason === 'msg_too_long';
}

/** True where Slack refuses the token itself, which may work again: then nothing is given up, and what is due waits. */
export function isTokenRefused(error: unknown): error is SlackFailure {
  return isSlackFailure(error, 'revoked') && !LASTING_WORDS.has(error.reason);
}

/** True where the same call may succeed later: Slack is busy, does not answer, or refuses the token of an installation. */
export function isPassing(error: unknown): error is SlackFailure {
  return isSlackFailure(error, 'busy', 'unreachable', 'revoked') && error.reason !== NOT_INSTALLED;
}

/** True where Slack refuses the call for good, by whatever word. */
export function isRefusal(error: unknown): error is SlackFailure {
  return isSlackFailure(error) && !isPassing(error);
}

/** Our own word: the workspace has no token. */
export const NOT_INSTALLED = 'not_installed';

/** Words about the installation that a working token does not change. */
const LASTING_WORDS: ReadonlySet<string> = new Set([NOT_INSTALLED, 'team_access_not_granted']);

/** True where the message was deleted, or Deckhand is no longer installed. */
export function isMessageGone(error: unknown): error is SlackFailure {
  return isSlackFailure(error) && [NOT_INSTALLED, 'message_not_found'].includes(error.reason);
}

const PLACE_WORDS: ReadonlySet<string> = new Set(['channel_not_found', 'is_archived', 'not_in_channel']);

/** True where the message was deleted, or its channel is gone. */
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

/** The bot scopes that Deckhand asks for, each with its reason; `manifest.yml` is held equal by a test. */
export const SCOPES = {
  commands: 'the slash command and the shortcuts',
  'app_mentions:read': 'messages that mention Deckhand by name, to answer them',
  'chat:write': 'messages and threads in the channels that it was invited to',
  'files:write': 'PDFs of invoices',
  'im:write': 'direct messages about what a person set up',
  'users:read': 'who is an admin of the workspace, and a person’s time zone',
  'users:read.email': 'the address that the page of `link` shows beside the name',
  'links:read': 'links to projects and servers, to show their state',
  'links:write': 'that state, under the link',
} as const;

/** Needed only where user groups hold roles. */
export const GROUPS_SCOPE = 'usergroups:read';

export const SCOPE_REASONS: Readonly<Record<string, string>> = {
  ...SCOPES,
  [GROUPS_SCOPE]: 'the user groups that hold roles',
};

/** Without one of these nothing works; without any other one, what needs it says so. */
export const REQUIRED_SCOPES: readonly string[] = ['commands', 'chat:write', 'users:read'];

export const SCOPE_NAMES: readonly string[] = Object.keys(SCOPES);
