import { mkdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type SimulatedService, startSimulatedService } from '../../sandbox/service/server.ts';
import type { LocalSlack } from '../../sandbox/slack/local-slack.ts';
import { appFromManifestFile } from '../../sandbox/slack/registered-app.ts';
import { setDatabaseClock } from '../process/database-clock.ts';
import { type Disk, mountDisk } from '../support/disk.ts';
import { openBrowser } from '../support/installing.ts';
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts';
import { startSlack } from '../support/start-slack.ts';
import { MEMORY_FOLDER } from '../support/temporary.ts';
import { environment, oauthEnvironment, PEOPLE } from '../support/test-world.ts';
import { openBalancer } from './balancer.ts';
import { createDiary, type Diary } from './diary.ts';
import { createReplica, type Replica } from './replica.ts';
import { addSide, SIDES, type Side } from './sides.ts';

export type StoreKind = 'sqlite' | 'postgres';

/** Deckhand as processes between a simulated service and a local Slack, and everything that can be done to them. */
export interface World {
  store: StoreKind;
  slack: LocalSlack;
  service: SimulatedService;
  replicas: readonly [Replica, ...Replica[]];
  diary: Diary;
  /** SQLite's, where one could be mounted. */
  disk: Disk | undefined;
  postgres: PostgresServer | undefined;
  /** The true time, by which Slack and the service live; milliseconds since the epoch. */
  now(): number;
  /** The time by which occurrences fall due: the one process's, or the database's. */
  occurrenceTime(): number;
  /** Everything wakes up so much later. */
  sleepThrough(ms: number): Promise<void>;
  /** The database's clock is wrong by so much. */
  setDatabaseClock(errorMs: number): Promise<void>;
  stop(): Promise<void>;
}

const REPLICAS = { sqlite: 1, postgres: 2 } as const;

/** @param onLine gets every line of Deckhand's logs */
export async function openWorld(store: StoreKind, onLine: (line: string) => void): Promise<World> {
  let aheadMs = 0;
  let databaseErrorMs = 0;
  const now = (): number => Date.now() + aheadMs;
  const service = await startSimulatedService({ now });
  const app = appFromManifestFile(join(import.meta.dirname, '..', '..', 'manifest.yml'));
  const slack = await startSlack({ app: { ...app, redirectUrls: undefined }, now, longestLog: 200_000 });
  const folder = await mkdtemp(join(MEMORY_FOLDER, 'deckhand-chaos-'));
  const data = join(folder, 'data');
  mkdirSync(data);
  const disk = store === 'sqlite' ? mountDisk(data) : undefined;
  const postgres = store === 'postgres' ? await startPostgres() : undefined;
  const database = await postgres?.createDatabase();
  const diary = createDiary(onLine);
  const balancer = await openBalancer();
  const origin = `http://127.0.0.1:${balancer.port}`;
  const env = {
    ...environment(slack, service, '', data),
    ...oauthEnvironment(slack, origin),
    POLL_INTERVAL_MS: '400',
    NOTICE_INTERVAL_MS: '1000',
    LOG_LEVEL: 'info',
    ...(database === undefined ? {} : { STORE_URL: database }),
  };
  const newReplica = (at: number): Replica =>
    createReplica({
      env,
      balancer,
      clockFile: join(folder, `clock-${at}`),
      onLine: diary.read,
      onEnd: diary.ended,
    });
  const replicas = [
    newReplica(0),
    ...Array.from({ length: REPLICAS[store] - 1 }, (_, at) => newReplica(at + 1)),
  ] as const;

  async function setClocks(): Promise<void> {
    for (const replica of replicas) replica.setClock(aheadMs, replica.errorMs);
    if (database !== undefined) await setDatabaseClock(database, aheadMs + databaseErrorMs);
  }

  slack.deliverTo(`${origin}/slack/events`);
  for (const side of SIDES) addSide(side, slack, service);
  // The first one alone makes the tables.
  for (const replica of replicas) await replica.start();
  for (const side of SIDES) await settleIn(side, slack, origin);
  return {
    store,
    slack,
    service,
    replicas,
    diary,
    disk,
    postgres,
    now,
    occurrenceTime: () => now() + (store === 'postgres' ? databaseErrorMs : replicas[0].errorMs),
    async sleepThrough(ms) {
      aheadMs += ms;
      await setClocks();
    },
    async setDatabaseClock(errorMs) {
      databaseErrorMs = errorMs;
      await setClocks();
    },
    async stop() {
      await Promise.all(replicas.map((replica) => replica.stop()));
      await Promise.all([slack.stop(), service.stop(), balancer.close()]);
      disk?.close();
      await postgres?.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Deckhand is installed into the workspace, and its account connected. */
async function settleIn(side: Side, slack: LocalSlack, origin: string): Promise<void> {
  const { account, apiKey, channels, email, team } = side;
  const { status } = await openBrowser({ slack, origin }).install(team, PEOPLE.admin);
  if (status !== 200) throw new Error(`installing answered ${status}`);
  const ann = slack.as(team, PEOPLE.admin);
  await ann.command(channels[0], '/deckhand connect');
  await slack.until(() => ann.openView()?.content.callback_id === 'connect');
  const answer = await ann.submit('connect', { account, email, api_key: apiKey });
  if (answer.outcome !== 'ok') throw new Error(`connecting failed: ${answer.outcome} ${answer.body}`);
}
