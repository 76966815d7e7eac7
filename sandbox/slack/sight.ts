import { isReply, listMessages, toSeen } from './state/messages.ts';
import type { SeenMessage, StoredMessage, Workspace } from './state/types.ts';
import { stackOf } from './state/views.ts';
import { channelOf, workspaceOf } from './state/workspaces.ts';
import type { World } from './world.ts';

/** What can be seen in a workspace. */
export function sights(world: World) {
  const listed = (teamId: string, channel: string): StoredMessage[] => {
    const workspace = workspaceOf(world, teamId);
    return listMessages(workspace, channelOf(workspace, channel).id);
  };
  return {
    messages: (teamId: string, channel: string) =>
      listed(teamId, channel)
        .filter((stored) => !isReply(stored) || stored.record.subtype === 'thread_broadcast')
        .map(toSeen),
    thread: (teamId: string, channel: string, ts: string) =>
      listed(teamId, channel)
        .filter(({ record }) => record.thread_ts === ts && record.ts !== ts)
        .map(toSeen),
    ephemerals: (teamId: string, userId: string) => ephemeralsOf(workspaceOf(world, teamId), userId),
    dms: (teamId: string, userId: string) => {
      const workspace = workspaceOf(world, teamId);
      const direct = [...workspace.channels.values()].find((channel) => channel.user === userId);
      return direct ? listMessages(workspace, direct.id).map(toSeen) : [];
    },
    modals: (teamId: string, userId: string) => [...stackOf(workspaceOf(world, teamId), userId)],
    pane: (teamId: string, userId: string) => workspaceOf(world, teamId).panes.get(userId),
    home: (teamId: string, userId: string) => workspaceOf(world, teamId).homes.get(userId),
    files: (teamId: string) =>
      [...workspaceOf(world, teamId).files.values()].filter((file) => file.completed),
    calls: world.calls,
    deliveries: world.deliveries,
  };
}

function ephemeralsOf(workspace: Workspace, userId: string): SeenMessage[] {
  return [...workspace.messages.values()]
    .flatMap((messages) => [...messages.values()])
    .filter((stored) => stored.ephemeralTo === userId)
    .map(toSeen)
    .sort((a, b) => a.ts.localeCompare(b.ts));
}
