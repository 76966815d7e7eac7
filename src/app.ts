import type { Receiver } from '@slack/bolt';
import { channelIdChanged } from './commands/channels/channel-id-changed.ts';
import { homeOpened, REFRESH_HOME } from './commands/home/home.ts';
import { commandsFor, createRegistry, START } from './commands/registry.ts';
import type { EventHandlers } from './commands/slack-event.ts';
import { unfurlLinks } from './commands/unfurls/unfurl.ts';
import { STEPS } from './commands/workflows/steps.ts';
import type { Config } from './config.ts';
import { createUninstalls, installRoutes, lifecycleHandlers, type Uninstalls } from './installing/install.ts';
import { linkRoutes } from './linking/link.ts';
import type { LinkRequests } from './linking/link-requests.ts';
import { hookRoutes } from './listeners/hooks.ts';
import { WAITING } from './listeners/inbox.ts';
import { createListeners } from './listeners/listeners.ts';
import { mcpRoutes } from './listeners/mcp.ts';
import { LIFECYCLE_EVENTS } from './listeners/payloads/payloads.ts';
import { healthRoutes, publicRoutes, readBasePath, withoutMetrics } from './listeners/public-routes.ts';
import {
  createHttpReceiver,
  createSignatures,
  createSignedBodyReader,
} from './listeners/receivers/http-receiver.ts';
import {
  createBodyReader,
  type Listener,
  listen,
  type ReadBody,
  type Routes,
  withBasePath,
} from './listeners/receivers/http-server.ts';
import { createSocketReceiver } from './listeners/receivers/socket-receiver.ts';
import { WATCH_VERIFICATION } from './scheduler/accounts/verification.ts';
import { EPISODE_WORK } from './scheduler/episodes/change-episodes.ts';
import { DIAGNOSE } from './scheduler/episodes/diagnose.ts';
import { END_QUIET } from './scheduler/episodes/end-quiet.ts';
import { ESCALATE } from './scheduler/episodes/escalation.ts';
import { LOOK } from './scheduler/episodes/look.ts';
import { MENTION_OUTAGE } from './scheduler/episodes/outage-mentions.ts';
import { REVIEW } from './scheduler/episodes/review.ts';
import { SHOW_OUTAGE } from './scheduler/episodes/show-outage.ts';
import { SCHEDULE_TYPES } from './scheduler/schedule-types.ts';
import { OWNER_NOTICES } from './scheduler/schedules/pause-schedule.ts';
import { RECONCILE, startSchedules } from './scheduler/schedules/reconcile-schedules.ts';
import { ADD_SERVER } from './scheduler/servers/add-server.ts';
import { FOLLOW_PROVISIONING, FOLLOW_SYNC } from './scheduler/servers/provisioning.ts';
import { SHOW_CHANNEL_CARD } from './scheduler/setup/show-channel-card.ts';
import { FOLLOW_TEST } from './scheduler/test-access/follow-test.ts';
import { END_STEP } from './scheduler/workflows/end-steps.ts';
import { checkBotToken } from './slack/token-health.ts';
import type { Web } from './slack/web.ts';
import { recordFormat } from './store/open-store.ts';
import { type JobDefinition, workWith } from './workspace/define-job.ts';
import { createWorkspaces, type FollowUps, type Parts } from './workspace/workspace.ts';

/** Everything that is opened once for the process, with its whole configuration. */
export interface AppParts extends Parts {
  config: Config;
  version: string;
  web: Web;
  linkRequests: LinkRequests;
}

export type DeckhandApp = ReturnType<typeof createApp>;

/** Handlers of events by type; those of the installation itself are in `installing/`. */
const EVENT_HANDLERS: EventHandlers = {
  app_home_opened: homeOpened,
  channel_id_changed: channelIdChanged,
  link_shared: unfurlLinks,
};

/** Events that manifest.yml subscribes to. */
export const EVENT_TYPES: readonly string[] = [
  ...LIFECYCLE_EVENTS,
  ...Object.keys(EVENT_HANDLERS),
  'app_mention',
  'entity_details_requested',
  'function_executed',
];

const FOLLOW_UPS: FollowUps = {
  accounts: RECONCILE,
  waiting: WAITING,
  failures: REVIEW,
  cards: SHOW_CHANNEL_CARD,
  home: REFRESH_HOME,
};

/** Lists the jobs of all features. @param startedAt milliseconds since the epoch */
function listJobs(startedAt: number): ReadonlyArray<JobDefinition<unknown>> {
  return [
    FOLLOW_TEST.job,
    ADD_SERVER,
    FOLLOW_PROVISIONING.job,
    FOLLOW_SYNC,
    WATCH_VERIFICATION,
    END_STEP,
    REFRESH_HOME,
    RECONCILE,
    OWNER_NOTICES,
    EPISODE_WORK,
    DIAGNOSE,
    END_QUIET,
    ESCALATE,
    SHOW_OUTAGE,
    SHOW_CHANNEL_CARD,
    MENTION_OUTAGE,
    REVIEW,
    LOOK,
    ...Object.values(SCHEDULE_TYPES).flatMap((type) => type.listJobs(startedAt)),
  ];
}

/** Wires the features together; opens nothing before `start`. */
export function createApp(parts: AppParts) {
  const { config, clock, log, metrics, engine } = parts;
  const workspaces = createWorkspaces({ ...parts, followUps: FOLLOW_UPS });
  const readBody = createBodyReader();
  const signingSecret = config.SLACK_SIGNING_SECRET ?? '';
  const signatures = createSignatures(parts);
  const readSignedBody = createSignedBodyReader({ signingSecret, clock, readBody, signatures });
  const { receiver, routes: slackRoutes } = openReceiver({ ...parts, readBody, readSignedBody });
  const registry = createRegistry(commandsFor(config), START);
  const shared = { ...parts, workspaces, readBody, readSignedBody };
  const uninstalls = createUninstalls(shared);
  const chores = listChores(parts, uninstalls);
  const events = { ...lifecycleHandlers({ ...shared, uninstalls }), ...EVENT_HANDLERS };
  const listeners = createListeners({ ...shared, registry, receiver, events, steps: STEPS });
  const { afterAcks } = listeners;
  for (const job of listJobs(clock.now())) workWith({ ...shared, afterAcks, waitsForToken: true }, job);
  for (const job of listeners.jobs) workWith({ ...shared, afterAcks, waitsForToken: false }, job);
  const draining = new AbortController();
  let listener: Listener | undefined;
  let metricsListener: Listener | undefined;
  let stopping: Promise<void> | undefined;

  const health = healthRoutes(parts, () => draining.signal.aborted);
  const pages = { ...publicRoutes(shared), ...installRoutes(shared), ...linkRoutes(shared) };
  const hooks = hookRoutes({ ...shared, track: listeners.track, signal: draining.signal });
  const routes: Routes = {
    ...withBasePath(
      { ...slackRoutes, ...mcpRoutes(shared), ...hooks, ...pages },
      readBasePath(config.PUBLIC_URL),
    ),
    // Not under the base path, because proxies block these by their exact paths.
    ...(config.METRICS_PORT === undefined ? health : withoutMetrics(health)),
  };

  return {
    parts,
    workspaces,
    chores,
    /** Commands that the configuration allows, in the order of the help. */
    commands: registry.commands,
    /** Starts jobs and the server. @param onListening called before Slack is reached, which may take long */
    async start(onListening?: (listener: Listener) => void): Promise<Listener> {
      await engine.start();
      const { hosts, PORT: port } = config;
      listener = await listen(routes, { hosts, port, log, onRefused: metrics.refused });
      metricsListener = await listenForMetrics(parts, health);
      onListening?.(listener);
      await recordFormat(parts.store, parts.version);
      // Not awaited, because Deckhand starts without Slack. In Socket Mode, connecting checks the app token.
      const { tokenHealth, web } = parts;
      const token = config.SLACK_BOT_TOKEN;
      if (token !== undefined)
        void checkBotToken({ token, web, health: tokenHealth, clock, signal: draining.signal });
      void chores.uninstalls.sweep();
      void startSchedules(shared, draining.signal);
      await receiver.start();
      return listener;
    },
    /**
     * Answers readiness with 503 and begins no more jobs; running work ends within `graceMs` or is handed back. Requests
     * that still arrive are stored and acknowledged for the next process or another replica.
     * @param noticedMs how long it keeps listening, so that proxies notice
     */
    stop: (graceMs: number, noticedMs = 0): Promise<void> => {
      stopping ??= drain(graceMs, noticedMs);
      return stopping;
    },
  };

  async function drain(graceMs: number, noticedMs: number): Promise<void> {
    draining.abort();
    listener?.drain();
    const graceIsOver = clock.sleep(graceMs);
    const isNoticed = noticedMs > 0 ? clock.sleep(noticedMs) : undefined;
    await Promise.all([Promise.race([listeners.idle(), graceIsOver]), engine.stop(graceMs), isNoticed]);
    await Promise.all([receiver.stop(), listener?.close()]);
    await Promise.race([listeners.idle().then(() => parts.slack.idle()), graceIsOver]);
    await metricsListener?.close();
  }
}

/** Work that each process repeats, by cron line. Never rejects. */
function listChores({ store, log }: AppParts, uninstalls: Uninstalls) {
  const sweep = (kind: string, work: () => Promise<void>) => ({
    cron: '*/10 * * * *',
    sweep: (): Promise<void> =>
      work().catch((err: unknown) => log.warn({ event: 'sweep_failed', kind, err }, 'Sweep failed')),
  });
  return {
    uninstalls: sweep('uninstalls', uninstalls.sweep),
    expiredDocuments: sweep('expired documents', store.sweep),
  };
}

/** Slack sends signed requests to our server, or payloads over a connection that we open (Socket Mode). */
function openReceiver(parts: AppParts & { readBody: ReadBody; readSignedBody: ReadBody }): {
  receiver: Receiver;
  routes: Routes;
} {
  const { SLACK_APP_TOKEN: appToken, SLACK_API_URL: apiUrl } = parts.config;
  const { ack: onAck, socket } = parts.metrics;
  const onOpen = (isOpen: boolean): void => {
    socket(isOpen);
    parts.tokenHealth.connected(isOpen);
  };
  if (appToken !== undefined)
    return { receiver: createSocketReceiver({ ...parts, appToken, apiUrl, onAck, onOpen }), routes: {} };
  const receiver = createHttpReceiver({ ...parts, onAck });
  return { receiver, routes: { 'POST /slack/events': receiver.handler } };
}

async function listenForMetrics({ config, log }: AppParts, routes: Routes): Promise<Listener | undefined> {
  const { hosts, HOST: host, METRICS_PORT: port } = config;
  if (port === undefined) return undefined;
  const listener = await listen(routes, { hosts, port, variable: 'METRICS_PORT', log });
  log.info({ event: 'metrics_listening', host, metricsPort: listener.port }, 'Metrics port opened');
  return listener;
}
