import { z } from 'zod';
import { findMessage, isReply, listMessages } from '../state/messages.ts';
import { type Channel, SCOPE_WORDS } from '../state/people.ts';
import type { Json, StoredMessage, Workspace } from '../state/types.ts';
import { directMessage } from '../state/workspaces.ts';
import { flag, paging, text } from '../web-api/args.ts';
import { missingScope, SlackError } from '../web-api/errors.ts';
import { type Call, defineMethod, type Method } from '../web-api/method.ts';
import { paginate } from '../web-api/paging.ts';
import { channelRecord } from './channel-record.ts';

const READ = ['channels:read', 'groups:read', 'im:read', 'mpim:read'];
const HISTORY = ['channels:history', 'groups:history', 'im:history', 'mpim:history'];
const OPEN = ['im:write', 'mpim:write', 'groups:write', 'channels:manage'];

/** The word that scopes have for a type of conversation. */
const TYPE_WORDS = new Map([
  ['public_channel', 'channels'],
  ['private_channel', 'groups'],
  ['im', 'im'],
  ['mpim', 'mpim'],
]);

export const conversationMethods: Method[] = [
  defineMethod({
    name: 'conversations.open',
    scopes: OPEN,
    tier: 3,
    json: true,
    args: z.object({ users: text.optional(), channel: text.optional() }),
    run: openConversation,
  }),
  defineMethod({
    name: 'conversations.info',
    scopes: READ,
    tier: 3,
    json: false,
    args: z.object({ channel: text, include_num_members: flag.optional() }),
    run: (call, args) => {
      const found = call.channel(args.channel);
      requireScope(call, `${SCOPE_WORDS[found.channel.kind]}:read`);
      const count = args.include_num_members ? { num_members: found.channel.members.size } : {};
      return { channel: { ...channelRecord({ ...found, world: call.world }), ...count } };
    },
  }),
  defineMethod({
    name: 'conversations.list',
    scopes: READ,
    tier: 2,
    json: false,
    args: z.object({
      ...paging,
      types: text.default('public_channel'),
      exclude_archived: flag.optional(),
      team_id: text.optional(),
    }),
    run: listConversations,
  }),
  defineMethod({
    name: 'conversations.members',
    scopes: READ,
    tier: 4,
    json: false,
    args: z.object({ ...paging, channel: text }),
    run: (call, args) => {
      const { channel } = call.channel(args.channel);
      requireScope(call, `${SCOPE_WORDS[channel.kind]}:read`);
      const { page, response_metadata } = paginate([...channel.members], args);
      return { members: page, response_metadata };
    },
  }),
  defineMethod({
    name: 'conversations.join',
    scopes: ['channels:join'],
    tier: 3,
    json: true,
    args: z.object({ channel: text }),
    run: (call, args) => {
      const found = call.channel(args.channel);
      if (found.channel.kind !== 'public') throw new SlackError('method_not_supported_for_channel_type');
      if (found.channel.archived) throw new SlackError('is_archived');
      found.channel.members.add(found.installation.botUserId);
      return { channel: channelRecord({ ...found, world: call.world }) };
    },
  }),
  defineMethod({
    name: 'conversations.history',
    scopes: HISTORY,
    tier: 3,
    json: true,
    args: z.object({ ...paging, channel: text }),
    run: (call, args) => {
      const found = readable(call, args.channel);
      const roots = listMessages(found.workspace, found.channel.id).filter((one) => !isReply(one));
      return messagePage(roots.reverse(), args);
    },
  }),
  defineMethod({
    name: 'conversations.replies',
    scopes: HISTORY,
    tier: 3,
    json: false,
    args: z.object({ ...paging, channel: text, ts: text }),
    run: (call, args) => {
      const { workspace, channel } = readable(call, args.channel);
      if (!findMessage(workspace, channel.id, args.ts)) throw new SlackError('thread_not_found');
      const thread = listMessages(workspace, channel.id).filter(
        ({ record }) => record.ts === args.ts || record.thread_ts === args.ts,
      );
      return messagePage(thread, args);
    },
  }),
];

function openConversation(
  call: Call,
  args: { users?: string | undefined; channel?: string | undefined },
): Json {
  if (args.channel) return { channel: { id: call.channel(args.channel).channel.id } };
  const users = args.users?.split(',').filter(Boolean) ?? [];
  const [user] = users;
  if (!user) throw new SlackError('users_list_not_supplied');
  // Conversations of several people are outside what the app does.
  if (users.length > 1) throw new SlackError('method_not_supported_for_channel_type');
  requireScope(call, 'im:write');
  const { workspace, person } = call.person(user);
  if (person.deleted) throw new SlackError('user_disabled');
  return { channel: { id: directMessage(call.world, workspace, person.id).id } };
}

function listConversations(
  call: Call,
  args: {
    types: string;
    exclude_archived?: boolean | undefined;
    team_id?: string | undefined;
    cursor?: string | undefined;
    limit?: number | undefined;
  },
): Json {
  const words = args.types.split(',').map((type) => TYPE_WORDS.get(type.trim()));
  for (const word of words) {
    if (word === undefined) throw new SlackError('invalid_types');
    requireScope(call, `${word}:read`);
  }
  const workspace = call.workspace(args.team_id);
  const { installation } = workspace;
  if (!installation) throw new SlackError('account_inactive');
  const seen = [...workspace.channels.values()].filter(
    (channel) =>
      words.includes(SCOPE_WORDS[channel.kind]) &&
      (channel.kind === 'public' || channel.members.has(installation.botUserId)) &&
      !(args.exclude_archived && channel.archived),
  );
  const { page, response_metadata } = paginate(seen, args);
  return {
    channels: page.map((channel) => channelRecord({ world: call.world, workspace, channel, installation })),
    response_metadata,
  };
}

function requireScope({ token }: Call, needed: string): void {
  if (!token.scopes.includes(needed)) throw missingScope(needed, token.scopes);
}

function readable(call: Call, id: string): { workspace: Workspace; channel: Channel } {
  const { workspace, channel, installation } = call.channel(id);
  requireScope(call, `${SCOPE_WORDS[channel.kind]}:history`);
  if (!channel.members.has(installation.botUserId)) throw new SlackError('not_in_channel');
  return { workspace, channel };
}

function messagePage(
  messages: StoredMessage[],
  args: { cursor?: string | undefined; limit?: number | undefined },
): Json {
  const { page, response_metadata } = paginate(messages, args);
  return {
    messages: page.map(({ record }) => record),
    has_more: response_metadata.next_cursor !== '',
    response_metadata,
  };
}
