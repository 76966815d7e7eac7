import { EventEmitter, on } from 'node:events';
import { rmSync } from 'node:fs';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { DEMO_SAMPLES } from '../../sandbox/demo/samples.ts';
import { type SimulatedService, startSimulatedService } from '../../sandbox/service/server.ts';
import type { LocalSlack, LocalSlackOptions } from '../../sandbox/slack/local-slack.ts';
import { appFromManifestFile } from '../../sandbox/slack/registered-app.ts';
import type { WorkspaceOptions } from '../../sandbox/slack/state/workspaces.ts';
import { buildPage } from '../../sandbox/slack/web/build.ts';
import type { DeckhandApp } from '../../src/app.ts';
import { type Config, parseConfig, readVersion } from '../../src/config.ts';
import { defined } from '../../src/core/json.ts';
import { type Clock, systemClock } from '../../src/core/time/clock.ts';
import { createLog } from '../../src/observability/log.ts';
import { NO_TRACING, type Tracing } from '../../src/observability/tracing.ts';
import { openDeckhand } from '../../src/open.ts';
import { SCOPE_NAMES } from '../../src/slack/scopes.ts';
import { freePort } from './free-port.ts';
import { startSlack } from './start-slack.ts';
import { MEMORY_FOLDER } from './temporary.ts';

/** Ann is the workspace's admin, Ben a member, Bea keeps the books. */
export const PEOPLE = { admin: 'U0ANN', member: 'U0BEN', billing: 'U0BEA' } as const;
export const TEAM = 'T0HOUSE';
export const CHANNEL = 'C0DEPLOYS';
export const ACCOUNT = 'acme';
export const EMAIL = 'ann@example.com';
export const API_KEY = 'HouseKey00HouseKey00HouseKey00HouseKey00';

/** What the admin fills into the connect form. */
export const CREDENTIALS = { account: ACCOUNT, email: EMAIL, api_key: API_KEY };

export type TestWorld = Awaited<ReturnType<typeof openTestWorld>>;

type ServiceOptions = NonNullable<Parameters<typeof startSimulatedService>[0]>;

export interface TestWorldOptions {
  env?: Record<string, string>;
  /** Projects of the account; two small ones by default. */
  projects?: NonNullable<Parameters<SimulatedService['world']['addAccount']>[0]['projects']>;
  /** Channels of the workspace beside the two usual ones. */
  channels?: WorkspaceOptions['channels'];
  seed?: 'empty' | 'demo';
  /** Serves the workspace's web page at `slack.origin`. */
  page?: boolean;
  /** Applications registered with the service, OAuth's endpoints and what its answers say. */
  oauth?: Pick<ServiceOptions, 'oauthClients' | 'ownAuthOrigin' | 'oauthIss' | 'oauthEmail'>;
  /** Deckhand's time; the system's by default. */
  clock?: Clock;
  /** The time of all three, which a test moves. */
  time?: Clock;
  /** How the app is registered with the local Slack, beside the manifest. */
  slackApp?: NonNullable<LocalSlackOptions['app']>;
  /** Slack holds to its documented rates. */
  realRates?: boolean;
  /** Nothing is installed yet: workspaces come by OAuth. */
  byOauth?: boolean;
  /** How long Deckhand waits for an answer of the service, in milliseconds; 15 s by default. */
  serviceTimeoutMs?: number;
  /** How many times faster the service's time runs; 20 by default, or 1 beside `time`, for its tests take seconds otherwise. */
  speed?: number;
  /** How the service pages its lists; whole by default. */
  paging?: ServiceOptions['paging'];
  tracing?: Tracing;
  /** The account is connected already, as `connect` leaves it, by one workspace with the usual variables. */
  connected?: boolean;
}

/** In pictures, the service's time is that of the messages beside it. */
const SPEED = process.env.DECKHAND_SCREENSHOTS === '1' ? 1 : 20;
const A_DAY_MS = 86_400_000;
const STORE_FILE = 'deckhand.sqlite';
const KEY = Buffer.alloc(32, 7).toString('base64');
/** Read once: each test registers the app anew. */
const MANIFEST_APP = appFromManifestFile(join(import.meta.dirname, '..', '..', 'manifest.yml'));

/** Deckhand between a simulated service and a local Slack, all over real HTTP in this process. */
export async function openTestWorld(options: TestWorldOptions = {}) {
  const { time, speed = time === undefined ? SPEED : 1, slackApp = {}, realRates } = options;
  const now = time?.now;
  const seed = options.seed ?? 'empty';
  const service = await startSimulatedService({
    seed,
    speed,
    ...defined({ now, paging: options.paging }),
    ...options.oauth,
  });
  const pageDir = options.page ? await buildPage() : undefined;
  const samples = seed === 'demo' ? DEMO_SAMPLES : undefined;
  const redirects = options.byOauth === true ? { redirectUrls: undefined } : {};
  const slack = await startSlack({
    // An install asks for these alone.
    app: { ...MANIFEST_APP, botScopes: [...SCOPE_NAMES], ...redirects, ...slackApp },
    ...defined({ samples, pageDir, now, realRates }),
  });
  const { botToken } = furnish(slack, { installed: options.byOauth !== true });
  for (const channel of options.channels ?? []) slack.addChannel(TEAM, channel);
  if (seed !== 'demo') addTestAccount(service, options.projects);
  const folder = await mkdtemp(join(MEMORY_FOLDER, 'deckhand-world-'));
  if (options.connected === true) await writeFile(join(folder, STORE_FILE), await connectedStore(options));
  const env = environment(slack, service, botToken, folder);
  // Browsers reach us at a port that is known before.
  const port = options.byOauth === true ? await freePort() : 0;
  const byOauth = port === 0 ? {} : oauthEnvironment(slack, `http://127.0.0.1:${port}`);
  const bySocket = slackApp.socketMode ? { SLACK_APP_TOKEN: slack.appToken, SLACK_SIGNING_SECRET: '' } : {};
  const config = parseConfig({ ...env, PORT: String(port), ...byOauth, ...bySocket, ...options.env });
  const { logs, write, logged } = keepLog();

  async function start() {
    const { app, close } = await openUnderTest(config, write, options);
    const origin = `http://127.0.0.1:${(await app.start()).port}`;
    slack.deliverTo(`${origin}/slack/events`);
    return { app, close, origin };
  }
  let running = await start();

  return {
    slack,
    service,
    get app(): DeckhandApp {
      return running.app;
    },
    config,
    /** `http://127.0.0.1:<port>` */
    get origin(): string {
      return running.origin;
    },
    logs,
    /** Resolves with the first line, also one of the past, that holds the words. */
    logged,
    /** The folder of the SQLite file. */
    folder,
    as: (who: keyof typeof PEOPLE) => slack.as(TEAM, PEOPLE[who]),
    connect: () => connectAccount(slack),
    /** Stops Deckhand, and starts it again on the same store. */
    async restart(meanwhile: () => Promise<void>): Promise<void> {
      await running.close();
      await meanwhile();
      running = await start();
    },
    async stop(): Promise<void> {
      // The service goes at once: an answer that it holds back would be waited for.
      await Promise.all([running.close(), service.stop()]);
      await slack.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** What is different where many workspaces install Deckhand. */
export function oauthEnvironment({ app }: LocalSlack, publicUrl: string): Record<string, string> {
  return {
    SLACK_BOT_TOKEN: '',
    SLACK_CLIENT_ID: app.clientId,
    SLACK_CLIENT_SECRET: app.clientSecret,
    PUBLIC_URL: publicUrl,
  };
}

export function furnish(slack: LocalSlack, options: Partial<WorkspaceOptions> = {}): { botToken: string } {
  return slack.addWorkspace({
    ...options,
    id: TEAM,
    name: 'House',
    users: [
      { id: PEOPLE.admin, name: 'ann', real_name: 'Ann Admin', is_admin: true, tz: 'Europe/Lisbon' },
      {
        id: PEOPLE.member,
        name: 'ben',
        real_name: 'Ben Member',
        email: 'ben@house.example',
        tz: 'America/New_York',
      },
      { id: PEOPLE.billing, name: 'bea', real_name: 'Bea Billing', tz: 'Asia/Tokyo' },
    ],
    channels: [
      { id: CHANNEL, name: 'deploys', members: Object.values(PEOPLE) },
      { id: 'C0BILLING', name: 'billing', members: Object.values(PEOPLE) },
    ],
  });
}

/** The variables of one Deckhand in one workspace; polling is quick, because tests wait for it. */
export function environment(
  slack: LocalSlack,
  service: SimulatedService,
  botToken: string,
  folder: string,
): Record<string, string> {
  return {
    SLACK_SIGNING_SECRET: slack.app.signingSecret,
    SLACK_BOT_TOKEN: botToken,
    SLACK_API_URL: slack.apiUrl,
    SLACK_AUTHORIZE_URL: slack.authorizeUrl,
    SLACK_RESPONSE_HOSTS: slack.responseHost,
    HOST: '127.0.0.1',
    PORT: '0',
    SERVICE_BASE_URL: service.baseUrl,
    SERVICE_SIGNUP_URL: service.signupUrl,
    SERVICE_AUTH_URL: service.authUrl,
    SERVICE_SITE_URL: service.siteUrl,
    SERVICE_SITES_DOMAIN: service.sitesDomain,
    STORE_URL: `sqlite://${join(folder, STORE_FILE)}`,
    ENCRYPTION_KEYS: `k1:${KEY}`,
    POLL_INTERVAL_MS: '40',
    LOG_LEVEL: 'debug',
    // A process of its own starts in half the time with the code that another one has compiled.
    ...(process.env.NODE_COMPILE_CACHE === undefined
      ? {}
      : { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE }),
  };
}

/** The account that `connect` connects. */
export function addTestAccount(service: SimulatedService, projects: TestWorldOptions['projects']): void {
  service.world.addAccount({
    name: ACCOUNT,
    users: [{ email: EMAIL, apiKey: API_KEY, role: 'admin' }],
    projects: projects ?? [
      { name: 'Storefront', permalink: 'storefront', servers: [{ name: 'web-1' }, { name: 'web-2' }] },
      { name: 'Billing API', permalink: 'billing-api', servers: [{ name: 'api-1' }] },
    ],
  });
}

async function openUnderTest(
  config: Config,
  write: (line: string) => void,
  { time, clock = time ?? systemClock, serviceTimeoutMs, tracing = NO_TRACING }: TestWorldOptions,
): Promise<{ app: DeckhandApp; close: () => Promise<void> }> {
  const log = createLog(config.LOG_LEVEL, write);
  const deps = { log, version: readVersion(), clock, tracing, serviceTimeoutMs };
  const opened = await openDeckhand(config, deps);
  async function close(): Promise<void> {
    // Longer than anything takes that fails now: what is left would run in the next test, and be counted there.
    await opened.app.stop(20_000);
    await opened.close();
  }
  return { app: opened.app, close };
}

function keepLog() {
  const logs: string[] = [];
  const written = new EventEmitter().setMaxListeners(0);
  function write(line: string): void {
    logs.push(line);
    written.emit('line', line);
  }
  async function logged(words: string): Promise<string> {
    const past = logs.find((line) => line.includes(words));
    if (past !== undefined) return past;
    for await (const [line] of on(written, 'line')) if (line.includes(words)) return line;
    throw new Error('the log ended');
  }
  return { logs, write, logged };
}

/** Stores right after the account was connected, by the time of that; each is made once a worker, and copied. */
const connectedStores = new Map<number, Promise<Buffer>>();

function connectedStore({ time, clock = time ?? systemClock }: TestWorldOptions): Promise<Buffer> {
  const now = clock.now();
  const isToday = Math.abs(now - systemClock.now()) < A_DAY_MS;
  const at = isToday ? 0 : now;
  const store =
    connectedStores.get(at) ??
    makeConnectedStore(isToday ? {} : { time: { ...systemClock, now: () => now } });
  connectedStores.set(at, store);
  return store;
}

async function makeConnectedStore(options: TestWorldOptions): Promise<Buffer> {
  const world = await openTestWorld(options);
  await world.connect();
  let store = Buffer.alloc(0);
  await world.restart(async () => {
    store = await readFile(join(world.folder, STORE_FILE));
  });
  await world.stop();
  return store;
}

/** Fills and submits the connect modal as the admin. */
export async function connectAccount(slack: LocalSlack): Promise<void> {
  const ann = slack.as(TEAM, PEOPLE.admin);
  const told = (): number =>
    slack.ephemerals(TEAM, PEOPLE.admin).filter(({ text }) => /^Connected .+ with /.test(text)).length;
  const before = told();
  await ann.command(CHANNEL, `/deckhand connect ${ACCOUNT}`);
  await slack.until(() => ann.openView()?.content.callback_id === 'connect');
  const isAsked = ann.openView()?.content.blocks.some(({ block_id: id }) => id === 'purpose') === true;
  const purpose = isAsked ? { purpose: 'shared' } : {};
  const answer = await ann.submit('connect', { ...CREDENTIALS, ...purpose });
  if (answer.outcome !== 'ok') throw new Error(`connecting failed: ${answer.outcome} ${answer.body}`);
  // Or the news of it would come amid whatever a test does next.
  await slack.until(() => told() > before, { what: 'the news of the connected account' });
}
