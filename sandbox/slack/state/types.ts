/** The records of a workspace, in Slack's own words where Slack has them. */

import type { Channel, Person } from './people.ts';

export type Json = Record<string, unknown>;

/** A message as the Web API and interaction payloads show it. */
export interface MessageRecord {
  type: 'message';
  ts: string;
  user: string;
  text: string;
  team: string;
  subtype?: string;
  bot_id?: string;
  app_id?: string;
  thread_ts?: string;
  blocks?: Json[];
  attachments?: Json[];
  metadata?: Json;
  files?: Json[];
  edited?: { user: string; ts: string };
  client_msg_id?: string;
  reply_count?: number;
  latest_reply?: string;
  username?: string;
}

export interface StoredMessage {
  channel: string;
  record: MessageRecord;
  /** Earlier versions, oldest first. */
  history: MessageRecord[];
  /** Set where only this person sees it. */
  ephemeralTo?: string;
}

/** A message as a test reads it. */
export type SeenMessage = MessageRecord & {
  channel: string;
  edits: readonly MessageRecord[];
  ephemeral?: true;
};

export interface UserGroup {
  id: string;
  handle: string;
  name: string;
  users: string[];
}

export interface SlackFile {
  id: string;
  teamId: string;
  name: string;
  title: string;
  mimetype: string;
  filetype: string;
  /** Announced at first, then what really came. */
  size: number;
  altText?: string;
  bytes?: Buffer;
  completed: boolean;
  uploadKey: string;
  user: string;
  created: number;
  /** Where it was shared: channel and the ts of the message that carries it. */
  shares: { channel: string; ts: string; thread_ts?: string }[];
}

export interface OpenView {
  id: string;
  /** Where the person is who has it open. */
  teamId: string;
  /** The workspace whose installation opened it. */
  installedTeamId: string;
  userId: string;
  /** As the app sent it, with the ids that Slack fills in. */
  content: Json & { type: 'modal' | 'home'; blocks: Json[] };
  /** What the person has put in: block_id, then action_id. */
  values: StateValues;
  hash: string;
  rootId: string;
  previousId: string | null;
  externalId: string;
  /** Faults shown under fields, by block_id. */
  errors: Record<string, string>;
}

/** The pane of a work object, and what the app put into it; empty until it has answered. */
export interface Pane {
  channel: string;
  ts: string;
  /** The card that was clicked. */
  entity: Json;
  details?: Json;
  error?: Json;
  /** Where the person is to sign in first. */
  authUrl?: string;
}

export type StateValues = Record<string, Record<string, Json>>;

export interface FunctionRun {
  id: string;
  teamId: string;
  callbackId: string;
  token: string;
  inputs: Json;
  state: 'running' | 'succeeded' | 'failed';
  outputs?: Json;
  error?: string;
}

export interface Installation {
  botUserId: string;
  botId: string;
  scopes: string[];
  installedAt: number;
  enterpriseId?: string;
}

/**
 * What the people who run a workspace or a channel do not allow. Each is the word with which Slack refuses, and lasts
 * until it is taken away again.
 */
export interface Policy {
  /** Only in this channel, by id or name; else in the whole workspace. */
  channel?: string;
  /** Only in this thread of it, by the root's ts. */
  thread?: string;
  /** Every call for the workspace is refused. */
  access?: 'enterprise_is_restricted' | 'team_access_not_granted' | 'ekm_access_denied';
  /** Every message of the app is refused. */
  posts?: 'restricted_action' | 'restricted_action_read_only_channel';
  /** Messages that are no thread replies are refused. */
  topLevel?: 'restricted_action_thread_only_channel';
  /** Thread replies are refused. */
  threads?:
    | 'restricted_action'
    | 'restricted_action_non_threadable_channel'
    | 'restricted_action_thread_locked'
    | 'restricted_action_thread_only_channel'
    | 'cannot_reply_to_message';
  /** Edits of the app's messages are refused. */
  edits?: 'update_failed' | 'edit_window_closed' | 'is_inactive' | 'cant_update_message';
  /** Messages that one person would see are refused. */
  ephemerals?: 'user_not_in_channel' | 'not_in_channel' | 'channel_not_found' | 'is_archived';
  /** Answers to a response_url are refused, from the first. */
  responseUrls?: 'used_url' | 'expired_url';
  /** Files are refused when they are announced. */
  uploads?: 'file_uploads_disabled' | 'file_uploads_except_images_disabled' | 'storage_limit_reached';
  /** Files of other types than these are refused (`file_type_not_allowed`), e.g. `png`. */
  fileTypes?: readonly string[];
  /** Files are refused when they are shared in a channel. */
  sharing?: 'posting_to_channel_denied';
  /** Blocks that are longer as JSON are refused (`msg_blocks_too_long`). */
  longestBlocks?: number;
  /** Blocks of these types are refused (`invalid_blocks`), as by a workspace that does not have them yet. */
  refusedBlocks?: readonly string[];
}

export interface Workspace {
  id: string;
  name: string;
  domain: string;
  enterprise?: { id: string; name: string };
  people: Map<string, Person>;
  channels: Map<string, Channel>;
  /** By channel, then by ts. */
  messages: Map<string, Map<string, StoredMessage>>;
  userGroups: Map<string, UserGroup>;
  files: Map<string, SlackFile>;
  /** Open modals by person, the lowest first. */
  stacks: Map<string, OpenView[]>;
  homes: Map<string, OpenView>;
  /** The pane of a work object that each person has open. */
  panes: Map<string, Pane>;
  functionRuns: Map<string, FunctionRun>;
  /** What people put into elements of messages: by channel, ts and person. */
  messageStates: Map<string, StateValues>;
  /** Options that external selects were last offered: by container and action_id. */
  suggested: Map<string, Json[]>;
  installation: Installation | undefined;
  /** What is not allowed here. */
  policies: Set<Policy>;
  /** Our bot, also while it is uninstalled. */
  botUserId?: string;
}
