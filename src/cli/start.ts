import { flushCompileCache } from 'node:module';
import process from 'node:process';
import { schedule, shutdown } from 'node-cron';
import { CONFIG_EXIT_CODE, type Config, readVersion, TEMPORARY_EXIT_CODE } from '../config.ts';
import { MINUTE_MS } from '../core/time/clock.ts';
import { ListenError } from '../listeners/receivers/http-server.ts';
import { createLog, type Logger } from '../observability/log.ts';
import { NO_TRACING, type Tracing } from '../observability/tracing.ts';
import { type Opened, openDeckhand } from '../open.ts';
import { explainStoreFault } from '../store/database-fault.ts';
import { isPostgres } from '../store/open-store.ts';
import { watchEnd } from './previous-end.ts';
import { describeFault, type Fault } from './program.ts';

/** Kubernetes and systemd kill after 30 s. SIGTERM ends within 25 s, even if something hangs. */
const DRAIN_MS = 20_000;
const CUT_MS = 24_000;
/** Time until a proxy that checks readiness each second sends everything to the other replicas. */
const NOTICED_MS = 3_000;

/** A busy process runs a chore a little later. */
const CHORES = { missedExecutionTolerance: 5 * MINUTE_MS, suppressMissedWarning: true };

/** Runs Deckhand as a process: opens everything and handles signals. Ends the process if it cannot start. */
export async function startProcess(config: Config): Promise<void> {
  const log = createLog(config.LOG_LEVEL);
  logUnhandled(log);
  for (const signal of SIGNALS) process.on(signal, endBeforeStart);
  try {
    const version = readVersion();
    const tracing = await openTracing(config, version, log);
    const opened = await openDeckhand(config, { log, version, tracing });
    await opened.app.start(({ port }) => {
      endOnSignal({ ...opened, recordEnd: watchEnd(opened, port) }, config, tracing, log);
      logPort(log, config, port);
    });
    for (const { cron, sweep } of Object.values(opened.app.chores)) schedule(cron, sweep, CHORES);
    flushCompileCache();
  } catch (error) {
    endUnstarted(error, config, log);
  }
}

/** A rejection without a handler is a bug, but must not stop Deckhand for all other workspaces. */
function logUnhandled(log: Logger): void {
  process.on('unhandledRejection', (err) =>
    log.error({ event: 'unhandled_rejection', err }, 'Promise rejected without a handler'),
  );
}

/** Loads tracing only if it is on: it costs time and memory. */
async function openTracing({ hasTraces }: Config, version: string, log: Logger): Promise<Tracing> {
  if (!hasTraces) return NO_TRACING;
  const { openTracing: open } = await import('../observability/open-tracing.ts');
  return open(version, log);
}

/** Logs the port at every level but `silent`: with `PORT=0` nothing else tells it. */
function logPort(log: Logger, { LOG_LEVEL, HOST: host }: Config, port: number): void {
  const portLog = LOG_LEVEL === 'silent' ? log : log.child({}, { level: 'info' });
  portLog.info({ event: 'listening', host, port, version: readVersion() }, 'Deckhand started');
}

function endOnSignal(
  { app, close, recordEnd }: Opened & { recordEnd: () => Promise<void> },
  { STORE_URL }: Config,
  tracing: Tracing,
  log: Logger,
): void {
  let isStopping = false;
  async function stop(signal: string): Promise<void> {
    if (isStopping) return;
    isStopping = true;
    log.info({ event: 'draining', signal }, 'Shutdown began');
    // Unfinished work is stored and continues at the next start, like after `kill -9`.
    setTimeout(() => {
      log.warn({ event: 'drain_cut' }, 'Shutdown timed out');
      process.exit(0);
    }, CUT_MS).unref();
    void shutdown();
    await Promise.all([app.stop(DRAIN_MS, isPostgres(STORE_URL) ? NOTICED_MS : 0), recordEnd()]);
    await close();
    await tracing.close();
    log.info({ event: 'stopped' }, 'Deckhand stopped');
    process.exit(0);
  }
  for (const signal of SIGNALS) {
    process.removeListener(signal, endBeforeStart);
    process.on(signal, () => void stop(signal));
  }
}

/** A closed terminal sends SIGHUP. */
const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/** Ends the process as the signal would. The system ignores a signal without a handler if the process has the number 1. */
function endBeforeStart(_: NodeJS.Signals, number: number): never {
  process.exit(128 + number);
}

/** Prints one sentence if the operator can fix the fault or wait. Anything else is a bug and is logged with its stack. */
function endUnstarted(error: unknown, config: Config, log: Logger): never {
  const fault = startFault(error, config.STORE_URL);
  const fields = fault === undefined ? { err: error } : { reason: fault.sentence };
  log.fatal({ event: 'start_failed', ...fields }, 'Start failed');
  if (fault !== undefined) process.stderr.write(`${fault.sentence}\n`);
  process.exit(fault?.exitCode ?? 1);
}

/** Says why Deckhand could not start. Returns undefined for a bug. */
export function startFault(error: unknown, storeUrl: string): Fault | undefined {
  if (!(error instanceof ListenError)) return describeFault(explainStoreFault(storeUrl, error) ?? error);
  return { sentence: error.message, exitCode: error.isTemporary ? TEMPORARY_EXIT_CODE : CONFIG_EXIT_CODE };
}
