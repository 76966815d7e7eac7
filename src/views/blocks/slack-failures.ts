import type { SlackFailureKind } from '../../core/errors.ts';
import { code } from '../../core/mrkdwn.ts';
import type { Sentences } from './service-failures.ts';

/**
 * What the person reads whose answer Slack refused.
 * @param channel the channel of the request
 */
export function explainSlackFailure(
  failure: { kind: SlackFailureKind; reason: string; needed?: string | undefined },
  channel?: string,
): Sentences {
  if (failure.reason === 'missing_scope' && failure.needed !== undefined) return missingScope(failure.needed);
  if (failure.reason === 'invalid_auth') return REFUSED_TOKEN;
  if (failure.reason === 'is_archived') return ARCHIVED;
  if (DELETED.has(failure.reason)) return NO_MESSAGE;
  if (channel?.startsWith('D') && NOT_THERE.has(failure.reason)) return BETWEEN_PEOPLE;
  return explainPolicy(failure.reason) ?? BY_KIND[failure.kind];
}

function missingScope(scope: string): Sentences {
  return {
    text: `Slack has not given Deckhand the scope ${code(scope)}.`,
    next: 'Ask a workspace admin to install the app again with it.',
  };
}

/** The sentences of a word that says what the workspace does not allow; undefined for any other. */
export function explainPolicy(reason: string): Sentences | undefined {
  return BY_WORD.get(reason);
}

/** With a token in the environment, the operator has to correct it. */
const REFUSED_TOKEN: Sentences = {
  text: 'Slack refuses Deckhand’s token (`invalid_auth`).',
  next: 'Ask the operator of Deckhand to correct it, or a workspace admin to install Deckhand again.',
};

const ARCHIVED: Sentences = { text: 'This channel is archived.', next: 'Use another channel.' };

const DELETED: ReadonlySet<string> = new Set(['message_not_found', 'thread_not_found']);
const NO_MESSAGE: Sentences = { text: 'The message that this belongs to was deleted.', next: 'Ask again.' };

const NOT_THERE: ReadonlySet<string> = new Set(['channel_not_found', 'not_in_channel']);

/** Slack lets no app be invited there. */
const BETWEEN_PEOPLE: Sentences = {
  text: 'Deckhand cannot post in a direct message between people.',
  next: 'Run the command in a channel, or in Deckhand’s own messages.',
};

const IN_A_MINUTE = 'Try again in a minute.';

const NO_THREADS: Sentences = {
  text: 'The channel does not allow replies in this thread.',
  next: 'Run the command in another channel, or set threads off in its settings.',
};

const TOO_LONG: Sentences = {
  text: 'The message is longer than Slack accepts.',
  next: 'Ask for less, for example for one project or a shorter time.',
};

/** No sentence begins with a name, because other sentences quote it in lower case. */
const BY_WORD: ReadonlyMap<string, Sentences> = new Map(
  Object.entries({
    file_uploads_disabled: {
      text: 'The workspace does not allow file uploads.',
      next: 'Ask a workspace admin to allow them.',
    },
    file_uploads_except_images_disabled: {
      text: 'The workspace allows uploads of images only.',
      next: 'Ask a workspace admin to allow other files.',
    },
    storage_limit_reached: {
      text: 'The workspace’s storage for files is full.',
      next: 'Ask a workspace admin to delete files or to change the plan of the workspace.',
    },
    file_type_not_allowed: {
      text: 'The workspace does not allow files of this type.',
      next: 'Ask a workspace admin to allow it.',
    },
    posting_to_channel_denied: {
      text: 'The channel does not allow Deckhand to post there.',
      next: 'Use another channel, or ask a workspace admin who may post in this one.',
    },
    enterprise_is_restricted: {
      text: 'The Slack organisation of this workspace restricts Deckhand.',
      next: 'Ask an admin of the organisation to lift the restriction.',
    },
    team_access_not_granted: {
      text: 'The Slack organisation has not given Deckhand access to this workspace.',
      next: 'Ask an admin of the organisation to add the workspace to the app.',
    },
    msg_blocks_too_long: TOO_LONG,
    msg_too_long: TOO_LONG,
    accesslimited: {
      text: 'The workspace does not take requests from Deckhand’s network.',
      next: 'Ask a workspace admin to allow the address that Deckhand runs at.',
    },
    user_disabled: {
      text: 'The person’s Slack account is deactivated.',
      next: 'Choose somebody else, or ask a workspace admin to activate it.',
    },
    person_excluded: { text: 'That person may not use Deckhand.', next: 'Choose somebody else.' },
    restricted_action_non_threadable_channel: NO_THREADS,
    restricted_action_thread_locked: NO_THREADS,
    cannot_reply_to_message: NO_THREADS,
    restricted_action_thread_only_channel: {
      text: 'The channel allows replies in threads only.',
      next: 'Run the command in another channel.',
    },
  }),
);

const BY_KIND: Readonly<Record<SlackFailureKind, Sentences>> = {
  gone: {
    text: 'Deckhand is not in this channel yet.',
    next: 'Invite it with `/invite @deckhand`, then try again.',
    mayPass: true,
  },
  busy: { text: 'Slack is limiting Deckhand’s requests.', next: IN_A_MINUTE },
  expired: { text: 'This form or button has expired.', next: 'Run the command again.' },
  forbidden: {
    text: 'Slack does not allow Deckhand to do this here.',
    next: 'Ask a workspace admin about the app’s permissions.',
  },
  revoked: {
    text: 'Deckhand is no longer installed in this workspace.',
    next: 'Ask a workspace admin to install it again.',
  },
  unreachable: { text: 'Slack did not take Deckhand’s answer.', next: IN_A_MINUTE },
  rejected: {
    text: 'Slack did not take Deckhand’s answer.',
    next: 'Try again. If it keeps happening, contact your administrator.',
  },
};
