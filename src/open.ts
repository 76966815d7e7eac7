import type { DatabaseSync } from 'node:sqlite';
import { type AppParts, createApp, type DeckhandApp } from './app.ts';
import { type Config, readOauthClient } from './config.ts';
import { type Clock, systemClock } from './core/time/clock.ts';
import { createInstallations } from './installing/oauth-installations.ts';
import type { Engine, EngineStats, JobOutcome, JobsBackend } from './jobs/jobs.ts';
import { createJobs } from './jobs/runner.ts';
import { createSqliteJobs } from './jobs/sqlite-jobs.ts';
import { createLinkRequests } from './linking/link-requests.ts';
import type { Logger } from './observability/log.ts';
import { countPossibleDuplicate, createMetrics, type Metrics } from './observability/metrics.ts';
import { NO_TRACING, type Tracing } from './observability/tracing.ts';
import { SCHEDULE_KINDS } from './records/schedules.ts';
import { createService, type Service } from './service/client.ts';
import { createSlack, type Slack } from './slack/slack.ts';
import { createTokenHealth } from './slack/token-health.ts';
import { listResponseHosts } from './slack/uploads.ts';
import { createWeb } from './slack/web.ts';
import { checkKeys } from './store/data-keys.ts';
import { expectReadable, type OpenStore, openStore, readBackup } from './store/open-store.ts';
import { createSealer } from './store/sealer.ts';
import { type Access, measureFreeBytes } from './store/sqlite.ts';
import { mapDatabaseErrors, type UnreadableDocument } from './store/store.ts';
import {
  type Installations,
  makePublicAddress,
  REDIRECT_PATH,
  singleInstallation,
} from './workspace/installations.ts';

export interface OpenOptions {
  log: Logger;
  /** Deckhand's version, for the service and the metrics. */
  version: string;
  clock?: Clock;
  tracing?: Tracing;
  /** Time-out of calls to the service. */
  serviceTimeoutMs?: number | undefined;
  /** `alone` by default. With `beside`, never start the app. */
  access?: Access | undefined;
}

export interface Opened {
  app: DeckhandApp;
  /** Call it after `app.stop`. */
  close(): Promise<void>;
}

/**
 * Opens everything that Deckhand uses, for the process, the tests and the benchmarks.
 * @throws StoreError, SealError saying what to do
 */
export async function openDeckhand(config: Config, options: OpenOptions): Promise<Opened> {
  const { log, version, clock = systemClock, tracing = NO_TRACING, serviceTimeoutMs, access } = options;
  const metrics: Metrics = createMetrics(version, countJobs, clock, measureStore);
  metrics.beginKinds(SCHEDULE_KINDS);
  const onUnreadable = reportUnreadable(log, metrics);
  const backend = await openBackend(config.STORE_URL, {
    clock,
    release: version,
    log,
    access,
    tracing,
    onJobEnd: metrics.job,
    onUnreadable,
  });
  const { store, engine } = backend;
  const sealer = createSealer(config.ENCRYPTION_KEYS, store, clock);
  await checkKeys(config.ENCRYPTION_KEYS, store);
  const service = openService({ config, log, version, clock, tracing, metrics }, serviceTimeoutMs);
  const web = createWeb(config.SLACK_API_URL, clock, log, config.proxies);
  const tokenHealth = createTokenHealth(log, clock, metrics.tokenRefused);
  const installations = openInstallations({ config, clock, log, store, sealer, tokenHealth, web });
  const slack = openSlack({ config, clock, log, tracing, metrics, tokenHealth, web, installations });
  const app = createApp({
    config,
    version,
    clock,
    log,
    tracing,
    metrics,
    onUnreadable,
    store,
    sealer,
    engine,
    service,
    web,
    tokenHealth,
    installations,
    slack,
    linkRequests: createLinkRequests({ store, sealer, clock, installations }),
  });
  /** Writes as well, because a full or read-only database still counts jobs. */
  async function countJobs(): Promise<EngineStats> {
    const [stats] = await Promise.all([engine.stats(), store.ping()]);
    return stats;
  }
  /** On Postgres, neither the disk nor the backup is ours. */
  async function measureStore() {
    const path = store.sqlite?.location();
    if (!path) return { freeBytes: undefined, backupDue: undefined };
    const [freeBytes, backup] = await Promise.all([
      measureFreeBytes(path).catch(() => undefined),
      readBackup(store, clock.now()),
    ]);
    return { freeBytes, backupDue: backup?.due };
  }

  async function close(): Promise<void> {
    await Promise.all([service.close(), web.close()]);
    await backend.close();
  }
  return { app, close };
}

/** Logs and counts each unreadable document once. */
function reportUnreadable(log: Logger, metrics: Metrics): (document: UnreadableDocument) => void {
  const reported = new Set<string>();
  return ({ workspace, collection: kind, id }) => {
    const key = `${workspace}/${kind}/${id}`;
    if (reported.has(key)) return;
    reported.add(key);
    metrics.unreadable('document', kind);
    log.error({ event: 'record_unreadable', workspace, kind }, 'Unreadable record skipped');
  };
}

type Needs<Names extends keyof AppParts> = Pick<AppParts, Names | 'config' | 'clock' | 'log'>;

function openService(
  { config, log, version, clock, tracing, metrics }: Needs<'version' | 'tracing' | 'metrics'>,
  timeoutMs: number | undefined,
): Service {
  return createService({
    baseUrl: config.SERVICE_BASE_URL,
    signupUrl: config.SERVICE_SIGNUP_URL,
    descriptionUrl: config.SERVICE_DESCRIPTION_URL,
    oauth: readOauthClient(config),
    version,
    clock,
    tracing,
    hookTypes: config.SERVICE_HOOK_TYPES,
    proxies: config.proxies,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    observe: metrics.serviceCall,
    onSkipped: (rows) => log.warn({ event: 'rows_skipped', ...rows }, 'Unreadable rows of a list skipped'),
  });
}

/** Uses the token from the environment, or those of many installs. */
function openInstallations({
  config,
  clock,
  log,
  store,
  sealer,
  tokenHealth,
  web,
}: Needs<'store' | 'sealer' | 'tokenHealth' | 'web'>): Installations {
  const { SLACK_CLIENT_ID: id, SLACK_CLIENT_SECRET: secret } = config;
  if (id === undefined || secret === undefined)
    return singleInstallation(config.SLACK_BOT_TOKEN ?? '', { store, clock, tokenHealth });
  const { SLACK_API_URL: apiUrl, SLACK_AUTHORIZE_URL: authorizeUrl, PUBLIC_URL } = config;
  return createInstallations({
    store,
    sealer,
    clock,
    log,
    web,
    client: { id, secret, apiUrl, authorizeUrl },
    redirectUri: PUBLIC_URL === undefined ? undefined : makePublicAddress(PUBLIC_URL, REDIRECT_PATH),
  });
}

function openSlack({
  config,
  clock,
  log,
  tracing,
  metrics,
  tokenHealth,
  web,
  installations,
}: Needs<'web' | 'installations' | 'tracing' | 'metrics' | 'tokenHealth'>): Slack {
  return createSlack({
    web,
    installations,
    clock,
    log,
    tracing,
    responseHosts: listResponseHosts(config.SLACK_RESPONSE_HOSTS, config.SLACK_API_URL),
    observe(method, outcome, ms) {
      metrics.slackCall(method, outcome, ms);
      if (outcome === 'revoked' && installations.byOauth === undefined) tokenHealth.suspect();
    },
    onRepeat: (workspace, post) =>
      countPossibleDuplicate({ log: log.child({ workspace }), metrics }, 'post', post),
  });
}

export interface Backend {
  store: OpenStore;
  /** Not started yet. */
  engine: Engine;
  /** Call it after `engine.stop`. */
  close(): Promise<void>;
}

export interface BackendOptions {
  clock: Clock;
  /** Deckhand's release; a store of a newer format is refused. Unchecked if left out. */
  release?: string;
  log?: Pick<Logger, 'warn' | 'error'>;
  access?: Access | undefined;
  /** Off by default. */
  tracing?: Tracing;
  onJobEnd?: (queue: string, outcome: JobOutcome) => void;
  /** Called for each unreadable document. */
  onUnreadable?: (document: UnreadableDocument) => void;
}

/**
 * Opens documents and jobs by `STORE_URL`: an SQLite file for one process, or Postgres for any number of replicas.
 * @throws StoreError saying what to do
 */
export async function openBackend(url: string, options: BackendOptions): Promise<Backend> {
  const { clock, log, access = 'alone' } = options;
  const store = await openStore(url, {
    clock,
    access,
    onUnreadable: options.onUnreadable,
    onError: (err) => log?.warn({ event: 'store_error', err }, 'Store error'),
  });
  try {
    if (options.release !== undefined) await expectReadable(store, options.release);
  } catch (error) {
    await store.close();
    throw error;
  }
  const backend =
    store.sqlite === undefined ? await openPostgresJobs(url, options) : openSqliteJobs(store.sqlite, clock);
  const close = async (): Promise<void> => {
    await backend.close();
    await store.close();
  };
  return { store, engine: createJobs({ ...options, backend, mapErrors: mapDatabaseErrors }), close };
}

/** Opens the jobs. From now on SQLite never waits for a lock, because it blocks the process; `retryIfLocked` does. */
function openSqliteJobs(database: DatabaseSync, clock: Clock): JobsBackend {
  const jobs = createSqliteJobs(database, clock);
  database.exec('PRAGMA busy_timeout = 0');
  return jobs;
}

/** Loaded only here, because most installations never use it. */
async function openPostgresJobs(url: string, { clock, log }: BackendOptions): Promise<JobsBackend> {
  const { createPgBossJobs } = await import('./jobs/pg-boss-jobs.ts');
  return createPgBossJobs({ url, clock, ...(log === undefined ? {} : { log }) });
}
