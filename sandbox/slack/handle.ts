import { sendEvent } from './deliver/events.ts';
import { dropConnections, refreshConnections } from './deliver/socket-refresh.ts';
import { checkCertificate, redeliver, verifyRequestUrl } from './deliver/verify.ts';
import { addFault } from './faults.ts';
import type { LocalSlack, NewWorkspace } from './local-slack.ts';
import { actAs } from './people.ts';
import { addPerson, changePerson } from './people-acts.ts';
import { installBot, issueAppToken, issueBotToken } from './state/installs.ts';
import { isReply, listMessages, toSeen } from './state/messages.ts';
import { addPolicy } from './state/policies.ts';
import { shareChannel } from './state/sharing.ts';
import type { SeenMessage, StoredMessage, Workspace } from './state/types.ts';
import { stackOf } from './state/views.ts';
import {
  addChannel,
  channelOf,
  createWorkspace,
  type WorkspaceOptions,
  workspaceOf,
} from './state/workspaces.ts';
import {
  changeChannelId,
  changeTeamAccess,
  deleteChannel,
  installDirectly,
  installForOrganisation,
  invite,
  kick,
  runFunction,
  setArchived,
  uninstall,
} from './workspace-acts.ts';
import type { World } from './world.ts';

/** The in-process API of a local Slack that listens. */
export function createHandle(world: World, stop: () => Promise<void>): LocalSlack {
  const { origin } = world;
  return {
    origin,
    apiUrl: `${origin}/api/`,
    authorizeUrl: `${origin}/oauth/v2/authorize`,
    responseHost: new URL(origin).host,
    app: world.app,
    appToken: issueAppToken(world),
    addWorkspace: (options) => addWorkspace(world, options),
    workspace: (team) => workspaceOf(world, team),
    as: (team, user) => actAs(world, team, user),
    ...whatIsSeen(world),
    ...whatHappens(world),
    ...whatIsDelivered(world),
    until: world.changes.until,
    onChange: world.changes.subscribe,
    fault: (fault) => addFault(world, fault),
    clearFaults: () => world.faults.clear(),
    advance: world.time.advance,
    lead: (team, user, to) => {
      world.changes.emit({ type: 'go', team: workspaceOf(world, team).id, user, to });
    },
    showTyping: (team, user, channel, text) => {
      world.changes.emit({ type: 'typed', team: workspaceOf(world, team).id, user, channel, text });
    },
    setControls: (controls) => {
      world.controls = controls;
      world.changes.emit({ type: 'controls' });
    },
    stop,
  };
}

function addWorkspace(world: World, options: WorkspaceOptions): NewWorkspace {
  const workspace = createWorkspace(world, options);
  if (options.installed === false) return { teamId: workspace.id, botToken: '', botUserId: '', botId: '' };
  const { botUserId, botId, scopes } = installBot(world, workspace);
  const { token } = issueBotToken(world, { teamId: workspace.id }, scopes);
  return { teamId: workspace.id, botToken: token, botUserId, botId };
}

function whatIsSeen(world: World) {
  const listed = (teamId: string, channel: string): StoredMessage[] => {
    const workspace = workspaceOf(world, teamId);
    return listMessages(workspace, channelOf(workspace, channel).id);
  };
  return {
    messages: (team, channel) =>
      listed(team, channel)
        .filter((stored) => !isReply(stored) || stored.record.subtype === 'thread_broadcast')
        .map(toSeen),
    thread: (team, channel, ts) =>
      listed(team, channel)
        .filter(({ record }) => record.thread_ts === ts && record.ts !== ts)
        .map(toSeen),
    ephemerals: (team, user) => ephemeralsOf(workspaceOf(world, team), user),
    dms: (team, user) => {
      const workspace = workspaceOf(world, team);
      const direct = [...workspace.channels.values()].find((channel) => channel.user === user);
      return direct ? listMessages(workspace, direct.id).map(toSeen) : [];
    },
    modals: (team, user) => [...stackOf(workspaceOf(world, team), user)],
    pane: (team, user) => workspaceOf(world, team).panes.get(user),
    home: (team, user) => workspaceOf(world, team).homes.get(user),
    files: (team) => [...workspaceOf(world, team).files.values()].filter((file) => file.completed),
    functionRun: (team, id) => workspaceOf(world, team).functionRuns.get(id),
  } satisfies Partial<LocalSlack>;
}

function ephemeralsOf(workspace: Workspace, userId: string): SeenMessage[] {
  return [...workspace.messages.values()]
    .flatMap((messages) => [...messages.values()])
    .filter((stored) => stored.ephemeralTo === userId)
    .map(toSeen)
    .sort((a, b) => a.ts.localeCompare(b.ts));
}

/** What happens to a workspace from outside the app. */
function whatHappens(world: World) {
  const workspace = (team: string): Workspace => workspaceOf(world, team);
  return {
    addChannel: (team, channel) => {
      const added = addChannel(workspace(team), channel);
      world.changes.emit({ type: 'workspace', team });
      return added;
    },
    archiveChannel: (team, name, user = 'USLACKBOT') =>
      setArchived(world, workspace(team), { name, archived: true, user }),
    unarchiveChannel: (team, name, user = 'USLACKBOT') =>
      setArchived(world, workspace(team), { name, archived: false, user }),
    deleteChannel: (team, channel) => deleteChannel(world, workspace(team), channel),
    changeChannelId: (team, channel, id) => changeChannelId(world, workspace(team), channel, id),
    invite: (team, channel, who) => invite(world, workspace(team), channel, who),
    kick: (team, channel, who) => kick(world, workspace(team), channel, who),
    addPerson: (team, person) => addPerson(world, workspace(team), person),
    changePerson: (team, user, change) => changePerson(world, workspace(team), user, change),
    shareChannel: (team, channel, withTeam, options) =>
      shareChannel(world, workspace(team), channelOf(workspace(team), channel), workspace(withTeam), options),
    policy: (team, policy) => addPolicy(world, workspace(team), policy),
    install: (team) => installDirectly(world, workspace(team)).token,
    installOrganisation: (enterprise) => installForOrganisation(world, enterprise).token,
    changeTeamAccess: (team, granted) => changeTeamAccess(world, workspace(team), granted),
    uninstall: (team) => uninstall(world, workspace(team)),
    runFunction: (team, callbackId, inputs) => runFunction(world, workspace(team), callbackId, inputs),
  } satisfies Partial<LocalSlack>;
}

function whatIsDelivered(world: World) {
  return {
    calls: world.calls,
    deliveries: world.deliveries,
    deliverTo: (requestUrl) => {
      world.requestUrl = requestUrl;
    },
    sendEvent: (team, event) => sendEvent(world, workspaceOf(world, team), event),
    verifyRequestUrl: () => verifyRequestUrl(world),
    checkCertificate: () => checkCertificate(world),
    redeliver: (delivery, options) => redeliver(world, delivery, options),
    connections: () => [...world.sockets].map(({ id, ending }) => ({ id, ending })),
    refreshConnections: (options) => refreshConnections(world, options),
    dropConnections: (options) => dropConnections(world, options),
  } satisfies Partial<LocalSlack>;
}
