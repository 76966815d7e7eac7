import { getRequestListener } from '@hono/node-server';
import { type NewPaging, Paging } from './api/paging.ts';
import { createClock, type SandboxClock } from './clock.ts';
import type { ControlParts } from './control.ts';
import { createDispatch } from './dispatch.ts';
import { createFaults, type Faults } from './faults.ts';
import { createFrontDoor } from './front-door.ts';
import { close, type Listening, listen } from './listen.ts';
import { createRequestLog, type RequestLog, type RequestRecorder } from './requests.ts';
import { seedDemo } from './seed/demo.ts';
import type { NewWeather } from './weather/settings.ts';
import { createWeather, type Weather } from './weather/weather.ts';
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
  /** Puts the OAuth server on an origin of its own; its metadata stays on the main site. Spec 5.3. */
  ownAuthOrigin?: boolean;
  /** Adds `iss` to OAuth callbacks, as RFC 9207 has it. */
  oauthIss?: boolean;
  /** Says in OAuth's token answers who has approved, as the scope `email_address` promises. */
  oauthEmail?: boolean;
  /** How answers vary; not at all by default. */
  weather?: NewWeather;
  /** How long lists come; whole by default. */
  paging?: NewPaging;
  /** Called with each e-mail as it is sent. */
  onMail?: (mail: Mail) => void;
}

export interface SimulatedService {
  /** `http://127.0.0.1:<port>` */
  origin: string;
  /** The template of account addresses, with `{account}` in it. */
  baseUrl: string;
  signupUrl: string;
  /** Where OAuth's endpoints are: the main site, unless they were given an origin of their own. */
  authUrl: string;
  /** The main site, which holds OAuth's metadata. */
  siteUrl: string;
  sitesDomain: string;
  /** What the service holds, and everything it can be told. */
  world: WorldOperations & { state: World };
  faults: Faults;
  weather: Weather;
  requests: RequestLog;
  clock: SandboxClock;
  /** Drops open connections and ends all planned work. */
  stop(): Promise<void>;
}

/** Starts a simulated deployment service of its own on a local port. */
export async function startSimulatedService(
  options: SimulatedServiceOptions = {},
): Promise<SimulatedService> {
  const host = options.host ?? '127.0.0.1';
  const site = await listen(host, options.port ?? 0);
  const auth = options.ownAuthOrigin === true ? await listen(host, 0) : undefined;
  const parts = createParts(site.origin, auth?.origin ?? site.origin, options);
  const stopping = new AbortController();
  open(parts, site, auth, stopping.signal);
  const { world: state, operations, faults, weather, requests, clock } = parts;
  return {
    origin: state.origin,
    baseUrl: `${state.origin}/{account}`,
    signupUrl: state.origin,
    authUrl: state.authOrigin,
    siteUrl: state.origin,
    sitesDomain: state.sitesDomain,
    world: { ...operations, state },
    faults,
    weather,
    requests,
    clock,
    stop: async () => {
      stopping.abort();
      clock.clear();
      await Promise.all([close(site), auth && close(auth)]);
    },
  };
}

interface Parts extends ControlParts {
  requests: RequestRecorder;
}

function createParts(origin: string, authOrigin: string, options: SimulatedServiceOptions): Parts {
  const paging = Paging.parse(options.paging ?? {});
  const clock = createClock({ now: options.now, speed: options.speed });
  const world = createWorld({
    clock,
    origin,
    authOrigin,
    oauthIss: options.oauthIss ?? false,
    oauthEmail: options.oauthEmail ?? false,
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
    weather: createWeather(options.weather),
    paging: () => paging,
    requests: createRequestLog(),
    reset: (seed) => fill(world, seed),
  };
}

/** Answers requests from now on. */
function open(parts: Parts, site: Listening, auth: Listening | undefined, stopped: AbortSignal): void {
  const dispatch = createDispatch(parts);
  for (const [listening, answer] of [
    [site, dispatch.main],
    [auth, dispatch.auth],
  ] as const) {
    const door = createFrontDoor({ ...parts, stopped, dispatch: answer });
    listening?.server.on('request', getRequestListener(door, { overrideGlobalObjects: false }));
  }
}

function fill(world: World, seed: 'empty' | 'demo'): void {
  clearWorld(world);
  if (seed === 'demo') seedDemo(world);
}
