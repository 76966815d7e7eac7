import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import { createControl } from './control.ts';
import { type SlackEvent, sendEvent } from './deliver/events.ts';
import { serveSockets } from './deliver/socket-mode.ts';
import {
  type DropOptions,
  dropConnections,
  type RefreshOptions,
  refreshConnections,
} from './deliver/socket-refresh.ts';
import { checkCertificate, type RedeliverOptions, redeliver, verifyRequestUrl } from './deliver/verify.ts';
import { addFault } from './faults.ts';
import { explainFault, ownSiteOnly } from './guard.ts';
import { happenings } from './happenings.ts';
import { createHttp } from './http.ts';
import type { LocalSlack, LocalSlackOptions, NewWorkspace } from './local-slack.ts';
import { createPageApi } from './page-api.ts';
import { createPageFiles } from './page-files.ts';
import { actAs } from './people.ts';
import { sights } from './sight.ts';
import type { Sight } from './state/changes.ts';
import type { Delivery } from './state/delivery.ts';
import { installBot, issueAppToken, issueBotToken } from './state/installs.ts';
import {
  addChannel,
  type ChannelOptions,
  createWorkspace,
  type WorkspaceOptions,
  workspaceOf,
} from './state/workspaces.ts';
import { type Control, createWorld, type World } from './world.ts';

/**
 * Reads a request to its end before it is dealt with: Slack carries out what reached it, also where its sender has died
 * since.
 */
function takeWhole(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  listener: ReturnType<typeof getRequestListener>,
): void {
  const chunks: Buffer[] = [];
  incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
  incoming.on('error', () => incoming.destroy());
  incoming.once('end', () => {
    // The adapter takes a body that was read already by this name.
    void listener(Object.assign(incoming, { rawBody: Buffer.concat(chunks) }), outgoing);
  });
}

/** Routes are compiled once for all local Slacks of a process. */
const http = createHttp();

/** Starts a Slack of one's own, with no workspace in it yet. */
export async function startLocalSlack(options: LocalSlackOptions = {}): Promise<LocalSlack> {
  const world = createWorld(options);
  const listener = getRequestListener(
    (request, connection) => http.fetch(request, { ...connection, world, ownPages }),
    { overrideGlobalObjects: false },
  );
  const server = createServer((incoming, outgoing) => takeWhole(incoming, outgoing, listener));
  const host = options.host ?? '127.0.0.1';
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  world.origin = `http://${host === '0.0.0.0' ? '127.0.0.1' : host}:${port}`;
  const slack = createHandle(world, server);
  serveSockets(world, server);
  let pages: Hono | undefined;
  /** Made where something asks for them. */
  function ownPages(): Hono {
    pages ??= createOwnPages(world, slack, options.pageDir);
    return pages;
  }
  return slack;
}

function createOwnPages(world: World, slack: LocalSlack, pageDir?: string): Hono {
  const guarded = (routes: Hono): Hono =>
    new Hono().use(ownSiteOnly).onError(explainFault).route('/', routes);
  const pages = new Hono();
  pages.route('/page', guarded(createPageApi(world)));
  pages.route('/_control', guarded(createControl(slack)));
  if (pageDir) pages.route('/', createPageFiles(pageDir));
  return pages;
}

function createHandle(world: World, server: Server): LocalSlack {
  const { origin } = world;
  return {
    origin,
    apiUrl: `${origin}/api/`,
    authorizeUrl: `${origin}/oauth/v2/authorize`,
    responseHost: new URL(origin).host,
    app: world.app,
    appToken: issueAppToken(world),
    ...workspaceHandle(world),
    ...happenings(world),
    ...sights(world),
    until: world.changes.until,
    onChange: world.changes.subscribe,
    fault: (fault) => addFault(world, fault),
    clearFaults: () => world.faults.clear(),
    advance: world.time.advance,
    connections: () => [...world.sockets].map(({ id, ending }) => ({ id, ending })),
    refreshConnections: (options?: RefreshOptions) => refreshConnections(world, options),
    dropConnections: (options?: DropOptions) => dropConnections(world, options),
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
    lead: (teamId: string, userId: string, to: Sight) => {
      world.changes.emit({ type: 'go', team: workspaceOf(world, teamId).id, user: userId, to });
    },
    addChannel: (teamId: string, channel: ChannelOptions) => {
      const added = addChannel(workspaceOf(world, teamId), channel);
      world.changes.emit({ type: 'workspace', team: teamId });
      return added;
    },
    sendEvent: (teamId: string, event: SlackEvent) => sendEvent(world, workspaceOf(world, teamId), event),
    verifyRequestUrl: () => verifyRequestUrl(world),
    checkCertificate: () => checkCertificate(world),
    redeliver: (delivery: Delivery, options?: RedeliverOptions) => redeliver(world, delivery, options),
    setControls: (controls: Control[]) => {
      world.controls = controls;
      world.changes.emit({ type: 'controls' });
    },
  };
}

function addWorkspace(world: World, options: WorkspaceOptions): NewWorkspace {
  const workspace = createWorkspace(world, options);
  if (options.installed === false) return { teamId: workspace.id, botToken: '', botUserId: '', botId: '' };
  const { botUserId, botId, scopes } = installBot(world, workspace);
  const { token } = issueBotToken(world, { teamId: workspace.id }, scopes);
  return { teamId: workspace.id, botToken: token, botUserId, botId };
}

async function stop(world: World, server: Server): Promise<void> {
  world.stopping.abort(new Error('the local workspace stops'));
  for (const { socket } of world.sockets) socket.terminate();
  server.closeAllConnections();
  await new Promise<void>((resolve, reject) => {
    server.close((error) => (error ? reject(error) : resolve()));
  });
  await Promise.allSettled(world.background);
}
