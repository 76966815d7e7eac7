import type { Command } from './commands/command.ts';
import { declareHome } from './commands/home/jobs.ts';
import { homeOpened } from './commands/home/publish.ts';
import { commandsFor, START } from './commands/registry.ts';
import { unfurlLinks } from './commands/unfurls/unfurl.ts';
import { declareSteps } from './commands/workflows/jobs.ts';
import { functionExecuted } from './commands/workflows/steps.ts';
import type { Config } from './config.ts';
import type { Deckhand, Parts } from './deckhand.ts';
import type { JobData } from './jobs/jobs.ts';
import type { EventHandlers } from './listeners/events.ts';
import { LIFECYCLE_HANDLERS } from './listeners/install/lifecycle.ts';
import { installRoutes } from './listeners/install/routes.ts';
import { WELCOME, welcome } from './listeners/install/welcome.ts';
import { linkRoutes, TELL_LINKED, tellLinked } from './listeners/link/routes.ts';
import { createListeners } from './listeners/listeners.ts';
import { createReceiver } from './listeners/receivers/create-receiver.ts';
import { type Listener, listen, type Routes, sendText } from './listeners/receivers/http-server.ts';
import { createRegistry } from './listeners/registry.ts';
import { WATCH_VERIFICATION, watchVerification } from './scheduler/accounts/verification.ts';
import { createPictures } from './scheduler/activity/pictures.ts';
import { declareSchedules } from './scheduler/jobs.ts';
import { accountsChanged } from './scheduler/schedules/reconcile-schedules.ts';
import { ADD_SERVER, addServer, orderFailed } from './scheduler/servers/add-server.ts';
import {
  FOLLOW_PROVISIONING,
  followProvisioning,
  provisioningFailed,
} from './scheduler/servers/provisioning.ts';
import { awaitSync, FOLLOW_SYNC, syncFailed } from './scheduler/servers/sync.ts';
import { FOLLOW_TEST, followTest, testFailed } from './scheduler/test-access/follow-test.ts';
import { SCOPE_NAMES } from './slack/scopes.ts';
import { createAccounts } from './workspace/accounts.ts';
import { createAudit } from './workspace/audit.ts';
import { createChannels } from './workspace/channels.ts';
import { createDigests } from './workspace/digests.ts';
import { createHome } from './workspace/home-refresh.ts';
import { createHostingCatalog } from './workspace/hosting-catalog.ts';
import { createIntegrations } from './workspace/integrations.ts';
import { createLinkRequests } from './workspace/link-requests.ts';
import { createPendingCommands } from './workspace/pending-commands.ts';
import { createProjects } from './workspace/projects.ts';
import { createRoles } from './workspace/roles.ts';
import { createTestRuns } from './workspace/test-runs.ts';
import { createUserLinks } from './workspace/user-links.ts';

export interface DeckhandApp {
  deckhand: Deckhand;
  /** What the configuration allows, in the order of the help. */
  commands: readonly Command[];
  /** Starts jobs and the listener. */
  start(): Promise<Listener>;
  /**
   * Readiness goes 503 and no new work is taken; work in flight ends within `graceMs` or is handed back.
   */
  stop(graceMs: number): Promise<void>;
}

/** While draining, so that who asks hears that we are, and not that we are gone. */
const STILL_ANSWERED = ['GET /healthz', 'GET /readyz', 'GET /metrics'];

/** Many followed runs go on at once, each mostly asleep. */
const FOLLOWED_AT_ONCE = 20_000;

/** By the event's type; manifest.yml subscribes to these. */
export const EVENT_HANDLERS: EventHandlers = {
  ...LIFECYCLE_HANDLERS,
  app_home_opened: homeOpened,
  link_shared: unfurlLinks,
  function_executed: functionExecuted,
};

/** Puts the parts together; opens nothing before `start`. */
export function createApp(config: Config, parts: Parts): DeckhandApp {
  const deckhand = assemble(config, parts);
  const { receiver, routes: slackRoutes } = createReceiver({
    appToken: config.SLACK_APP_TOKEN,
    signingSecret: config.SLACK_SIGNING_SECRET,
    apiUrl: config.SLACK_API_URL,
    now: () => parts.clock.now(),
    log: parts.log,
    onAck: parts.metrics.ack,
    onRefused: parts.metrics.refused,
  });
  const registry = createRegistry(commandsFor(config), START);
  const door = createListeners(deckhand, registry, receiver, EVENT_HANDLERS);
  declareWork(deckhand);
  declareWatches(deckhand);
  declareSchedules(deckhand);
  declareSteps(deckhand);
  declareHome(deckhand);
  let isDraining = false;
  let listener: Listener | undefined;
  let stopping: Promise<void> | undefined;

  const routes: Routes = {
    ...slackRoutes,
    'GET /healthz': (_, response) => sendText(response, 200, 'ok'),
    'GET /readyz': async (_, response) => {
      const fault = isDraining ? 'draining' : await faultOf(deckhand);
      sendText(response, fault === undefined ? 200 : 503, fault ?? 'ready');
    },
    'GET /metrics': async (_, response) => {
      const text = await parts.metrics.text();
      response.writeHead(200, { 'content-type': parts.metrics.contentType }).end(text);
    },
    ...installRoutes(deckhand),
    ...linkRoutes(deckhand),
  };

  return {
    deckhand,
    commands: registry.commands,
    async start() {
      await parts.engine.start();
      listener = await listen(routes, { host: config.HOST, port: config.PORT, log: parts.log });
      await receiver.start();
      return listener;
    },
    stop: (graceMs) => {
      stopping ??= drain(graceMs);
      return stopping;
    },
  };

  async function drain(graceMs: number): Promise<void> {
    isDraining = true;
    const graceIsOver = parts.clock.sleep(graceMs);
    const turnsAway = Promise.all([receiver.stop(), listener?.drain(STILL_ANSWERED)]);
    await Promise.all([
      Promise.race([turnsAway.then(() => door.idle()), graceIsOver]),
      parts.engine.stop(graceMs),
    ]);
    await Promise.race([deckhand.slack.idle(), graceIsOver]);
    await deckhand.pictures.close();
    await listener?.close();
  }
}

function assemble(config: Config, parts: Parts): Deckhand {
  const home = createHome(parts);
  const onState = async (workspace: string): Promise<void> => {
    await accountsChanged(parts, workspace);
    await home.refresh(workspace);
  };
  const accounts = createAccounts({ ...parts, onState });
  return {
    ...parts,
    config,
    accounts,
    channels: createChannels(parts.store),
    projects: createProjects({ accounts, clock: parts.clock }),
    listings: createHostingCatalog({ accounts, clock: parts.clock }),
    integrations: createIntegrations(parts.store),
    roles: createRoles(parts),
    audit: createAudit({ ...parts, onRecord: home.refresh }),
    home,
    runs: createTestRuns(parts.store, home.refresh),
    digests: createDigests(parts.store),
    pictures: createPictures(),
    waiting: createPendingCommands(parts),
    links: createUserLinks(parts),
    linkRequests: createLinkRequests(parts),
    scopes: SCOPE_NAMES,
  };
}

function declareWork(deckhand: Deckhand): void {
  deckhand.engine.work(FOLLOW_TEST, (job) => followTest(deckhand, job), {
    concurrency: FOLLOWED_AT_ONCE,
    attempts: 5,
    backoffMs: 1000,
    resumable: true,
    onDeadLetter: (data, error) => testFailed(deckhand, data, error),
  });
  deckhand.engine.work(ADD_SERVER, (job) => addServer(deckhand, job), {
    concurrency: 50,
    attempts: 5,
    backoffMs: 1000,
    onDeadLetter: (data) => orderFailed(deckhand, data),
  });
  deckhand.engine.work(FOLLOW_PROVISIONING, (job) => followProvisioning(deckhand, job), {
    concurrency: FOLLOWED_AT_ONCE,
    attempts: 5,
    backoffMs: 1000,
    resumable: true,
    onDeadLetter: (data, error) => provisioningFailed(deckhand, data, error),
  });
  deckhand.engine.work(FOLLOW_SYNC, (job) => awaitSync(deckhand, job), {
    concurrency: FOLLOWED_AT_ONCE,
    attempts: 3,
    backoffMs: 1000,
    resumable: true,
    onDeadLetter: (data) => syncFailed(deckhand, data),
  });
}

function declareWatches(deckhand: Deckhand): void {
  deckhand.engine.work(WELCOME, (job) => welcome(deckhand, job), {
    concurrency: 10,
    attempts: 5,
    backoffMs: 10_000,
  });
  deckhand.engine.work(WATCH_VERIFICATION, (job) => watchVerification(deckhand, job), {
    concurrency: 10,
    attempts: 5,
    backoffMs: 60_000,
  });
  deckhand.engine.work<JobData & { user: string }>(
    TELL_LINKED,
    ({ data }) => tellLinked(deckhand, data.workspace, data.user),
    { concurrency: 10, attempts: 3, backoffMs: 10_000 },
  );
}

async function faultOf(deckhand: Deckhand): Promise<string | undefined> {
  try {
    await Promise.all([deckhand.store.ping(), deckhand.engine.ping()]);
    return undefined;
  } catch (error) {
    deckhand.log.error({ event: 'not_ready', err: error }, 'the store or the engine does not answer');
    return 'the store or the engine does not answer';
  }
}
