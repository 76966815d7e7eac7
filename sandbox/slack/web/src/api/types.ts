import type { AnyBlock, EntityMetadata, MessageAttachment, PlainTextElement } from '@slack/types';
import type { Place } from '../state/place.ts';

/** What the page and its server say to each other; README.md holds the routes. */
export interface Workspace {
  teams: Team[];
  controls: Control[];
}

export interface Team {
  id: string;
  name: string;
  domain: string;
  users: User[];
  channels: Channel[];
  apps: App[];
  commands: Command[];
  /** Made-up values for forms, by `callback_id`. */
  samples?: Readonly<Record<string, readonly Sample[]>>;
}

export interface Sample {
  label: string;
  value: string;
}

export interface User {
  id: string;
  name: string;
  real_name: string;
  title?: string;
  is_bot?: boolean;
  is_admin?: boolean;
  is_restricted?: boolean;
  is_ultra_restricted?: boolean;
  /** The workspace they come from, where it is another one. */
  team_id?: string;
  /** Whether they are met in shared channels only: the page cannot be theirs here. */
  elsewhere?: boolean;
}

export interface Channel {
  id: string;
  name: string;
  kind: 'public' | 'private' | 'im';
  /** The other person of a direct message. */
  user?: string;
  topic?: string;
  is_archived?: boolean;
  members: string[];
}

export interface App {
  id: string;
  name: string;
  bot_user: string;
  has_home: boolean;
  /** Whether people can only read in the direct messages with it. */
  reads_only?: boolean;
  shortcuts: Shortcut[];
}

interface Shortcut {
  type: 'global' | 'message';
  name: string;
  callback_id: string;
}

export interface Command {
  command: string;
  description: string;
  usage_hint: string;
  app_id: string;
}

export interface Message {
  ts: string;
  thread_ts?: string;
  user?: string;
  bot_id?: string;
  app_id?: string;
  username?: string;
  subtype?: string;
  text?: string;
  blocks?: AnyBlock[];
  attachments?: Attachment[];
  files?: SharedFile[];
  edited?: { user: string; ts: string };
  ephemeral?: boolean;
}

/** An unfurl may have a work object, whose pane can be opened. */
export type Attachment = MessageAttachment & { work_object_entity?: EntityMetadata };

/** The pane of a work object; without details or an error the app has not answered yet. */
export interface Pane {
  channel: string;
  ts: string;
  entity: EntityMetadata;
  details?: EntityMetadata;
  error?: { custom_title?: string; custom_message?: string };
}

export interface SharedFile {
  id: string;
  name?: string;
  title?: string;
  mimetype?: string;
  alt_txt?: string;
  size?: number;
}

export interface View {
  id: string;
  type: 'modal' | 'home';
  hash?: string;
  callback_id?: string;
  title?: PlainTextElement;
  submit?: PlainTextElement;
  close?: PlainTextElement;
  blocks: AnyBlock[];
  /** What its fields hold so far. */
  state?: { values: Values };
}

export type Container =
  | { type: 'message'; channel: string; ts: string }
  | { type: 'view'; view_id: string }
  | { type: 'pane' }
  | { type: 'none' };

/** One thing Deckhand was sent, and how it took it. */
export interface Delivery {
  id: string;
  /** Milliseconds since the epoch. */
  at: number;
  kind: string;
  name: string;
  status: number | null;
  ack_ms: number | null;
  attempt: number;
  error?: string;
  payload: unknown;
}

/** One Web API call Deckhand made. */
export interface Call {
  id: string;
  at: number;
  method: string;
  status: number;
  ok: boolean;
  error?: string;
  ms: number;
  args?: unknown;
}

/** A fault or a process the person may switch. */
export interface Control {
  id: string;
  label: string;
  kind: 'switch' | 'button';
  /** The heading under which it stands, if any. */
  group?: string;
  on?: boolean;
  hint?: string;
}

export type StreamEvent =
  /** Somebody shows the person around. */
  | { type: 'go'; at: Place['at']; thread?: string }
  /** Text that the guide types for them. */
  | { type: 'typed'; channel: string; text: string }
  | { type: 'message'; channel: string; message: Message }
  | { type: 'message_deleted'; channel: string; ts: string }
  | { type: 'views'; views: View[] }
  | { type: 'home'; app: string; view: View | null }
  | { type: 'pane'; pane: Pane | null }
  | { type: 'workspace' }
  | { type: 'delivery'; delivery: Delivery }
  | { type: 'call'; call: Call }
  | { type: 'controls'; controls: Control[] };

/** What one element holds, in the words of Slack's `view.state.values`. */
export interface ElementValue {
  type: string;
  [field: string]: unknown;
}

/** By block_id, then action_id. */
export type Values = Readonly<Record<string, Readonly<Record<string, ElementValue>>>>;
