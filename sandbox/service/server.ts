import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { createAccountApp } from './api/app.ts';
import { createSiteApp } from './api/site.ts';
import { createClock, type SandboxClock } from './clock.ts';
import { type ControlParts, createControlApp } from './control.ts';
import { addReference } from './docs/reference.ts';
import { createFaults, type Faults } from './faults.ts';
import { createFrontDoor, type Visit } from './front-door.ts';
import { betaPage, unknownHostPage } from './pages/home.ts';
import { createRequestLog, type RequestLog, type RequestRecorder } from './requests.ts';
import { accountRoutes, siteRoutes } from './routes/index.ts';
import { seedDemo } from './seed/demo.ts';
import { bindOperations, type WorldOperations } from './world/operations/index.ts';
import type { World } from './world/records.ts';
import type { Mail, OauthClient } from './world/site-records.ts';
import { clearWorld, createWorld } from './world/world.ts';

export interface SimulatedServiceOptions {
  /** 0, the default, picks a free one. */
  port?: number;
  /** Loopback by default; `/_control` asks for no credentials. */
  host?: string;
  seed?: 'empty' | 'demo';
  /** The time underneath, ms since the epoch; the system's by default. */
  now?: () => number;
  /** How many times faster time runs; 0 stands still until `clock.advance`. */
  speed?: number;
  sitesDomain?: string;
  oauthClients?: readonly OauthClient[];
  /** Called with each e-mail as it is sent. */
  onMail?: (mail: Mail) => void;
}

export interface SimulatedService {
  /** `http://127.0.0.1:<port>` */
  origin: string;
  /** The template of account addresses, with `{account}` in it. */
  baseUrl: string;
  signupUrl: string;
  authUrl: string;
  sitesDomain: string;
  /** What the service holds, and everything it can be told. */
  world: WorldOperations & { state: World };
  faults: Faults;
  requests: RequestLog;
  clock: SandboxClock;
  /** Drops open connections and ends all planned work. */
  stop(): Promise<void>;
}

/** Starts a simulated deployment service of its own on a local port. */
export async function startSimulatedService(
  options: SimulatedServiceOptions = {},
): Promise<SimulatedService> {
  const server = createServer();
  const host = options.host ?? '127.0.0.1';
  server.listen(options.port ?? 0, host);
  await once(server, 'listening');
  const parts = createParts(originOf(server, host), options);
  const stopping = new AbortController();
  const door = createFrontDoor({ ...parts, stopped: stopping.signal, dispatch: createDispatch(parts) });
  server.on('request', getRequestListener(door, { overrideGlobalObjects: false }));
  const { world: state, operations, faults, requests, clock } = parts;
  return {
    origin: state.origin,
    baseUrl: `${state.origin}/{account}`,
    signupUrl: state.origin,
    authUrl: state.origin,
    sitesDomain: state.sitesDomain,
    world: { ...operations, state },
    faults,
    requests,
    clock,
    stop: async () => {
      stopping.abort();
      clock.clear();
      await close(server);
    },
  };
}

interface Parts extends ControlParts {
  requests: RequestRecorder;
}

function createParts(origin: string, options: SimulatedServiceOptions): Parts {
  const clock = createClock({ now: options.now, speed: options.speed });
  const world = createWorld({
    clock,
    origin,
    sitesDomain: options.sitesDomain ?? 'sites.example.net',
    clients: options.oauthClients ?? [],
    onMail: options.onMail,
  });
  fill(world, options.seed ?? 'empty');
  return {
    world,
    clock,
    operations: bindOperations(world),
    faults: createFaults(),
    requests: createRequestLog(),
    reset: (seed) => fill(world, seed),
  };
}

function originOf(server: Server, host: string): string {
  const { port } = server.address() as AddressInfo;
  const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}

function fill(world: World, seed: 'empty' | 'demo'): void {
  clearWorld(world);
  if (seed === 'demo') seedDemo(world);
}

async function close(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}

/** Sends a request to the account's host, the service's own, or the control. */
function createDispatch(parts: Parts): (visit: Visit) => Promise<Response> {
  const { world } = parts;
  const control = createControlApp(parts);
  const site = createSiteApp(siteRoutes);
  const accounts = createAccountApp(accountRoutes);
  addReference(site, accounts, world.origin);
  return async ({ address, request, ip }) => {
    if (address.path.startsWith('/_control/')) return control.fetch(request);
    if (address.account === undefined) return site.fetch(request, { world, ip });
    const account = world.accounts.get(address.account);
    if (account === undefined) return htmlResponse(unknownHostPage(), 404);
    if (address.path === '/beta_features') return htmlResponse(betaPage(account.displayName), 200);
    return accounts.fetch(request, { world, account, baseUrl: address.baseUrl });
  };
}

async function htmlResponse(page: ReturnType<typeof betaPage>, status: number): Promise<Response> {
  return new Response(String(await page), {
    status,
    headers: { 'content-type': 'text/html; charset=utf-8' },
  });
}
