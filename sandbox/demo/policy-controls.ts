import type { LocalSlack } from '../slack/local-slack.ts';
import type { Fault } from '../slack/state/fault.ts';
import type { Policy } from '../slack/state/types.ts';
import type { Control } from '../slack/world.ts';
import { demoSwitch } from './switch.ts';
import { DEMO_TEAMS } from './workspaces.ts';

/** The word with which Slack refuses, and what the switch is called. */
type Words<Word extends string> = { readonly [Key in Word]?: string };

type Worded =
  | 'threads'
  | 'topLevel'
  | 'edits'
  | 'responseUrls'
  | 'ephemerals'
  | 'uploads'
  | 'sharing'
  | 'access';

/** Policies that are one word of Slack's each. */
type ByWord = { readonly [Kind in Worded]?: Words<NonNullable<Policy[Kind]>> };

/** By the heading under which the switches stand. */
const BY_WORD: Readonly<Record<string, ByWord>> = {
  Threads: {
    threads: {
      restricted_action_non_threadable_channel: 'Channels have no threads',
      restricted_action_thread_locked: 'Threads are locked',
      restricted_action: 'Replies are not for apps',
      cannot_reply_to_message: 'Messages take no replies',
    },
    topLevel: { restricted_action_thread_only_channel: 'Channels have threads only' },
  },
  Edits: {
    edits: {
      edit_window_closed: 'Messages are not edited',
      cant_update_message: 'Edits are forbidden',
      is_inactive: 'Channels are frozen',
      update_failed: 'Edits fail in Slack',
    },
  },
  'Private answers': {
    responseUrls: { used_url: 'Response addresses are used up' },
    ephemerals: {
      user_not_in_channel: 'The asker is not in the channel',
      not_in_channel: 'Deckhand is not in the channel',
      channel_not_found: 'The channel is not to be seen',
      is_archived: 'The channel is archived',
    },
  },
  'Rules of the workspace': {
    uploads: {
      file_uploads_disabled: 'No files',
      file_uploads_except_images_disabled: 'No files but pictures',
      storage_limit_reached: 'The storage is full',
    },
    sharing: { posting_to_channel_denied: 'No files in channels' },
    access: {
      enterprise_is_restricted: 'The organisation is restricted',
      team_access_not_granted: 'The workspace is not granted',
    },
  },
};

type Refusal = readonly [group: string, word: string, label: string, how: Policy | Fault];

/** Refusals that take more than one word. */
const OTHERS: readonly Refusal[] = [
  ['Rules of the workspace', 'file_type_not_allowed', 'Text files only', { fileTypes: ['txt'] }],
  ['Rules of the workspace', 'msg_blocks_too_long', 'Short blocks only', { longestBlocks: 500 }],
  [
    'Rules of the workspace',
    'invalid_blocks',
    'No charts, tables and plans of 2026',
    { refusedBlocks: ['data_visualization', 'data_table', 'plan'] },
  ],
  [
    'Rules of the workspace',
    'user_disabled',
    'People cannot be written to',
    { method: 'conversations.open', error: 'user_disabled' },
  ],
];

/** A switch for each word with which Slack may refuse what Deckhand does, in all workspaces of the demo. */
export function policyControls(slack: LocalSlack): Control[] {
  const byWord = Object.entries(BY_WORD).flatMap(([group, policies]) => refusalsOf(group, policies));
  return [...byWord, ...OTHERS].map(([group, word, label, how]) => ({
    ...demoSwitch(`${group}-${word}`, label, word, () => begin(slack, how)),
    group,
  }));
}

function refusalsOf(group: string, policies: ByWord): Refusal[] {
  return Object.entries(policies).flatMap(([policy, words]) =>
    Object.entries(words ?? {}).map(
      ([word, label]): Refusal => [group, word, String(label), { [policy]: word }],
    ),
  );
}

/** @returns what ends it */
function begin(slack: LocalSlack, how: Policy | Fault): () => void {
  const ends = 'method' in how ? [slack.fault(how)] : DEMO_TEAMS.map((team) => slack.policy(team, how));
  return () => {
    for (const end of ends) end();
  };
}
