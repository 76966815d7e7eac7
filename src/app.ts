import type { EventHandlers } from './commands/command.ts';
import { homeOpened, refreshHomeJob } from './commands/home/publish.ts';
import { commandsFor, START } from './commands/registry.ts';
import { unfurlLinks } from './commands/unfurls/unfurl.ts';
import { STEPS } from './commands/workflows/steps.ts';
import type { Config } from './config.ts';
import { createBackgroundWork, createTurns, workInTurns } from './listeners/background-work.ts';
import { healthRoutes, STILL_ANSWERED, withoutMetrics } from './listeners/health-routes.ts';
import { lifecycleHandlers } from './listeners/install/lifecycle.ts';
import { installRoutes, WELCOME } from './listeners/install/routes.ts';
import { CONFIRM_LINK, linkRoutes } from './listeners/link/routes.ts';
import { createListeners } from './listeners/listeners.ts';
import { mcpRoutes } from './listeners/mcp/routes.ts';
import { publicRoutes } from './listeners/pages.ts';
import { LIFECYCLE_EVENTS } from './listeners/payloads/payloads.ts';
import { createReceiver } from './listeners/receivers/create-receiver.ts';
import { type Listener, listen, type Routes } from './listeners/receivers/http-server.ts';
import type { Signatures } from './listeners/receivers/signatures.ts';
import { createRegistry } from './listeners/registry.ts';
import { WATCH_VERIFICATION } from './scheduler/accounts/verification.ts';
import { digestJob } from './scheduler/digests/run-digest.ts';
import { DIGESTS } from './scheduler/digests/schedule.ts';
import { INVOICE_FEED, INVOICE_NOTICES } from './scheduler/invoices/notices.ts';
import { LATE_NOTICES } from './scheduler/schedules/notify-owner.ts';
import { feedJobs } from './scheduler/schedules/poll-account.ts';
import { reconcileJob } from './scheduler/schedules/reconcile-schedules.ts';
import { ADD_SERVER } from './scheduler/servers/add-server.ts';
import { FOLLOW_PROVISIONING } from './scheduler/servers/provisioning.ts';
import { FOLLOW_SYNC } from './scheduler/servers/sync.ts';
import { FOLLOW_TEST } from './scheduler/test-access/follow-test.ts';
import { WATCH_FEED } from './scheduler/watches/feed.ts';
import { WATCHES } from './scheduler/watches/schedule.ts';
import { END_STEP } from './scheduler/workflows/end-steps.ts';
import { checkBotToken } from './slack/token-health.ts';
import type { Web } from './slack/web.ts';
import type { JobDefinition } from './workspace/define-job.ts';
import { createWorkspaces, type Parts } from './workspace/workspace.ts';

/** What is opened once for the process, with all that only the process may know of its configuration. */
export interface AppParts extends Parts {
  config: Config;
  version: string;
  web: Web;
  signatures: Signatures;
  /** On one port: so many new connections are taken in a turn of the event loop. */
  sockets: number;
}

export type DeckhandApp = ReturnType<typeof createApp>;

/** By the event's type; manifest.yml subscribes to these and to those of the installation's life. */
const EVENT_HANDLERS: EventHandlers = {
  app_home_opened: homeOpened,
  link_shared: unfurlLinks,
};

/** The events that manifest.yml subscribes to. */
export const EVENT_TYPES: readonly string[] = [
  ...LIFECYCLE_EVENTS,
  ...Object.keys(EVENT_HANDLERS),
  'app_mention',
  'entity_details_requested',
  'function_executed',
];

/** Every kind of schedule that pauses with its account. */
const SCHEDULES = [DIGESTS, WATCHES, INVOICE_NOTICES];

/** What is done in the background. @param startedAt milliseconds since the epoch */
function jobsOf(startedAt: number): ReadonlyArray<JobDefinition<unknown>> {
  return [
    FOLLOW_TEST,
    ADD_SERVER,
    FOLLOW_PROVISIONING,
    FOLLOW_SYNC,
    WATCH_VERIFICATION,
    WELCOME,
    CONFIRM_LINK,
    END_STEP,
    refreshHomeJob,
    digestJob(startedAt),
    reconcileJob(SCHEDULES),
    LATE_NOTICES,
    ...feedJobs(WATCH_FEED, WATCHES),
    ...feedJobs(INVOICE_FEED, INVOICE_NOTICES),
  ];
}

/** Puts the features together; opens nothing before `start`. */
export function createApp(parts: AppParts) {
  const { config, clock, log, metrics, engine } = parts;
  const workspaces = createWorkspaces(parts);
  const turns = createTurns();
  const { receiver, routes: slackRoutes } = createReceiver({
    appToken: config.SLACK_APP_TOKEN,
    signatures: parts.signatures,
    apiUrl: config.SLACK_API_URL,
    log,
    tokenHealth: parts.tokenHealth,
    onAck: metrics.ack,
    onRefused: metrics.refused,
    turns,
  });
  const registry = createRegistry(commandsFor(config), START);
  const shared = { ...parts, workspaces, turns };
  const background = createBackgroundWork(log, turns);
  const events = { ...lifecycleHandlers(shared), ...EVENT_HANDLERS };
  const listeners = createListeners({ ...shared, background, registry, receiver, events, steps: STEPS });
  for (const job of [...jobsOf(clock.now()), ...listeners.jobs]) workInTurns(shared, job);
  const draining = new AbortController();
  let listener: Listener | undefined;
  let metricsListener: Listener | undefined;
  let stopping: Promise<void> | undefined;

  const health = healthRoutes(parts, () => draining.signal.aborted);
  const routes: Routes = {
    ...slackRoutes,
    ...(config.METRICS_PORT === undefined ? health : withoutMetrics(health)),
    ...mcpRoutes(shared),
    ...publicRoutes(shared),
    ...installRoutes(shared),
    ...linkRoutes(shared),
  };

  return {
    parts,
    workspaces,
    /** What the configuration allows, in the order of the help. */
    commands: registry.commands,
    /** Starts jobs and the listener. @param onListening called before Slack is reached, which may take long */
    async start(onListening?: (listener: Listener) => void): Promise<Listener> {
      await engine.start();
      const address = { host: config.HOST, port: config.PORT, sockets: parts.sockets };
      listener = await listen(routes, { ...address, log, onConnection: turns.connect });
      metricsListener = await listenForMetrics(parts, health);
      onListening?.(listener);
      void checkTokens(parts, draining.signal);
      await receiver.start();
      return listener;
    },
    /**
     * Readiness goes 503 and no new work is taken; work in flight ends within `graceMs` or is handed back.
     */
    stop: (graceMs: number): Promise<void> => {
      stopping ??= drain(graceMs);
      return stopping;
    },
  };

  async function drain(graceMs: number): Promise<void> {
    draining.abort();
    const graceIsOver = clock.sleep(graceMs);
    const turnsAway = Promise.all([receiver.stop(), listener?.drain(STILL_ANSWERED)]);
    await Promise.all([
      Promise.race([turnsAway.then(() => background.idle()), graceIsOver]),
      engine.stop(graceMs),
    ]);
    await Promise.race([parts.slack.idle(), graceIsOver]);
    parts.pictures.close();
    await Promise.all([listener?.close(), metricsListener?.close()]);
  }
}

async function listenForMetrics({ config, log }: AppParts, routes: Routes): Promise<Listener | undefined> {
  const { HOST: host, METRICS_PORT: port } = config;
  if (port === undefined) return undefined;
  const listener = await listen(routes, { host, port, variable: 'METRICS_PORT', log });
  log.info({ event: 'metrics_listening', host, metricsPort: listener.port }, 'metrics and probes are served');
  return listener;
}

/** In the background: Deckhand starts without Slack. With Socket Mode, connecting tries the app token. */
async function checkTokens(parts: AppParts, signal: AbortSignal): Promise<void> {
  const { config, web, tokenHealth: health, clock } = parts;
  const token = config.SLACK_BOT_TOKEN;
  if (token !== undefined) await checkBotToken({ token, web, health, clock, signal });
}
