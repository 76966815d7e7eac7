import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import type { Delivery } from './deliver/delivery.ts';
import { type SlackEvent, sendEvent } from './deliver/events.ts';
import { addFault, type Fault } from './faults.ts';
import { createHttp } from './http.ts';
import { type Actor, actAs } from './people.ts';
import type { RegisteredApp } from './registered-app.ts';
import type { Changes } from './state/changes.ts';
import { installBot, issueBotToken } from './state/installs.ts';
import { isReply, listMessages, toSeen } from './state/messages.ts';
import type { Channel, OpenView, SeenMessage, SlackFile, Workspace } from './state/types.ts';
import { stackOf } from './state/views.ts';
import {
  addChannel,
  type ChannelOptions,
  channelOf,
  createWorkspace,
  type WorkspaceOptions,
  workspaceOf,
} from './state/workspaces.ts';
import type { ApiCall } from './web-api/calls.ts';
import { createWorld, type World, type WorldOptions } from './world.ts';

export interface LocalSlackOptions extends WorldOptions {
  /** 0, the default, picks a free one. */
  port?: number;
  host?: string;
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
  addChannel(teamId: string, channel: ChannelOptions): Channel;
  stop(): Promise<void>;
}

/** Starts a Slack of one's own, with no workspace in it yet. */
export async function startLocalSlack(options: LocalSlackOptions = {}): Promise<LocalSlack> {
  const world = createWorld(options);
  const server = createAdaptorServer({ fetch: createHttp(world).fetch }) as Server;
  const host = options.host ?? '127.0.0.1';
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  world.origin = `http://${host}:${port}`;
  return createHandle(world, server);
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
    .flat()
    .filter((stored) => stored.ephemeralTo === userId && !stored.deleted)
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
