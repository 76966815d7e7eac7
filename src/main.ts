import { readFileSync } from 'node:fs';
import process from 'node:process';
import { createApp } from './app.ts';
import { systemClock } from './clock.ts';
import { CONFIG_EXIT_CODE, type Config, ConfigError, oauthClientOf, parseConfig } from './config.ts';
import { openBackend } from './engine/open-backend.ts';
import { openInstallations } from './install/open-installations.ts';
import { createLog } from './log.ts';
import { createMetrics } from './metrics.ts';
import { createService } from './service/client.ts';
import { createSlack } from './slack/slack.ts';
import { createWeb } from './slack/web.ts';
import { createSealer } from './store/sealer.ts';
import { SealError, StoreError } from './store/store.ts';

/** Kubernetes and systemd give up after 30 s; SIGTERM ends within 25, whatever still hangs then. */
const DRAIN_MS = 20_000;
const CUT_MS = 24_500;

function configure(): Config {
  try {
    process.loadEnvFile('.env');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
  }
  try {
    return parseConfig(process.env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(CONFIG_EXIT_CODE);
  }
}

const config = configure();
const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};
const log = createLog(config.LOG_LEVEL, (line) => process.stdout.write(line));

async function main(): Promise<void> {
  const metrics = createMetrics(version, () => backend.engine.stats());
  const backend = await openBackend(config.STORE_URL, { clock: systemClock, log, onJobEnd: metrics.job });
  const { store, engine } = backend;
  const sealer = createSealer(config.ENCRYPTION_KEYS, store, systemClock);
  await sealer.check();
  const service = createService({
    baseUrl: config.SERVICE_BASE_URL,
    signupUrl: config.SERVICE_SIGNUP_URL,
    oauth: oauthClientOf(config),
    version,
    clock: systemClock,
    hookTypes: config.SERVICE_HOOK_TYPES,
    observe: ({ operation, kind, ms }) => metrics.serviceCall(operation, kind, ms),
  });
  const web = createWeb(config.SLACK_API_URL, log);
  const installations = openInstallations(config, { web, store, sealer, clock: systemClock, log });
  const slack = createSlack({
    web,
    installations,
    clock: systemClock,
    log,
    responseHosts: config.SLACK_RESPONSE_HOSTS.split(',').map((host) => host.trim()),
    observe: metrics.slackCall,
  });
  const parts = { clock: systemClock, log, metrics, store, sealer, engine, service, slack, installations };
  const app = createApp(config, parts);
  const { port } = await app.start();
  log.info({ event: 'listening', host: config.HOST, port, version }, 'Deckhand is ready');

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
    log.info({ event: 'stopped' }, 'all work ended or was handed back');
    process.exit(0);
  }
  process.on('SIGTERM', () => void stop('SIGTERM'));
  process.on('SIGINT', () => void stop('SIGINT'));
}

main().catch((error: unknown) => {
  // What the operator can mend is said in one line; anything else is a bug, and its stack is of use.
  const isPlain = error instanceof SealError || error instanceof StoreError;
  const fields = isPlain ? { reason: error.message } : { err: error };
  log.fatal({ event: 'start_failed', ...fields }, 'Deckhand could not start');
  if (isPlain) process.stderr.write(`${error.message}\n`);
  process.exit(error instanceof SealError ? CONFIG_EXIT_CODE : 1);
});
