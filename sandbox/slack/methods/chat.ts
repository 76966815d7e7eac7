import { z } from 'zod';
import { LIMITS } from '../block-kit/limits.ts';
import { botAuthor } from '../state/installs.ts';
import {
  changeMessage,
  deleteMessage,
  findMessage,
  listMessages,
  type MessageParts,
  storeMessage,
} from '../state/messages.ts';
import type { Channel } from '../state/people.ts';
import type { Json, StoredMessage, Workspace } from '../state/types.ts';
import { directMessage } from '../state/workspaces.ts';
import { flag, text } from '../web-api/args.ts';
import { SlackError } from '../web-api/errors.ts';
import { type Call, defineMethod, type Method, type Place } from '../web-api/method.ts';
import { refuseEdit, refuseEphemeral, refuseLongBlocks, refusePost } from '../web-api/policies.ts';
import { contentArgs, readContent } from './message-args.ts';
import { unfurlMethod } from './unfurl.ts';

const WRITE = ['chat:write'];
const PostArgs = z.object({
  channel: text,
  thread_ts: text.optional(),
  reply_broadcast: flag.optional(),
  client_msg_id: text.optional(),
  username: text.optional(),
  ...contentArgs,
});

const EphemeralArgs = z.object({
  channel: text,
  user: text,
  thread_ts: text.optional(),
  ...contentArgs,
});

const UpdateArgs = z.object({ channel: text, ts: text, ...contentArgs });

export const chatMethods: Method[] = [
  defineMethod({
    name: 'chat.postMessage',
    scopes: WRITE,
    tier: 'posting',
    json: true,
    args: PostArgs,
    run: post,
  }),
  defineMethod({
    name: 'chat.postEphemeral',
    scopes: WRITE,
    tier: 4,
    json: true,
    args: EphemeralArgs,
    run: postEphemeral,
  }),
  defineMethod({ name: 'chat.update', scopes: WRITE, tier: 3, json: true, args: UpdateArgs, run: update }),
  defineMethod({
    name: 'chat.delete',
    scopes: WRITE,
    tier: 3,
    json: true,
    args: z.object({ channel: text, ts: text }),
    run: remove,
  }),
  defineMethod({
    name: 'chat.getPermalink',
    tier: 'free',
    json: false,
    args: z.object({ channel: text, message_ts: text }),
    run: getPermalink,
  }),
  unfurlMethod,
];

/** Where a post goes: a channel by id or name, or a person, which means their direct message with the app. */
function findPlace(call: Call, id: string): Place {
  const isPerson = call.workspaces.some((workspace) => workspace.people.has(id));
  if (!isPerson) return call.channel(id);
  const { workspace, person } = call.person(id);
  const { installation } = workspace;
  if (!installation || person.deleted || person.is_bot) throw new SlackError('channel_not_found');
  return { workspace, channel: directMessage(call.world, workspace, id), installation };
}

function checkPostable(call: Call, { channel, installation }: Place): void {
  if (channel.archived) throw new SlackError('is_archived');
  if (channel.kind === 'im' && !call.world.app.messagesTab) throw new SlackError('messages_tab_disabled');
  const mayPost =
    channel.members.has(installation.botUserId) || call.token.scopes.includes('chat:write.public');
  if (!mayPost) throw new SlackError('not_in_channel');
}

function post(call: Call, args: z.infer<typeof PostArgs>): Json {
  const place = findPlace(call, args.channel);
  checkPostable(call, place);
  refusePost(place, args.thread_ts || undefined);
  const { workspace, channel, installation } = place;
  const content = readContent(workspace, args);
  refuseLongBlocks(workspace, content.blocks);
  const cut = [...content.text].length > LIMITS.postText;
  const thread = rootOf(workspace, channel, args.thread_ts);
  const parts: MessageParts = {
    ...content,
    text: cut ? [...content.text].slice(0, LIMITS.postText).join('') : content.text,
    thread_ts: thread,
    // Nothing documents that Slack tells repeated posts by this, so it is only kept and shown.
    client_msg_id: args.client_msg_id,
    subtype: args.reply_broadcast && thread !== undefined ? 'thread_broadcast' : undefined,
    username: call.token.scopes.includes('chat:write.customize') ? args.username : undefined,
  };
  const author = botAuthor(call.world, installation);
  const { record } = storeMessage(call.world, workspace, channel, author, parts);
  return { channel: channel.id, ts: record.ts, message: record, ...(cut ? TRUNCATED : {}) };
}

const TRUNCATED = {
  warning: 'message_truncated',
  response_metadata: { warnings: ['message_truncated'] },
};

/**
 * A reply to a reply lands in the same thread. A thread with replies outlives its root. A reply to any other deleted
 * message lands at the top level, without an error.
 */
function rootOf(workspace: Workspace, channel: Channel, threadTs: string | undefined): string | undefined {
  if (threadTs === undefined || threadTs === '') return undefined;
  const target = findMessage(workspace, channel.id, threadTs);
  if (target?.ephemeralTo) throw new SlackError('cannot_reply_to_message');
  if (target !== undefined) return target.record.thread_ts ?? threadTs;
  return hasReplies(workspace, channel, threadTs) ? threadTs : undefined;
}

function hasReplies(workspace: Workspace, channel: Channel, threadTs: string): boolean {
  return listMessages(workspace, channel.id).some(({ record }) => record.thread_ts === threadTs);
}

function postEphemeral(call: Call, args: z.infer<typeof EphemeralArgs>): Json {
  const place = findPlace(call, args.channel);
  checkPostable(call, place);
  const { workspace, channel, installation } = place;
  if (!channel.members.has(args.user)) throw new SlackError('user_not_in_channel');
  refuseEphemeral(place, args.thread_ts || undefined);
  const content = readContent(workspace, args);
  if ([...content.text].length > LIMITS.postText) throw new SlackError('msg_too_long');
  // Slack shows it in a thread that has begun, and takes it for any.
  const thread = args.thread_ts || undefined;
  if (thread !== undefined && !hasReplies(workspace, channel, thread))
    return { message_ts: call.world.time.nextTs() };
  const parts = { ...content, thread_ts: thread };
  const author = botAuthor(call.world, installation);
  const stored = storeMessage(call.world, workspace, channel, author, parts, args.user);
  return { message_ts: stored.record.ts };
}

/** A message this bot may change; ephemeral ones are not found. */
function findOwn(call: Call, args: { channel: string; ts: string }, refusal: string) {
  const place = call.channel(args.channel);
  const stored = findMessage(place.workspace, place.channel.id, args.ts);
  if (!stored || stored.ephemeralTo) throw new SlackError('message_not_found');
  if (stored.record.bot_id !== place.installation.botId) throw new SlackError(refusal);
  return { ...place, stored };
}

function update(call: Call, args: z.infer<typeof UpdateArgs>): Json {
  const { workspace, channel, stored } = findOwn(call, args, 'cant_update_message');
  if (channel.archived) throw new SlackError('is_inactive');
  refuseEdit({ workspace, channel });
  if ([...(args.text ?? '')].length > LIMITS.updateText) throw new SlackError('msg_too_long');
  const parts = updatedParts(workspace, args, stored);
  changeMessage(call.world, workspace, stored, parts, true);
  const { record } = stored;
  return { channel: channel.id, ts: record.ts, text: record.text, message: record };
}

/** Text without blocks takes the blocks away; attachments and metadata stay unless they are given. */
function updatedParts(
  workspace: Workspace,
  args: z.infer<typeof UpdateArgs>,
  stored: StoredMessage,
): MessageParts {
  const content = readContent(workspace, args);
  const saysNothing = args.text === undefined && args.markdown_text === undefined;
  const keepsBlocks = saysNothing && args.blocks === undefined;
  return {
    ...content,
    text: saysNothing ? stored.record.text : content.text,
    blocks: keepsBlocks ? stored.record.blocks : content.blocks,
    attachments: args.attachments === undefined ? stored.record.attachments : content.attachments,
    metadata: args.metadata === undefined ? stored.record.metadata : content.metadata,
  };
}

function remove(call: Call, args: { channel: string; ts: string }): Json {
  const { workspace, channel, stored } = findOwn(call, args, 'cant_delete_message');
  deleteMessage(call.world, workspace, stored);
  return { channel: channel.id, ts: stored.record.ts };
}

function getPermalink(call: Call, args: { channel: string; message_ts: string }): Json {
  const { workspace, channel } = call.channel(args.channel);
  const stored = findMessage(workspace, channel.id, args.message_ts);
  if (!stored || stored.ephemeralTo) throw new SlackError('message_not_found');
  return { channel: channel.id, permalink: permalinkOf(workspace, channel.id, stored) };
}

function permalinkOf(workspace: Workspace, channelId: string, { record }: StoredMessage): string {
  const thread =
    record.thread_ts && record.thread_ts !== record.ts
      ? `?thread_ts=${record.thread_ts}&cid=${channelId}`
      : '';
  return `https://${workspace.domain}.slack.com/archives/${channelId}/p${record.ts.replace('.', '')}${thread}`;
}
