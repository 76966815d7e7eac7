import { type SlackEvent, sendEvent } from './deliver/events.ts';
import { newId, secretHex } from './state/ids.ts';
import { installBot, issueBotToken, ownerOf, removeBot, tokensOf } from './state/installs.ts';
import type { Channel } from './state/people.ts';
import type { FunctionRun, Installation, Json, Workspace } from './state/types.ts';
import { channelOf, personOf } from './state/workspaces.ts';
import { workspacesOf } from './web-api/call.ts';
import { inBackground, type Token, type World } from './world.ts';

/** What happens to a workspace, its channels and its installation, each with the events that Slack sends. */

function tell(world: World, workspace: Workspace, event: SlackEvent, installation?: Installation): void {
  inBackground(world, sendEvent(world, workspace, event, installation ? { installation } : {}));
}

/** The app is taken out: tokens die at once, both events follow, in no promised order. */
export function uninstall(world: World, workspace: Workspace): void {
  const { installation } = workspace;
  if (!installation) return;
  for (const token of world.tokens.values()) {
    if (installation.enterpriseId && token.enterpriseId === installation.enterpriseId)
      token.state = 'inactive';
  }
  removeBot(world, workspace);
  const tokens = { oauth: [], bot: [installation.botUserId] };
  tell(world, workspace, { type: 'tokens_revoked', tokens }, installation);
  tell(world, workspace, { type: 'app_uninstalled' }, installation);
}

/** Kills one token; with the last one the app is uninstalled, as Slack documents it. */
export function revokeToken(world: World, token: Token): void {
  token.state = 'revoked';
  if (tokensOf(world, ownerOf(token)).some((one) => one.state === 'active')) return;
  for (const workspace of workspacesOf(world, token)) uninstall(world, workspace);
}

/** Archives a channel, or takes it out of the archive. */
export function setArchived(
  world: World,
  workspace: Workspace,
  { name, archived, user }: { name: string; archived: boolean; user: string },
): void {
  const channel = channelOf(workspace, name);
  channel.archived = archived;
  world.changes.emit({ type: 'workspace', team: workspace.id });
  const kind = channel.kind === 'private' ? 'group' : 'channel';
  const type = `${kind}_${archived ? 'archive' : 'unarchive'}`;
  tell(world, workspace, { type, channel: channel.id, user });
}

/** Takes somebody, or with `bot` the app, into a channel. */
export function invite(world: World, workspace: Workspace, name: string, who: string): void {
  const channel = channelOf(workspace, name);
  const user = memberId(workspace, who);
  channel.members.add(user);
  world.changes.emit({ type: 'workspace', team: workspace.id });
  tell(world, workspace, { type: 'member_joined_channel', ...membership(workspace, channel, user) });
}

/** Puts somebody, or with `bot` the app, out of a channel. */
export function kick(world: World, workspace: Workspace, name: string, who: string): void {
  const channel = channelOf(workspace, name);
  const user = memberId(workspace, who);
  channel.members.delete(user);
  world.changes.emit({ type: 'workspace', team: workspace.id });
  if (user === workspace.installation?.botUserId) {
    const type = channel.kind === 'private' ? 'group_left' : 'channel_left';
    tell(world, workspace, { type, channel: channel.id });
    return;
  }
  tell(world, workspace, { type: 'member_left_channel', ...membership(workspace, channel, user) });
}

/** Deletes a channel with all that was said in it. */
export function deleteChannel(world: World, workspace: Workspace, name: string): void {
  const channel = channelOf(workspace, name);
  workspace.channels.delete(channel.id);
  workspace.messages.delete(channel.id);
  world.changes.emit({ type: 'workspace', team: workspace.id });
  const type = channel.kind === 'private' ? 'group_deleted' : 'channel_deleted';
  tell(world, workspace, { type, channel: channel.id });
}

/** Gives a channel a new id, as Slack does when somebody shares a private one. Nothing is known under the old one. */
export function changeChannelId(world: World, workspace: Workspace, name: string, id: string): void {
  const channel = channelOf(workspace, name);
  const before = channel.id;
  channel.id = id;
  workspace.channels.delete(before);
  workspace.channels.set(id, channel);
  const messages = workspace.messages.get(before) ?? new Map();
  for (const message of messages.values()) message.channel = id;
  workspace.messages.delete(before);
  workspace.messages.set(id, messages);
  world.changes.emit({ type: 'workspace', team: workspace.id });
  tell(world, workspace, { type: 'channel_id_changed', old_channel_id: before, new_channel_id: id });
}

function memberId(workspace: Workspace, who: string): string {
  const id = who === 'bot' ? workspace.installation?.botUserId : who;
  return personOf(workspace, id ?? who).id;
}

function membership(workspace: Workspace, channel: Channel, user: string): Json {
  return {
    user,
    channel: channel.id,
    channel_type: channel.kind === 'private' ? 'G' : 'C',
    team: workspace.id,
  };
}

/** Installs the app with its registered scopes, without the OAuth pages. */
export function installDirectly(world: World, workspace: Workspace): Token {
  const { scopes } = installBot(world, workspace);
  return issueBotToken(world, { teamId: workspace.id }, scopes);
}

/** Installs the app for a whole organisation: one token, one bot in each of its workspaces. */
export function installForOrganisation(world: World, enterpriseId: string): Token {
  const members = [...world.workspaces.values()].filter((one) => one.enterprise?.id === enterpriseId);
  for (const workspace of members) installBot(world, workspace, { enterpriseId });
  return issueBotToken(world, { enterpriseId }, members[0]?.installation?.scopes ?? world.app.botScopes);
}

/** An organisation gives the app one more workspace, or takes one away. */
export function changeTeamAccess(world: World, workspace: Workspace, granted: boolean): void {
  const enterpriseId = workspace.enterprise?.id;
  if (!enterpriseId) throw new RangeError(`${workspace.id} belongs to no organisation`);
  const before = workspace.installation;
  if (granted) installBot(world, workspace, { enterpriseId });
  else workspace.installation = undefined;
  const event = {
    type: granted ? 'team_access_granted' : 'team_access_revoked',
    team_ids: [workspace.id],
  };
  tell(world, workspace, event, workspace.installation ?? before);
}

/** A workflow reaches a step of the app. */
export function runFunction(
  world: World,
  workspace: Workspace,
  callbackId: string,
  inputs: Json,
): FunctionRun {
  const known = world.app.functions.find((one) => one.callback_id === callbackId);
  const { installation } = workspace;
  if (!known || !installation) throw new RangeError(`the app has no function ${callbackId} here`);
  const token = `xwfp-${secretHex(24)}`;
  const run: FunctionRun = {
    id: newId('Fx'),
    teamId: workspace.id,
    callbackId,
    token,
    inputs,
    state: 'running',
  };
  workspace.functionRuns.set(run.id, run);
  world.tokens.set(token, {
    token,
    kind: 'function',
    teamId: workspace.id,
    scopes: installation.scopes,
    state: 'active',
    functionRunId: run.id,
  });
  tell(world, workspace, {
    type: 'function_executed',
    function: {
      id: newId('Fn'),
      callback_id: callbackId,
      title: known.title,
      type: 'app',
      app_id: world.app.appId,
      input_parameters: known.input_parameters.map((name) => ({ name })),
      output_parameters: known.output_parameters.map((name) => ({ name })),
    },
    inputs,
    function_execution_id: run.id,
    workflow_execution_id: newId('Wx'),
    bot_access_token: token,
  });
  return run;
}
