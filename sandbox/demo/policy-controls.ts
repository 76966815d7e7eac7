import type { LocalSlack } from '../slack/local-slack.ts';
import type { Fault } from '../slack/state/fault.ts';
import type { Policy } from '../slack/state/policy.ts';
import type { Control } from '../slack/world.ts';
import { demoSwitch } from './switch.ts';
import { DEMO_TEAMS } from './workspaces.ts';

interface Refusal {
  /** The word with which Slack refuses. */
  word: string;
  says: string;
  policy?: Policy;
  fault?: Fault;
}

const THREADS: Refusal[] = [
  {
    word: 'restricted_action_non_threadable_channel',
    says: 'Channels have no threads',
    policy: { threads: 'restricted_action_non_threadable_channel' },
  },
  {
    word: 'restricted_action_thread_locked',
    says: 'Threads are locked',
    policy: { threads: 'restricted_action_thread_locked' },
  },
  {
    word: 'restricted_action',
    says: 'Replies are not for apps',
    policy: { threads: 'restricted_action' },
  },
  {
    word: 'cannot_reply_to_message',
    says: 'Messages take no replies',
    policy: { threads: 'cannot_reply_to_message' },
  },
  {
    word: 'restricted_action_thread_only_channel',
    says: 'Channels have threads only',
    policy: { topLevel: 'restricted_action_thread_only_channel' },
  },
];

const EDITS: Refusal[] = [
  {
    word: 'edit_window_closed',
    says: 'Messages are not edited',
    policy: { edits: 'edit_window_closed' },
  },
  { word: 'cant_update_message', says: 'Edits are forbidden', policy: { edits: 'cant_update_message' } },
  { word: 'is_inactive', says: 'Channels are frozen', policy: { edits: 'is_inactive' } },
  { word: 'update_failed', says: 'Edits fail in Slack', policy: { edits: 'update_failed' } },
];

const PRIVATE: Refusal[] = [
  { word: 'used_url', says: 'Response addresses are used up', policy: { responseUrls: 'used_url' } },
  {
    word: 'user_not_in_channel',
    says: 'The asker is not in the channel',
    policy: { ephemerals: 'user_not_in_channel' },
  },
  {
    word: 'not_in_channel',
    says: 'Deckhand is not in the channel',
    policy: { ephemerals: 'not_in_channel' },
  },
  {
    word: 'channel_not_found',
    says: 'The channel is not to be seen',
    policy: { ephemerals: 'channel_not_found' },
  },
  { word: 'is_archived', says: 'The channel is archived', policy: { ephemerals: 'is_archived' } },
];

const RULES: Refusal[] = [
  {
    word: 'file_uploads_disabled',
    says: 'No files',
    policy: { uploads: 'file_uploads_disabled' },
  },
  {
    word: 'file_uploads_except_images_disabled',
    says: 'No files but pictures',
    policy: { uploads: 'file_uploads_except_images_disabled' },
  },
  {
    word: 'storage_limit_reached',
    says: 'The storage is full',
    policy: { uploads: 'storage_limit_reached' },
  },
  { word: 'file_type_not_allowed', says: 'Text files only', policy: { fileTypes: ['txt'] } },
  {
    word: 'posting_to_channel_denied',
    says: 'No files in channels',
    policy: { sharing: 'posting_to_channel_denied' },
  },
  { word: 'msg_blocks_too_long', says: 'Short blocks only', policy: { longestBlocks: 500 } },
  {
    word: 'invalid_blocks',
    says: 'No charts and tables of 2026',
    policy: { refusedBlocks: ['data_visualization', 'data_table'] },
  },
  {
    word: 'enterprise_is_restricted',
    says: 'The organisation is restricted',
    policy: { access: 'enterprise_is_restricted' },
  },
  {
    word: 'team_access_not_granted',
    says: 'The workspace is not granted',
    policy: { access: 'team_access_not_granted' },
  },
  {
    word: 'user_disabled',
    says: 'People cannot be written to',
    fault: { method: 'conversations.open', error: 'user_disabled' },
  },
];

/** A switch for each word with which Slack may refuse what Deckhand does, in all workspaces of the demo. */
export function policyControls(slack: LocalSlack): Control[] {
  return [
    ...switchesOf(slack, 'Threads', THREADS),
    ...switchesOf(slack, 'Edits', EDITS),
    ...switchesOf(slack, 'Private answers', PRIVATE),
    ...switchesOf(slack, 'Rules of the workspace', RULES),
  ];
}

function switchesOf(slack: LocalSlack, group: string, refusals: readonly Refusal[]): Control[] {
  return refusals.map(({ word, says, policy, fault }) => ({
    ...demoSwitch(`${group}-${word}`, says, word, () => {
      const ends = [
        ...(policy ? DEMO_TEAMS.map((team) => slack.policy(team, policy)) : []),
        ...(fault ? [slack.fault(fault)] : []),
      ];
      return () => {
        for (const end of ends) end();
      };
    }),
    group,
  }));
}
