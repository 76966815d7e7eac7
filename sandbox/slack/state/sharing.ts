import type { World } from '../world.ts';
import { messagesIn } from './messages.ts';
import type { Channel, Person } from './people.ts';
import type { Workspace } from './types.ts';
import { BOT_TO_COME } from './workspaces.ts';

/** Channels that two workspaces have in common, and the people who meet there (Slack Connect, or one organisation). */

export interface ShareOptions {
  /** What the channel is called there; the same by default. */
  name?: string;
  is_private?: boolean;
  /** Who of there comes in; everybody by default. */
  members?: string[];
  /** Whether the app's bot of that workspace comes in too, false by default. */
  bot_is_member?: boolean;
}

/** Gives another workspace the same channel: one id, the same members and messages. */
export function shareChannel(
  world: World,
  owner: Workspace,
  channel: Channel,
  other: Workspace,
  options: ShareOptions = {},
): Channel {
  if (other.channels.has(channel.id)) throw new RangeError(`${other.id} has a channel ${channel.id} already`);
  const sharers = [owner.id, ...channel.sharedWith];
  for (const id of sharers) world.workspaces.get(id)?.channels.get(channel.id)?.sharedWith.push(other.id);
  for (const id of options.members ?? other.people.keys()) {
    if (id !== other.installation?.botUserId) channel.members.add(id);
  }
  if (options.bot_is_member) channel.members.add(other.installation?.botUserId ?? BOT_TO_COME);
  const shared: Channel = {
    ...channel,
    name: options.name ?? channel.name,
    kind: options.is_private ? 'private' : 'public',
    sharedWith: sharers,
  };
  other.channels.set(channel.id, shared);
  other.messages.set(channel.id, messagesIn(owner, channel.id));
  for (const id of [...sharers, other.id]) world.changes.emit({ type: 'workspace', team: id });
  return shared;
}

/** A workspace as payloads name it. */
export interface Home {
  id: string;
  domain: string;
  enterprise?: { id: string; name: string };
}

/** Where somebody comes from, who may be in `seat` as somebody of elsewhere. */
export function homeOf(world: World, seat: Workspace, person: Person): Home {
  if (person.team_id === undefined || person.team_id === seat.id) return seat;
  return world.workspaces.get(person.team_id) ?? { id: person.team_id, domain: person.team_id.toLowerCase() };
}

/** Whether two workspaces are of one company: the same, or in one organisation. */
export function areOfOne(one: Home, other: Home): boolean {
  return one.id === other.id || (one.enterprise !== undefined && one.enterprise.id === other.enterprise?.id);
}

/** The other workspaces that have people in a channel. */
export function otherTeams(world: World, workspace: Workspace, channel: Channel): Home[] {
  const guests = [...channel.members].flatMap((id) => {
    const person = workspace.people.get(id);
    return person?.team_id && person.team_id !== workspace.id ? [homeOf(world, workspace, person)] : [];
  });
  const sharers = channel.sharedWith.flatMap((id) => world.workspaces.get(id) ?? []);
  return [...new Map([...sharers, ...guests].map((home) => [home.id, home])).values()];
}

/** Whether people of another company are in a channel. */
export function isExternallyShared(world: World, workspace: Workspace, channel: Channel): boolean {
  return otherTeams(world, workspace, channel).some((home) => !areOfOne(workspace, home));
}

/** Somebody, and the workspace in which they are found. */
export interface Seated {
  seat: Workspace;
  person: Person;
}

/** Whether somebody is of another company than `workspace`. */
export function isForeign(world: World, workspace: Workspace, { seat, person }: Seated): boolean {
  return !areOfOne(workspace, homeOf(world, seat, person));
}

/** Finds a person of a workspace, or of another one that shares a channel with it in which they are. */
export function findSeated(world: World, workspace: Workspace, userId: string): Seated | undefined {
  const own = workspace.people.get(userId);
  if (own) return { seat: workspace, person: own };
  for (const channel of workspace.channels.values()) {
    if (!channel.members.has(userId)) continue;
    for (const id of channel.sharedWith) {
      const seat = world.workspaces.get(id);
      const person = seat?.people.get(userId);
      if (seat && person) return { seat, person };
    }
  }
  return undefined;
}

/** Whether the app, where it is installed in `workspace`, shares a channel with somebody. */
export function meetsApp(workspace: Workspace, userId: string): boolean {
  const bot = workspace.installation?.botUserId ?? '';
  return [...workspace.channels.values()].some(
    (channel) =>
      channel.kind !== 'im' &&
      channel.members.has(userId) &&
      (channel.kind === 'public' || channel.members.has(bot)),
  );
}
