import type { Channel, Installation, Json, Workspace } from '../state/types.ts';

/** A conversation object as the bot sees it. */
export function channelRecord({
  workspace,
  channel,
  installation,
}: {
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
    is_shared: false,
    is_ext_shared: false,
    is_org_shared: false,
    is_member: isMember,
    topic: { value: channel.topic, creator: '', last_set: 0 },
    purpose: { value: '', creator: '', last_set: 0 },
    context_team_id: workspace.id,
  };
}
