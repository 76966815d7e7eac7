import type { World } from '../world.ts';
import { fillIds } from './fill-ids.ts';
import type { Channel } from './people.ts';
import type { Json, MessageRecord, SeenMessage, StoredMessage, Workspace } from './types.ts';

/** What a message is made of; absent parts stay absent. */
export interface MessageParts {
  text?: string | undefined;
  blocks?: Json[] | undefined;
  attachments?: Json[] | undefined;
  metadata?: Json | undefined;
  files?: Json[] | undefined;
  thread_ts?: string | undefined;
  subtype?: string | undefined;
  client_msg_id?: string | undefined;
  username?: string | undefined;
}

export interface Author {
  user: string;
  /** Where they come from, if not from the workspace. */
  team?: string;
  bot_id?: string;
  app_id?: string;
}

export function storeMessage(
  world: World,
  workspace: Workspace,
  channel: Channel,
  author: Author,
  parts: MessageParts,
  ephemeralTo?: string,
): StoredMessage {
  const record: MessageRecord = {
    type: 'message',
    ts: world.time.nextTs(),
    team: workspace.id,
    ...author,
    text: parts.text ?? '',
    ...contentOf(parts),
  };
  const stored: StoredMessage = {
    channel: channel.id,
    record,
    history: [],
    ...(ephemeralTo ? { ephemeralTo } : {}),
  };
  messagesIn(workspace, channel.id).set(record.ts, stored);
  if (!ephemeralTo) countReply(world, workspace, stored);
  announce(world, workspace, stored);
  return stored;
}

/** Changes what a message says; parts that are given as undefined are taken away. */
export function changeMessage(
  world: World,
  workspace: Workspace,
  stored: StoredMessage,
  parts: MessageParts,
  edited: boolean,
): void {
  const { blocks: _blocks, attachments: _attachments, metadata: _metadata, ...rest } = stored.record;
  stored.history.push(stored.record);
  stored.record = {
    ...rest,
    text: parts.text ?? '',
    ...contentOf({ ...parts, thread_ts: rest.thread_ts }),
    ...(edited ? { edited: { user: rest.user, ts: world.time.nextTs() } } : {}),
  };
  announce(world, workspace, stored);
}

/** Says that a message is not what it was, in each workspace that has its channel. */
export function announce(world: World, workspace: Workspace, stored: StoredMessage): void {
  const { channel, record } = stored;
  for (const team of teamsWith(workspace, channel)) {
    world.changes.emit({ type: 'message', team, channel, ts: record.ts });
  }
}

function teamsWith(workspace: Workspace, channelId: string): string[] {
  return [workspace.id, ...(workspace.channels.get(channelId)?.sharedWith ?? [])];
}

export function deleteMessage(world: World, workspace: Workspace, stored: StoredMessage): void {
  workspace.messages.get(stored.channel)?.delete(stored.record.ts);
  for (const team of teamsWith(workspace, stored.channel)) {
    world.changes.emit({
      type: 'message_deleted',
      team,
      channel: stored.channel,
      ts: stored.record.ts,
      ...(stored.ephemeralTo ? { user: stored.ephemeralTo } : {}),
    });
  }
}

export function findMessage(workspace: Workspace, channelId: string, ts: string): StoredMessage | undefined {
  return workspace.messages.get(channelId)?.get(ts);
}

/** What stands in a channel for a person: what all see and, with `userId`, what only they see. */
export function listMessages(workspace: Workspace, channelId: string, userId?: string): StoredMessage[] {
  return [...messagesIn(workspace, channelId).values()].filter(
    (stored) => !stored.ephemeralTo || stored.ephemeralTo === userId,
  );
}

export function isReply({ record }: StoredMessage): boolean {
  return record.thread_ts !== undefined && record.thread_ts !== record.ts;
}

export function toSeen({ record, channel, history, ephemeralTo }: StoredMessage): SeenMessage {
  return { ...record, channel, edits: history, ...(ephemeralTo ? { ephemeral: true as const } : {}) };
}

function contentOf(parts: MessageParts): Partial<MessageRecord> {
  const entries = {
    subtype: parts.subtype,
    thread_ts: parts.thread_ts,
    blocks: parts.blocks?.length ? fillIds(parts.blocks) : undefined,
    attachments: parts.attachments?.length ? parts.attachments.map(fillAttachment) : undefined,
    metadata: parts.metadata,
    files: parts.files,
    client_msg_id: parts.client_msg_id,
    username: parts.username,
  };
  return Object.fromEntries(Object.entries(entries).filter(([, value]) => value !== undefined));
}

function fillAttachment(attachment: Json): Json {
  return Array.isArray(attachment.blocks)
    ? { ...attachment, blocks: fillIds(attachment.blocks) }
    : attachment;
}

export function messagesIn(workspace: Workspace, channelId: string): Map<string, StoredMessage> {
  const known = workspace.messages.get(channelId);
  if (known) return known;
  const fresh = new Map<string, StoredMessage>();
  workspace.messages.set(channelId, fresh);
  return fresh;
}

function countReply(world: World, workspace: Workspace, reply: StoredMessage): void {
  if (!isReply(reply) || !reply.record.thread_ts) return;
  const root = findMessage(workspace, reply.channel, reply.record.thread_ts);
  if (!root) return;
  root.record = {
    ...root.record,
    thread_ts: root.record.ts,
    reply_count: (root.record.reply_count ?? 0) + 1,
    latest_reply: reply.record.ts,
  };
  announce(world, workspace, root);
}
