import { z } from 'zod';
import { findMessage, isReply, listMessages } from '../state/messages.ts';
import type { Channel } from '../state/people.ts';
import type { Json, StoredMessage, Workspace } from '../state/types.ts';
import { directMessage } from '../state/workspaces.ts';
import { flag, paging, text } from '../web-api/args.ts';
import { SlackError } from '../web-api/errors.ts';
import { type Call, defineMethod, type Method } from '../web-api/method.ts';
import { paginate } from '../web-api/paging.ts';
import { channelRecord } from './channel-record.ts';

const READ = ['channels:read', 'groups:read', 'im:read', 'mpim:read'];
const HISTORY = ['channels:history', 'groups:history', 'im:history', 'mpim:history'];
const OPEN = ['im:write', 'mpim:write', 'groups:write', 'channels:manage'];

/** Which word a scope has for a kind of conversation. */
const SCOPE_WORD = { public: 'channels', private: 'groups', im: 'im' } as const;
const TYPE_KINDS = { public_channel: 'public', private_channel: 'private', im: 'im', mpim: 'mpim' } as const;
const TYPE_SCOPES = {
  public_channel: 'channels',
  private_channel: 'groups',
  im: 'im',
  mpim: 'mpim',
} as const;

export const conversationMethods: Method[] = [
  defineMethod({
    name: 'conversations.open',
    scopes: OPEN,
    tier: 3,
    json: true,
    args: z.object({
      users: text.optional(),
      channel: text.optional(),
      return_im: flag.optional(),
      prevent_creation: flag.optional(),
    }),
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
      requireScope(call, found.channel, 'read');
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
      requireScope(call, channel, 'read');
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
  if (!call.token.scopes.includes('im:write')) {
    throw new SlackError('missing_scope', { needed: 'im:write', provided: call.token.scopes.join(',') });
  }
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
  const types = args.types.split(',').map((type) => type.trim());
  for (const type of types) {
    if (!(type in TYPE_KINDS)) throw new SlackError('invalid_types');
    const needed = `${TYPE_SCOPES[type as keyof typeof TYPE_SCOPES]}:read`;
    if (!call.token.scopes.includes(needed)) {
      throw new SlackError('missing_scope', { needed, provided: call.token.scopes.join(',') });
    }
  }
  const kinds = new Set<string>(types.map((type) => TYPE_KINDS[type as keyof typeof TYPE_KINDS]));
  const workspace = call.workspace(args.team_id);
  const { installation } = workspace;
  if (!installation) throw new SlackError('account_inactive');
  const seen = [...workspace.channels.values()].filter(
    (channel) =>
      kinds.has(channel.kind) &&
      (channel.kind === 'public' || channel.members.has(installation.botUserId)) &&
      !(args.exclude_archived && channel.archived),
  );
  const { page, response_metadata } = paginate(seen, args);
  return {
    channels: page.map((channel) => channelRecord({ world: call.world, workspace, channel, installation })),
    response_metadata,
  };
}

function requireScope(call: Call, channel: Channel, verb: 'read' | 'history'): void {
  const needed = `${SCOPE_WORD[channel.kind]}:${verb}`;
  if (call.token.scopes.includes(needed)) return;
  throw new SlackError('missing_scope', { needed, provided: call.token.scopes.join(',') });
}

function readable(call: Call, id: string): { workspace: Workspace; channel: Channel } {
  const { workspace, channel, installation } = call.channel(id);
  requireScope(call, channel, 'history');
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
