import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { Hono } from 'hono';
import { createControl } from './control.ts';
import type { Delivery } from './deliver/delivery.ts';
import { type SlackEvent, sendEvent } from './deliver/events.ts';
import { verifyRequestUrl } from './deliver/verify.ts';
import { addFault, type Fault } from './faults.ts';
import { explainFault, ownSiteOnly } from './guard.ts';
import { createHttp, type HttpEnv } from './http.ts';
import { createPageApi } from './page-api.ts';
import { createPageFiles } from './page-files.ts';
import { type Actor, actAs } from './people.ts';
import type { RegisteredApp } from './registered-app.ts';
import type { Changes } from './state/changes.ts';
import { installBot, issueBotToken } from './state/installs.ts';
import { isReply, listMessages, toSeen } from './state/messages.ts';
import type {
  Channel,
  FunctionRun,
  Json,
  OpenView,
  Person,
  SeenMessage,
  SlackFile,
  Workspace,
} from './state/types.ts';
import { stackOf } from './state/views.ts';
import {
  addChannel,
  type ChannelOptions,
  channelOf,
  createWorkspace,
  personOf,
  type WorkspaceOptions,
  workspaceOf,
} from './state/workspaces.ts';
import type { ApiCall } from './web-api/calls.ts';
import {
  archiveChannel,
  changeTeamAccess,
  deleteChannel,
  installDirectly,
  installForOrganisation,
  invite,
  kick,
  runFunction,
  unarchiveChannel,
  uninstall,
} from './workspace-acts.ts';
import { type Control, createWorld, type World, type WorldOptions } from './world.ts';

export interface LocalSlackOptions extends WorldOptions {
  /** 0, the default, picks a free one. */
  port?: number;
  host?: string;
  /** The built page, served at the root. */
  pageDir?: string;
}

/** What a new workspace is known by; tokens and bot are empty while the app is not installed. */
export interface NewWorkspace {
  teamId: string;
  botToken: string;
  botUserId: string;
  botId: string;
}

export interface LocalSlack {
  origin: string;
  /** Web API base, with its slash at the end. */
  apiUrl: string;
  authorizeUrl: string;
  /** host:port, for SLACK_RESPONSE_HOSTS. */
  responseHost: string;
  app: RegisteredApp;
  addWorkspace(options: WorkspaceOptions): NewWorkspace;
  workspace(teamId: string): Workspace;
  /** Where commands, interactions and events go. */
  deliverTo(requestUrl: string | undefined): void;
  /** One person at their client. */
  as(teamId: string, userId: string): Actor;
  /** Messages that stand in a channel for all, oldest first, without thread replies. */
  messages(teamId: string, channel: string): SeenMessage[];
  /** Replies of a thread, oldest first, without the root. */
  thread(teamId: string, channel: string, ts: string): SeenMessage[];
  /** What only this person sees, in all channels, Slack's own notices included. */
  ephemerals(teamId: string, userId: string): SeenMessage[];
  /** The direct message between app and person. */
  dms(teamId: string, userId: string): SeenMessage[];
  /** Open modals, the lowest first. */
  modals(teamId: string, userId: string): OpenView[];
  home(teamId: string, userId: string): OpenView | undefined;
  /** Completed files. */
  files(teamId: string): SlackFile[];
  /** Every Web API call, without tokens. */
  readonly calls: readonly ApiCall[];
  /** Every request to the app. */
  readonly deliveries: readonly Delivery[];
  until: Changes['until'];
  onChange: Changes['subscribe'];
  /** Switches a fault on; the answer switches it off. */
  fault(fault: Fault): () => void;
  clearFaults(): void;
  /** Lets Slack's own deadlines (triggers, response urls, retries, rates) move on by milliseconds. */
  advance(ms: number): void;
  /** Sends any event; resolves with its first attempt. */
  sendEvent(teamId: string, event: SlackEvent): Promise<Delivery | undefined>;
  /** Posts Slack's url_verification challenge; true where the app answers it. */
  verifyRequestUrl(): Promise<boolean>;
  addChannel(teamId: string, channel: ChannelOptions): Channel;
  archiveChannel(teamId: string, channel: string, by?: string): void;
  unarchiveChannel(teamId: string, channel: string, by?: string): void;
  deleteChannel(teamId: string, channel: string): void;
  /** Takes a person, or with `bot` the app, into a channel. */
  invite(teamId: string, channel: string, who: string): void;
  kick(teamId: string, channel: string, who: string): void;
  /** Changes what a person is, e.g. `{ is_admin: false }` or `{ deleted: true }`. */
  changePerson(teamId: string, userId: string, change: Partial<Omit<Person, 'id'>>): void;
  /** Installs the app without the OAuth pages; the answer is its bot token. */
  install(teamId: string): string;
  /** Installs the app for a whole organisation; the answer is its bot token. */
  installOrganisation(enterpriseId: string): string;
  changeTeamAccess(teamId: string, granted: boolean): void;
  /** The app is taken out: tokens die, `tokens_revoked` and `app_uninstalled` follow. */
  uninstall(teamId: string): void;
  /** A workflow reaches a step of the app. */
  runFunction(teamId: string, callbackId: string, inputs: Json): FunctionRun;
  functionRun(teamId: string, id: string): FunctionRun | undefined;
  /** The page's switches and buttons. */
  setControls(controls: Control[]): void;
  stop(): Promise<void>;
}

/** Starts a Slack of one's own, with no workspace in it yet. */
export async function startLocalSlack(options: LocalSlackOptions = {}): Promise<LocalSlack> {
  const world = createWorld(options);
  const http = createHttp(world);
  const server = createAdaptorServer({ fetch: http.fetch }) as Server;
  const host = options.host ?? '127.0.0.1';
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  world.origin = `http://${host}:${port}`;
  const slack = createHandle(world, server);
  addOwnPages(http, world, slack, options.pageDir);
  return slack;
}

/** What is served to this machine's page and tests, beside what Slack serves. */
function addOwnPages(http: Hono<HttpEnv>, world: World, slack: LocalSlack, pageDir?: string): void {
  const guarded = (routes: Hono): Hono =>
    new Hono().use(ownSiteOnly).onError(explainFault).route('/', routes);
  http.route('/page', guarded(createPageApi(world)));
  http.route('/_control', guarded(createControl(slack)));
  if (pageDir) http.route('/', createPageFiles(pageDir));
}

function createHandle(world: World, server: Server): LocalSlack {
  const { origin } = world;
  return {
    origin,
    apiUrl: `${origin}/api/`,
    authorizeUrl: `${origin}/oauth/v2/authorize`,
    responseHost: new URL(origin).host,
    app: world.app,
    ...workspaceHandle(world),
    ...happenings(world),
    ...sightHandle(world),
    until: world.changes.until,
    onChange: world.changes.subscribe,
    fault: (fault) => addFault(world, fault),
    clearFaults: () => world.faults.clear(),
    advance: world.time.advance,
    stop: () => stop(world, server),
  };
}

function workspaceHandle(world: World) {
  return {
    addWorkspace: (options: WorkspaceOptions) => addWorkspace(world, options),
    workspace: (teamId: string) => workspaceOf(world, teamId),
    deliverTo: (requestUrl: string | undefined) => {
      world.requestUrl = requestUrl;
    },
    as: (teamId: string, userId: string) => actAs(world, teamId, userId),
    addChannel: (teamId: string, channel: ChannelOptions) => {
      const added = addChannel(workspaceOf(world, teamId), channel);
      world.changes.emit({ type: 'workspace', team: teamId });
      return added;
    },
    sendEvent: (teamId: string, event: SlackEvent) => sendEvent(world, workspaceOf(world, teamId), event),
    verifyRequestUrl: () => verifyRequestUrl(world),
    setControls: (controls: Control[]) => {
      world.controls = controls;
      world.changes.emit({ type: 'controls' });
    },
  };
}

/** What happens to a workspace from outside the app. */
function happenings(world: World) {
  const workspace = (teamId: string): Workspace => workspaceOf(world, teamId);
  return {
    archiveChannel: (team: string, channel: string, by = 'USLACKBOT') =>
      archiveChannel(world, workspace(team), channel, by),
    unarchiveChannel: (team: string, channel: string, by = 'USLACKBOT') =>
      unarchiveChannel(world, workspace(team), channel, by),
    deleteChannel: (team: string, channel: string) => deleteChannel(world, workspace(team), channel),
    invite: (team: string, channel: string, who: string) => invite(world, workspace(team), channel, who),
    kick: (team: string, channel: string, who: string) => kick(world, workspace(team), channel, who),
    changePerson: (team: string, userId: string, change: Partial<Omit<Person, 'id'>>) => {
      Object.assign(personOf(workspace(team), userId), change);
      world.changes.emit({ type: 'workspace', team });
    },
    install: (team: string) => installDirectly(world, workspace(team)).token,
    installOrganisation: (enterpriseId: string) => installForOrganisation(world, enterpriseId).token,
    changeTeamAccess: (team: string, granted: boolean) => changeTeamAccess(world, workspace(team), granted),
    uninstall: (team: string) => uninstall(world, workspace(team)),
    runFunction: (team: string, callbackId: string, inputs: Json) =>
      runFunction(world, workspace(team), callbackId, inputs),
    functionRun: (team: string, id: string) => workspace(team).functionRuns.get(id),
  };
}

function addWorkspace(world: World, options: WorkspaceOptions): NewWorkspace {
  const workspace = createWorkspace(world, options);
  if (options.installed === false) return { teamId: workspace.id, botToken: '', botUserId: '', botId: '' };
  const { botUserId, botId, scopes } = installBot(world, workspace);
  const { token } = issueBotToken(world, { teamId: workspace.id }, scopes);
  return { teamId: workspace.id, botToken: token, botUserId, botId };
}

/** What can be seen in a workspace. */
function sightHandle(world: World) {
  const listed = (teamId: string, channel: string) => {
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

async function stop(world: World, server: Server): Promise<void> {
  world.stopping.abort(new Error('the local workspace stops'));
  server.closeAllConnections();
  await new Promise<void>((resolve, reject) => {
    server.close((error) => (error ? reject(error) : resolve()));
  });
  await Promise.allSettled(world.background);
  await world.agent.destroy();
}
