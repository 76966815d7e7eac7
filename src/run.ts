import { readFileSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import process from 'node:process';
import { createApp, type DeckhandApp } from './app.ts';
import { CONFIG_EXIT_CODE, type Config, ConfigError, oauthClientOf, parseConfig } from './config.ts';
import { systemClock } from './core/clock.ts';
import { createLog, type Logger } from './observability/log.ts';
import { createMetrics, type Metrics } from './observability/metrics.ts';
import { NO_TRACING, type Tracing } from './observability/tracing.ts';
import { countRepeated } from './observability/uncertain-delivery.ts';
import { type Backend, openBackend } from './open-backend.ts';
import { openInstallations } from './open-installations.ts';
import { createService, type Service } from './service/client.ts';
import { createSlack } from './slack/slack.ts';
import { createWeb, type Web } from './slack/web.ts';
import { createSealer } from './store/sealer.ts';
import { SealError, StoreError } from './store/store.ts';

/** Kubernetes and systemd give up after 30 s; SIGTERM ends within 25, whatever still hangs then. */
const DRAIN_MS = 20_000;
const CUT_MS = 24_000;

/** Opens everything, and handles signals: Deckhand as a process. Ends the process where it cannot start. */
export async function run(env: Record<string, string | undefined>): Promise<void> {
  const config = configure(env);
  // Whoever reads the log may go away; that is no reason to go, too.
  process.stdout.on('error', () => undefined);
  const log = createLog(config.LOG_LEVEL, (line) => process.stdout.write(line));
  logUnhandled(log);
  try {
    const opened = await open(config, log);
    const { port } = await opened.app.start();
    tellPort(log, config, port);
    endOnSignal(opened, log);
    flushCompileCache();
  } catch (error) {
    endUnstarted(error, log);
  }
}

/** What fell through every handler is a bug, but no reason to leave all other workspaces without an answer. */
function logUnhandled(log: Logger): void {
  process.on('unhandledRejection', (err) =>
    log.error({ event: 'unhandled_rejection', err }, 'a failure met nobody'),
  );
}

function configure(env: Record<string, string | undefined>): Config {
  try {
    return parseConfig(env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(CONFIG_EXIT_CODE);
  }
}

interface Opened {
  app: DeckhandApp;
  backend: Backend;
  service: Service;
  web: Web;
  tracing: Tracing;
}

async function open(config: Config, log: Logger): Promise<Opened> {
  const clock = systemClock;
  const version = readVersion();
  const metrics: Metrics = createMetrics(version, () => backend.engine.stats());
  const tracing = await openTracing(config, version, log);
  const backend = await openBackend(config.STORE_URL, { clock, log, tracing, onJobEnd: metrics.job });
  const { store, engine } = backend;
  const sealer = createSealer(config.ENCRYPTION_KEYS, store, clock);
  await sealer.check();
  const service = createService({
    baseUrl: config.SERVICE_BASE_URL,
    signupUrl: config.SERVICE_SIGNUP_URL,
    oauth: oauthClientOf(config),
    version,
    clock,
    hookTypes: config.SERVICE_HOOK_TYPES,
    tracing,
    observe: ({ operation, kind, ms }) => metrics.serviceCall(operation, kind, ms),
  });
  const web = createWeb(config.SLACK_API_URL, log);
  const installations = openInstallations(config, { web, store, sealer, clock, log });
  const slack = createSlack({
    web,
    installations,
    clock,
    log,
    responseHosts: config.SLACK_RESPONSE_HOSTS.split(',').map((host) => host.trim()),
    tracing,
    observe: metrics.slackCall,
    onRepeat: (workspace, { channel, label, clientMsgId }) =>
      countRepeated({ log, metrics }, { workspace, channel, delivery: label ?? clientMsgId }),
  });
  const app = createApp(config, {
    clock,
    log,
    metrics,
    store,
    sealer,
    engine,
    service,
    slack,
    installations,
    tracing,
  });
  return { app, backend, service, web, tracing };
}

/** Loaded where it is switched on; off, it costs neither time nor memory. */
async function openTracing({ tracing }: Config, version: string, log: Logger): Promise<Tracing> {
  if (tracing === undefined) return NO_TRACING;
  const { openTracing: open } = await import('./observability/open-tracing.ts');
  return open(tracing, version, log);
}

/** Told at every level but `silent`: with `PORT=0` nothing else says where Deckhand is. */
function tellPort(log: Logger, { LOG_LEVEL, HOST: host }: Config, port: number): void {
  const teller = LOG_LEVEL === 'silent' ? log : log.child({}, { level: 'info' });
  teller.info({ event: 'listening', host, port, version: readVersion() }, 'Deckhand is ready');
}

function readVersion(): string {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

function endOnSignal({ app, backend, service, web, tracing }: Opened, log: Logger): void {
  let isStopping = false;
  async function stop(signal: string): Promise<void> {
    if (isStopping) return;
    isStopping = true;
    log.info({ event: 'draining', signal }, 'no new work is taken');
    // What is cut is what `kill -9` would have cut: it is stored and goes on at the next start.
    setTimeout(() => {
      log.warn({ event: 'drain_cut' }, 'work that did not end in time goes on at the next start');
      process.exit(0);
    }, CUT_MS).unref();
    await app.stop(DRAIN_MS);
    await Promise.all([service.close(), web.close()]);
    await backend.close();
    await tracing.close();
    log.info({ event: 'stopped' }, 'all work ended or was handed back');
    process.exit(0);
  }
  process.on('SIGTERM', () => void stop('SIGTERM'));
  process.on('SIGINT', () => void stop('SIGINT'));
}

/** What the operator can mend is said in one line; anything else is a bug, and its stack is of use. */
function endUnstarted(error: unknown, log: Logger): never {
  const isPlain = error instanceof SealError || error instanceof StoreError;
  const fields = isPlain ? { reason: error.message } : { err: error };
  log.fatal({ event: 'start_failed', ...fields }, 'Deckhand could not start');
  if (isPlain) process.stderr.write(`${error.message}\n`);
  process.exit(error instanceof SealError ? CONFIG_EXIT_CODE : 1);
}
