import { createApp, type DeckhandApp } from './app.ts';
import { type Config, oauthClientOf } from './config.ts';
import { type Clock, systemClock } from './core/clock.ts';
import { FairGate } from './core/shares.ts';
import type { SqliteFile } from './core/sqlite-file.ts';
import type { Engine, JobOutcome, SetAside } from './jobs/jobs.ts';
import type { JobsBackend } from './jobs/jobs-backend.ts';
import { createJobs } from './jobs/runner.ts';
import { createSqliteJobs } from './jobs/sqlite-jobs.ts';
import { openSignatures } from './listeners/receivers/signatures.ts';
import type { Logger } from './observability/log.ts';
import { countRepeated, createMetrics, type Metrics } from './observability/metrics.ts';
import { NO_TRACING, type Tracing } from './observability/tracing.ts';
import { createPictures, type Pictures } from './pictures/pictures.ts';
import { createService, type Service } from './service/client.ts';
import { responseHostsOf } from './slack/domains.ts';
import { createSlackOauth } from './slack/oauth.ts';
import { createSlack, type Slack } from './slack/slack.ts';
import { createTokenHealth } from './slack/token-health.ts';
import { createWeb, type Web } from './slack/web.ts';
import { checkKeys } from './store/key-proofs.ts';
import { type OpenStore, openStore } from './store/open-store.ts';
import { takeOver } from './store/origin.ts';
import { createSealer, type Sealer } from './store/sealer.ts';
import { asking, type QuarantinedRecord, type Store } from './store/store.ts';
import { createTenancies, type Installations, singleInstallation } from './workspace/installations.ts';
import { createLinkRequests } from './workspace/link-requests.ts';
import { createInstallations } from './workspace/oauth-installations.ts';
import { createQuarantineNotices, markSetAside } from './workspace/quarantine.ts';

export interface OpenOptions {
  log: Logger;
  /** Sent to the service and shown in metrics. */
  version: string;
  clock?: Clock;
  tracing?: Tracing;
  /** A process of its own by default. */
  pictures?: Pictures;
  /** How long the service may take to answer, in milliseconds. */
  serviceTimeoutMs?: number | undefined;
  /** How many new connections are taken in a turn of the event loop; 32, so that a burst is acknowledged in time. */
  sockets?: number;
}

/** Polls that wait for the service at once: so many of an account that none of its connections waits for one. */
const MOST_POLLS_OF_ACCOUNT = 128;
const MOST_POLLS = 4 * MOST_POLLS_OF_ACCOUNT;

export interface Opened {
  app: DeckhandApp;
  /** After `app.stop`. */
  close(): Promise<void>;
}

/**
 * Opens everything that Deckhand uses: for the process, the tests and the benchmarks alike.
 * @throws StoreError, SealError saying what to do
 */
export async function openDeckhand(config: Config, options: OpenOptions): Promise<Opened> {
  const { log, version, clock = systemClock, tracing = NO_TRACING, pictures = createPictures() } = options;
  const metrics: Metrics = createMetrics(version, () => backend.engine.stats(), clock);
  // Slack is opened after the store, which may meet such a record before.
  const unreported: QuarantinedRecord[] = [];
  let report = (record: QuarantinedRecord): void => void unreported.push(record);
  const onQuarantined = (record: QuarantinedRecord): void => {
    const { workspace, collection: kind } = record;
    // The engine counts and logs jobs and schedules itself.
    if (record.kind === 'document') {
      metrics.quarantined('document', kind);
      log.error({ event: 'record_quarantined', workspace, kind }, 'a stored record cannot be read');
    }
    report(record);
  };
  const backend = await openBackend(config.STORE_URL, {
    clock,
    log,
    tracing,
    release: version,
    onJobEnd: metrics.job,
    onQuarantined,
    onSetAside: (what) => void markSetAside({ store, log }, what),
  });
  const { store, engine } = backend;
  const sealer = createSealer(config.ENCRYPTION_KEYS, store, clock);
  await checkKeys(config.ENCRYPTION_KEYS, store);
  const service = openService(config, { ...options, clock, tracing }, metrics);
  const web = createWeb(config.SLACK_API_URL, clock);
  const installations = openInstallations(config, { web, store, sealer, clock, log });
  const slack = openSlack(config, { web, installations, clock, log, tracing, metrics });
  report = createQuarantineNotices({ slack, installations, log, word: config.SLACK_COMMAND });
  for (const record of unreported) report(record);
  const linkRequests = createLinkRequests({ store, sealer, clock });
  const app = createApp({
    config,
    version,
    clock,
    log,
    metrics,
    store,
    sealer,
    engine,
    service,
    slack,
    web,
    signatures: await openSignatures({ signingSecret: config.SLACK_SIGNING_SECRET ?? '', store, clock, log }),
    sockets: options.sockets ?? 32,
    tokenHealth: createTokenHealth(log),
    installations,
    tracing,
    pictures,
    polls: new FairGate({ most: MOST_POLLS, mostOfKey: MOST_POLLS_OF_ACCOUNT }),
    linkRequests,
    tenancies: createTenancies({ store, installations, clock }),
  });
  async function close(): Promise<void> {
    await Promise.all([service.close(), web.close()]);
    await backend.close();
  }
  return { app, close };
}

function openService(
  config: Config,
  { log, version, serviceTimeoutMs, clock, tracing }: OpenOptions & { clock: Clock },
  metrics: Metrics,
): Service {
  return createService({
    baseUrl: config.SERVICE_BASE_URL,
    signupUrl: config.SERVICE_SIGNUP_URL,
    oauth: oauthClientOf(config),
    version,
    clock,
    hookTypes: config.SERVICE_HOOK_TYPES,
    ...(tracing === undefined ? {} : { tracing }),
    ...(serviceTimeoutMs === undefined ? {} : { timeoutMs: serviceTimeoutMs }),
    observe: metrics.serviceCall,
    onSkipped: (rows) => log.warn({ event: 'rows_skipped', ...rows }, 'Rows of a list could not be read'),
  });
}

/** One token from the environment, or those of many installs. */
function openInstallations(
  config: Config,
  parts: { web: Web; store: Store; sealer: Sealer; clock: Clock; log: Logger },
): Installations {
  const { SLACK_CLIENT_ID: clientId, SLACK_CLIENT_SECRET: clientSecret, SLACK_BOT_TOKEN: token } = config;
  if (clientId === undefined || clientSecret === undefined) return singleInstallation(token ?? '');
  const oauth = createSlackOauth({ web: parts.web, clientId, clientSecret, clock: parts.clock });
  return createInstallations({ ...parts, oauth });
}

function openSlack(
  { SLACK_RESPONSE_HOSTS: hosts, SLACK_API_URL: apiUrl }: Config,
  parts: {
    web: Web;
    installations: Installations;
    clock: Clock;
    log: Logger;
    tracing: Tracing;
    metrics: Metrics;
  },
): Slack {
  return createSlack({
    ...parts,
    responseHosts: responseHostsOf(hosts, apiUrl),
    observe: parts.metrics.slackCall,
    onRepeat: (workspace, { channel, label, clientMsgId }) => {
      const log = parts.log.child({ workspace });
      countRepeated({ log, metrics: parts.metrics }, { channel, delivery: label ?? clientMsgId });
    },
  });
}

export interface Backend {
  store: OpenStore;
  /** Not started yet. */
  engine: Engine;
  /** After `engine.stop`. */
  close(): Promise<void>;
}

export interface BackendOptions {
  clock: Clock;
  /** Deckhand's own; a store that a newer one wrote is refused. Not checked where it is left out. */
  release?: string;
  log?: Pick<Logger, 'warn' | 'error'>;
  /** Off if left out. */
  tracing?: Tracing;
  /** Called with how each attempt at a job ended. */
  onJobEnd?: (queue: string, outcome: JobOutcome) => void;
  /** Called with each job and schedule that cannot be read. */
  onSetAside?: (what: SetAside) => void;
  /** Called once for each document that cannot be read. */
  onQuarantined?: (record: QuarantinedRecord) => void;
}

/**
 * Where documents and jobs are kept, by `STORE_URL` alone: an SQLite file for one process, or Postgres for any
 * number of replicas.
 * @throws StoreError saying what to do
 */
export async function openBackend(url: string, options: BackendOptions): Promise<Backend> {
  const { clock, log } = options;
  const store = await openStore(url, {
    clock,
    onQuarantined: options.onQuarantined,
    onError: (err) => log?.warn({ event: 'store_error', err }, 'the store recovers by itself'),
  });
  try {
    if (options.release !== undefined) await takeOver(store, options.release);
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
  return { store, engine: createJobs({ ...options, backend, asking }), close };
}

/** From here on the process has other work: SQLite itself never waits for a lock again, `whenFree` does. */
function openSqliteJobs(file: SqliteFile, clock: Clock): JobsBackend {
  const jobs = createSqliteJobs(file, clock);
  file.database.exec('PRAGMA busy_timeout = 0');
  return jobs;
}

/** Loaded where it is used, since most installations never do. */
async function openPostgresJobs(url: string, { clock, log }: BackendOptions): Promise<JobsBackend> {
  const { createPgBossJobs } = await import('./jobs/pg-boss-jobs.ts');
  return createPgBossJobs({ url, clock, ...(log === undefined ? {} : { log }) });
}
