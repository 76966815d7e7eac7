import type { Channel } from '../state/people.ts';
import { areOfOne, isExternallyShared, otherTeams } from '../state/sharing.ts';
import type { Installation, Json, Workspace } from '../state/types.ts';
import type { World } from '../world.ts';

/** A conversation object as the bot sees it. */
export function channelRecord({
  workspace,
  channel,
  installation,
  world,
}: {
  world: World;
  workspace: Workspace;
  channel: Channel;
  installation: Installation;
}): Json {
  const isMember = channel.members.has(installation.botUserId);
  if (channel.kind === 'im') {
    return {
      id: channel.id,
      is_im: true,
      user: channel.user,
      is_archived: false,
      context_team_id: workspace.id,
    };
  }
  return {
    id: channel.id,
    name: channel.name,
    name_normalized: channel.name,
    is_channel: channel.kind === 'public',
    is_group: channel.kind === 'private',
    is_im: false,
    is_mpim: false,
    is_private: channel.kind === 'private',
    is_archived: channel.archived,
    is_general: channel.name === 'general',
    ...sharingOf(world, workspace, channel),
    is_member: isMember,
    topic: { value: channel.topic, creator: '', last_set: 0 },
    purpose: { value: '', creator: '', last_set: 0 },
    context_team_id: workspace.id,
  };
}

/** Which workspaces a channel belongs to, as Slack says it of shared channels. */
function sharingOf(world: World, workspace: Workspace, channel: Channel): Json {
  const others = otherTeams(world, workspace, channel);
  const teams = [workspace.id, ...others.map((home) => home.id)];
  return {
    is_shared: others.length > 0,
    is_ext_shared: isExternallyShared(world, workspace, channel),
    is_org_shared: others.some((home) => areOfOne(workspace, home)),
    is_pending_ext_shared: false,
    pending_shared: [],
    shared_team_ids: teams,
    ...(others.length > 0 ? { connected_team_ids: teams.slice(1) } : {}),
  };
}
