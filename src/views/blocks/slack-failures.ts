import type { SlackFailure, SlackFailureKind } from '../../core/errors.ts';
import { code } from '../../core/mrkdwn.ts';
import { type Sentences, splitSentences } from './service-failures.ts';

/** @param channel the channel of the request */
export function explainSlackFailure(
  { kind, reason, needed, method }: Pick<SlackFailure, 'kind' | 'reason' | 'needed' | 'method'>,
  channel?: string,
): Sentences {
  const isDirect = channel?.startsWith('D') ?? false;
  // Without a scope to read files, Deckhand cannot look whether it is there.
  if (kind === 'unreachable' && method === 'files.completeUploadExternal')
    return splitSentences(FILE_IN_DOUBT);
  const words =
    reason === 'missing_scope' && needed !== undefined
      ? `Slack has not given Deckhand the scope ${code(needed)}. Ask a workspace admin to install the app again with it.`
      : ((isDirect && NOT_THERE.has(reason) ? BETWEEN_PEOPLE : BY_WORD.get(reason)) ??
        POLICIES.get(reason) ??
        BY_KIND[kind]);
  return { ...splitSentences(words), ...(words === BY_KIND.gone && { mayPass: true }) };
}

/** Explains a policy of the workspace; undefined for any other word. */
export function explainPolicy(reason: string): Sentences | undefined {
  const words = POLICIES.get(reason);
  return words === undefined ? undefined : splitSentences(words);
}

const NOT_THERE: ReadonlySet<string> = new Set(['channel_not_found', 'not_in_channel']);

/** Apps cannot be invited there. */
const BETWEEN_PEOPLE =
  'Deckhand cannot post in a direct message between people. Run the command in a channel that Deckhand is in.';

const FILE_IN_DOUBT =
  'Slack did not answer, so the file may or may not have arrived. Look for it before you try again.';

const NO_MESSAGE = 'The message that this belongs to was deleted. Ask again.';

const MOVING =
  'Slack is moving this workspace into an organisation. Run the command again once that is done.';

const BY_WORD: ReadonlyMap<string, string> = new Map(
  Object.entries({
    invalid_auth:
      'Slack refuses Deckhand’s token (`invalid_auth`). Ask whoever runs Deckhand to correct it, or a workspace admin to install Deckhand again.',
    is_archived: 'This channel is archived. Use another channel.',
    message_not_found: NO_MESSAGE,
    thread_not_found: 'The message that this answers was deleted, so nothing was posted. Ask again.',
    org_login_required: MOVING,
    team_added_to_org: MOVING,
  }),
);

const NO_THREADS =
  'The channel does not allow replies in this thread. Run the command in another channel, or switch threads off in its settings.';

const TOO_LONG =
  'The message is longer than Slack accepts. Ask for less, for example for one project or a shorter time.';

/** No sentence begins with a name, because other sentences quote it in lower case. */
const POLICIES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    file_uploads_disabled: 'The workspace does not allow file uploads. Ask a workspace admin to allow them.',
    file_uploads_except_images_disabled:
      'The workspace allows uploads of images only. Ask a workspace admin to allow other files.',
    storage_limit_reached:
      'The workspace’s storage for files is full. Ask a workspace admin to delete files or to change the plan of the workspace.',
    file_type_not_allowed:
      'The workspace does not allow files of this type. Ask a workspace admin to allow it.',
    posting_to_channel_denied:
      'The channel does not allow Deckhand to post there. Use another channel, or ask a workspace admin who may post in this one.',
    enterprise_is_restricted:
      'The Slack organisation of this workspace restricts Deckhand. Ask an admin of the organisation to lift the restriction.',
    team_access_not_granted:
      'The Slack organisation has not given Deckhand access to this workspace. Ask an admin of the organisation to add the workspace to the app.',
    msg_blocks_too_long: TOO_LONG,
    msg_too_long: TOO_LONG,
    accesslimited:
      'The workspace does not take requests from Deckhand’s network. Ask a workspace admin to allow the address that Deckhand runs at.',
    user_disabled:
      'The person’s Slack account is deactivated. Choose somebody else, or ask a workspace admin to activate it.',
    person_excluded: 'That person may not use Deckhand. Choose somebody else.',
    restricted_action_non_threadable_channel: NO_THREADS,
    restricted_action_thread_locked: NO_THREADS,
    cannot_reply_to_message: NO_THREADS,
    restricted_action_thread_only_channel:
      'The channel allows replies in threads only. Run the command in another channel.',
  }),
);

const BY_KIND: Readonly<Record<SlackFailureKind, string>> = {
  gone: 'Deckhand is not in this channel yet. Invite it with `/invite @deckhand`, then try again.',
  busy: 'Slack is limiting Deckhand’s requests. Try again in a minute.',
  expired: 'This form or button has expired. Run the command again.',
  forbidden:
    'Slack does not allow Deckhand to do this here. Ask a workspace admin about the app’s permissions.',
  revoked: 'Deckhand is no longer installed in this workspace. Ask a workspace admin to install it again.',
  unreachable: 'Slack did not answer Deckhand. Try again in a minute.',
  rejected:
    'Slack did not accept Deckhand’s answer. Try again. If it keeps happening, ask whoever runs Deckhand.',
};
