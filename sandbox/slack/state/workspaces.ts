import type { World } from '../world.ts';
import { newId } from './ids.ts';
import { type Channel, type Person, type PersonOptions, toPerson } from './people.ts';
import type { Policy, UserGroup, Workspace } from './types.ts';

export interface ChannelOptions {
  id?: string;
  name: string;
  members?: string[];
  is_private?: boolean;
  is_archived?: boolean;
  topic?: string;
  /** What is not allowed in it. */
  policy?: Omit<Policy, 'channel'>;
  /** Whether the app's bot is in it, true by default. */
  bot_is_member?: boolean;
}

export interface WorkspaceOptions {
  id?: string;
  name?: string;
  domain?: string;
  users: PersonOptions[];
  channels: ChannelOptions[];
  userGroups?: UserGroup[];
  /** Whether the app is installed at once, true by default. */
  installed?: boolean;
  enterprise?: { id: string; name: string };
  policies?: Policy[];
}

export function createWorkspace(world: World, options: WorkspaceOptions): Workspace {
  const id = options.id ?? newId('T');
  if (world.workspaces.has(id)) throw new Error(`there is a workspace ${id} already`);
  const name = options.name ?? 'Acme';
  const workspace: Workspace = {
    id,
    name,
    domain: options.domain ?? name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-'),
    ...(options.enterprise ? { enterprise: options.enterprise } : {}),
    people: new Map(options.users.map((user) => [user.id, toPerson(user)])),
    channels: new Map(),
    messages: new Map(),
    userGroups: new Map((options.userGroups ?? []).map((group) => [group.id, group])),
    files: new Map(),
    stacks: new Map(),
    homes: new Map(),
    panes: new Map(),
    functionRuns: new Map(),
    messageStates: new Map(),
    suggested: new Map(),
    policies: new Set(options.policies ?? []),
    installation: undefined,
  };
  for (const channel of options.channels) addChannel(workspace, channel);
  world.workspaces.set(id, workspace);
  world.changes.emit({ type: 'workspace', team: id });
  return workspace;
}

/** @throws RangeError where there is no such workspace */
export function workspaceOf(world: World, teamId: string): Workspace {
  const workspace = world.workspaces.get(teamId);
  if (!workspace) throw new RangeError(`there is no workspace ${teamId}`);
  return workspace;
}

/** @throws RangeError where there is no such channel */
export function channelOf(workspace: Workspace, channelId: string): Channel {
  const channel = workspace.channels.get(channelId) ?? findByName(workspace, channelId);
  if (!channel) throw new RangeError(`there is no channel ${channelId} in ${workspace.id}`);
  return channel;
}

/** @throws RangeError where there is no such person */
export function personOf(workspace: Workspace, userId: string): Person {
  const person = workspace.people.get(userId);
  if (!person) throw new RangeError(`there is no user ${userId} in ${workspace.id}`);
  return person;
}

export function findByName(workspace: Workspace, name: string): Channel | undefined {
  const bare = name.replace(/^#/, '');
  return [...workspace.channels.values()].find((channel) => channel.kind !== 'im' && channel.name === bare);
}

export function addChannel(workspace: Workspace, options: ChannelOptions): Channel {
  const channel: Channel = {
    id: options.id ?? newId('C'),
    name: options.name,
    kind: options.is_private ? 'private' : 'public',
    members: new Set(options.members ?? usualMembers(workspace)),
    archived: options.is_archived ?? false,
    topic: options.topic ?? '',
    sharedWith: [],
  };
  // The bot has no id before it is installed; until then its place is kept.
  if (options.bot_is_member ?? true) channel.members.add(workspace.installation?.botUserId ?? BOT_TO_COME);
  workspace.channels.set(channel.id, channel);
  if (options.policy) workspace.policies.add({ ...options.policy, channel: channel.id });
  return channel;
}

/** Everybody, but guests of a single channel only in the first. */
function usualMembers(workspace: Workspace): string[] {
  const isFirst = workspace.channels.size === 0;
  return [...workspace.people.values()]
    .filter((person) => isFirst || !person.is_ultra_restricted)
    .map((person) => person.id);
}

/** Stands in a channel's members for a bot that is not installed yet. */
export const BOT_TO_COME = 'the bot';

/** The direct message between the app and a person, made when first used. */
export function directMessage(world: World, workspace: Workspace, userId: string): Channel {
  const known = [...workspace.channels.values()].find((channel) => channel.user === userId);
  if (known) return known;
  const bot = workspace.installation?.botUserId;
  const channel: Channel = {
    id: newId('D'),
    name: 'directmessage',
    kind: 'im',
    members: new Set(bot ? [userId, bot] : [userId]),
    archived: false,
    topic: '',
    user: userId,
    sharedWith: [],
  };
  workspace.channels.set(channel.id, channel);
  world.changes.emit({ type: 'workspace', team: workspace.id });
  return channel;
}
