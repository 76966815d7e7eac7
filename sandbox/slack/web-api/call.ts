import { findSeated, type Seated } from '../state/sharing.ts';
import type { Workspace } from '../state/types.ts';
import { findByName } from '../state/workspaces.ts';
import type { Token, World } from '../world.ts';
import { SlackError } from './errors.ts';
import type { Call, Place } from './method.ts';
import { refuseAccess } from './policies.ts';

/** @throws SlackError where the token is none of ours or no longer good */
export function findToken(world: World, given: string | undefined): Token {
  if (!given) throw new SlackError('not_authed');
  const token = world.tokens.get(given);
  if (!token) throw new SlackError('invalid_auth');
  if (token.state === 'revoked') throw new SlackError('token_revoked');
  if (token.state === 'inactive') throw new SlackError('account_inactive');
  if (token.expiresAt !== undefined && token.expiresAt <= world.time.now()) {
    throw new SlackError('token_expired');
  }
  return token;
}

export function createCall(world: World, token: Token): Call {
  const workspaces = workspacesOf(world, token);
  if (token.teamId) workspaces.forEach(refuseAccess);
  return {
    world,
    token,
    workspaces,
    workspace: (teamId) => {
      const workspace = pickWorkspace(world, token, workspaces, teamId);
      refuseAccess(workspace);
      return workspace;
    },
    channel: (id) => {
      const found = findChannel(workspaces, id);
      refuseAccess(found.workspace);
      return found;
    },
    person: (id) => findPerson(world, workspaces, id),
  };
}

export function workspacesOf(world: World, token: Token): Workspace[] {
  if (token.teamId) {
    const own = world.workspaces.get(token.teamId);
    return own ? [own] : [];
  }
  return [...world.workspaces.values()].filter(
    (workspace) => token.enterpriseId && workspace.installation?.enterpriseId === token.enterpriseId,
  );
}

/** An organisation's token has to name a workspace, and one that the organisation gave the app. */
function pickWorkspace(
  world: World,
  token: Token,
  workspaces: Workspace[],
  teamId: string | undefined,
): Workspace {
  if (!token.teamId && !teamId) throw new SlackError('missing_argument');
  const found = teamId ? workspaces.find((one) => one.id === teamId) : workspaces[0];
  if (found) return found;
  const enterprise = world.workspaces.get(teamId ?? '')?.enterprise?.id;
  const isOfOrg = token.enterpriseId !== undefined && enterprise === token.enterpriseId;
  throw new SlackError(isOfOrg ? 'team_access_not_granted' : 'team_not_found');
}

/** What the bot can see: public channels, and private ones and direct messages it is in. */
function findChannel(workspaces: Workspace[], id: string): Place {
  for (const workspace of workspaces) {
    const channel = workspace.channels.get(id) ?? findByName(workspace, id);
    const { installation } = workspace;
    if (!channel || !installation) continue;
    if (channel.kind === 'public' || channel.members.has(installation.botUserId)) {
      return { workspace, channel, installation };
    }
  }
  throw new SlackError('channel_not_found');
}

function findPerson(world: World, workspaces: Workspace[], id: string): Seated & { workspace: Workspace } {
  for (const workspace of workspaces) {
    const seated = findSeated(world, workspace, id);
    if (seated) return { ...seated, workspace };
  }
  throw new SlackError('user_not_found');
}
