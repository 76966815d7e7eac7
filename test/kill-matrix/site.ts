import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type SimulatedService, startSimulatedService } from '../../sandbox/service/server.ts';
import type { LocalSlack } from '../../sandbox/slack/local-slack.ts';
import { appFromManifestFile } from '../../sandbox/slack/registered-app.ts';
import { setDatabaseClock } from '../process/database-clock.ts';
import { createMachineClock } from '../process/machine-clock.ts';
import { type DeckhandProcess, startDeckhand } from '../support/deckhand-process.ts';
import { freePort } from '../support/free-port.ts';
import { freshDatabase } from '../support/postgres.ts';
import { startSlack } from '../support/start-slack.ts';
import { MEMORY_FOLDER } from '../support/temporary.ts';
import {
  ACCOUNT,
  API_KEY,
  CHANNEL,
  connectAccount,
  EMAIL,
  environment,
  furnish,
  oauthEnvironment,
  TEAM,
} from '../support/test-world.ts';
import {
  createCounter,
  type Door,
  type DoorName,
  openHttpDoor,
  openPostgresDoor,
  type Point,
} from './doors.ts';

const SQLITE_DOOR = pathToFileURL(join(import.meta.dirname, 'sqlite-door.ts')).href;
/** More than any act has points. */
const PROJECTS = 600;
/** About what a start takes, so that what is due at that time falls due right after it. */
const START_MS = 1_200;
/** Longer than the jobs of a dead replica are held for it. */
const LEASE_MS = 16_000;

export type StoreKind = 'sqlite' | 'postgres';
const REPLICAS = 2;

/** Deckhand as processes whose every call is counted, and which die at the one that is named. */
export interface Site {
  /** Of the first replica. */
  origin: string;
  slack: LocalSlack;
  service: SimulatedService;
  kind: StoreKind;
  /** Counts calls anew. @param point where the process that makes the call dies */
  begin(point: Point | undefined): void;
  counts(): Record<DoorName, number>;
  /** Resolves when a process has died at its point. */
  death(): Promise<void>;
  /** Starts again what died. */
  revive(): Promise<void>;
  /** By the clock of the processes and of Slack, milliseconds since the epoch. */
  now(): number;
  /** Moves the clock to right before that. On SQLite the process is started again for it. */
  moveTo(at: number): Promise<void>;
  /** Moves the clock to where others take what a dead replica had. */
  endLeases(): Promise<void>;
  /** The store's, past the door. */
  storeUrl: string;
  /** Lines of the log by which Deckhand counts what may stand twice. */
  uncertain(): Uncertain[];
  close(): Promise<void>;
}

/** Variables, perhaps by the address of the first replica. */
export type ActEnvironment = Record<string, string> | ((origin: string) => Record<string, string>);

export interface SiteOptions {
  env?: ActEnvironment | undefined;
  /** Workspaces come by OAuth, and none is there. */
  byOauth?: boolean | undefined;
  /** Processes on one Postgres; two by default. On SQLite there is one. */
  replicas?: number | undefined;
}

export interface Uncertain {
  /** A name or Slack's id of the post, or of the request that is answered. */
  delivery: string;
  line: string;
}

interface Replica {
  process: DeckhandProcess | undefined;
  env: Record<string, string>;
}

export async function openSite(
  kind: StoreKind,
  { env: more = {}, byOauth = false, replicas: wanted = REPLICAS }: SiteOptions = {},
): Promise<Site> {
  const folder = mkdtempSync(join(MEMORY_FOLDER, 'deckhand-matrix-'));
  const service = await startSimulatedService({ speed: 20 });
  let ahead = 0;
  const now = (): number => Date.now() + ahead;
  const slack = await startSlack({
    now,
    app: {
      ...appFromManifestFile(join(import.meta.dirname, '..', '..', 'manifest.yml')),
      ...(byOauth ? { redirectUrls: undefined } : {}),
    },
  });
  const { botToken } = furnish(slack, { installed: !byOauth });
  if (!byOauth) slack.invite(TEAM, CHANNEL, 'bot');
  addProjects(service);
  const amount = kind === 'sqlite' ? 1 : wanted;
  const ports = await Promise.all(Array.from({ length: amount }, freePort));
  const origin = `http://127.0.0.1:${ports[0]}`;
  const env = {
    ...environment(slack, service, botToken, folder),
    ...(byOauth ? oauthEnvironment(slack, origin) : {}),
    ...(typeof more === 'function' ? more(origin) : more),
  };
  const clock = createMachineClock(join(folder, 'clock'));
  const url = kind === 'postgres' ? await freshDatabase() : (env.STORE_URL ?? '');
  const counter = createCounter();
  const doors: Door[] = [];
  const replicas: Replica[] = [];
  const storeDoor = join(folder, 'store-door');
  const logs: string[][] = [];
  let died = Promise.withResolvers<void>();
  let begun = 0;
  let starting = Promise.resolve();

  async function addReplica(): Promise<void> {
    const replica: Replica = { process: undefined, env: {} };
    const watch = { counter, kill: () => replica.process?.signal('SIGKILL') };
    const slackDoor = await openHttpDoor('slack', new URL(slack.apiUrl).origin, watch);
    const serviceDoor = await openHttpDoor('service', service.origin, watch);
    doors.push(slackDoor, serviceDoor);
    replica.env = {
      ...env,
      ...clock.env,
      PORT: String(ports[replicas.length]),
      SLACK_API_URL: slack.apiUrl.replace(new URL(slack.apiUrl).origin, originOf(slackDoor)),
      SERVICE_BASE_URL: service.baseUrl.replace(service.origin, originOf(serviceDoor)),
    };
    if (kind === 'postgres') {
      const door = await openPostgresDoor(url, watch);
      doors.push(door);
      replica.env.STORE_URL = door.url;
    } else {
      writeFileSync(storeDoor, '');
      Object.assign(replica.env, {
        STORE_DOOR: storeDoor,
        NODE_OPTIONS: `${clock.env.NODE_OPTIONS} --import ${SQLITE_DOOR}`,
      });
    }
    replicas.push(replica);
    await start(replica);
  }

  async function start(replica: Replica): Promise<void> {
    const started = await startDeckhand(replica.env);
    replica.process = started;
    logs.push(started.log);
    deliverTo(started);
    void started.ended.then((code) => {
      replica.process = undefined;
      const other = replicas.find(({ process }) => process !== undefined)?.process;
      if (other !== undefined) deliverTo(other);
      if (code === null) died.resolve();
    });
  }

  function deliverTo({ origin: address }: DeckhandProcess): void {
    slack.deliverTo(`${address}/slack/events`);
  }

  async function endAll(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    for (const { process } of replicas) {
      process?.signal(signal);
      await process?.ended;
    }
  }

  /** One at a time, because two processes on one file end. */
  function revive(): Promise<void> {
    starting = starting.then(async () => {
      for (const replica of replicas) if (replica.process === undefined) await start(replica);
    });
    return starting;
  }

  async function advance(ms: number): Promise<void> {
    ahead += ms;
    clock.set(ahead);
    if (kind === 'postgres') await setDatabaseClock(url, ahead);
  }

  async function close(): Promise<void> {
    await endAll('SIGKILL');
    await Promise.all([...doors.map((door) => door.close()), slack.stop(), service.stop()]);
    rmSync(folder, { recursive: true, force: true });
  }

  for (let at = 0; at < amount; at += 1) await addReplica();
  if (!byOauth) await connectAccount(slack);
  return {
    origin,
    slack,
    service,
    kind,
    begin(point) {
      begun += 1;
      died = Promise.withResolvers<void>();
      const isFile = kind === 'sqlite' && point?.door === 'store';
      counter.begin(isFile ? undefined : point);
      if (kind !== 'sqlite') return;
      rmSync(`${storeDoor}-count`, { force: true });
      const counts = JSON.stringify({ at: 0, when: 'before', id: String(begun) });
      writeFileSync(storeDoor, isFile ? JSON.stringify({ ...point, id: String(begun) }) : counts);
    },
    counts() {
      const file = `${storeDoor}-count`;
      const store =
        kind === 'sqlite' && existsSync(file) ? Number(readFileSync(file, 'utf8')) : counter.counts.store;
      return { ...counter.counts, store };
    },
    death: () => died.promise,
    revive,
    now,
    async moveTo(at) {
      // Its only process waits for the minute that it knows of.
      await starting;
      if (kind === 'sqlite') await endAll('SIGTERM');
      await advance(Math.max(0, at - START_MS - now()));
      await revive();
    },
    endLeases: () => advance(LEASE_MS),
    storeUrl: url,
    uncertain() {
      const lines = logs.flat().filter((line) => line.includes('"event":"possible_duplicate"'));
      return lines.map((line) => ({ delivery: (JSON.parse(line) as Uncertain).delivery ?? '', line }));
    },
    close,
  };
}

function originOf({ port }: Door): string {
  return `http://127.0.0.1:${port}`;
}

/** One for each point, so that no run meets another of the same target. */
function addProjects(service: SimulatedService): void {
  service.world.addAccount({
    name: ACCOUNT,
    users: [{ email: EMAIL, apiKey: API_KEY, role: 'admin' }],
    projects: [
      { name: 'Storefront', permalink: 'storefront', servers: [{ name: 'web-1' }] },
      ...Array.from({ length: PROJECTS }, (_, n) => ({
        name: `Shop${n}x`,
        permalink: `shop${n}x`,
        servers: [{ name: 'web-1' }],
      })),
    ],
  });
  const user = service.world.state.accounts.get(ACCOUNT)?.users.find(({ email }) => email === EMAIL);
  Object.assign(user ?? {}, { billing: true });
}
