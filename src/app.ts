import type { Command } from './commands/command.ts';
import { commandsFor, START } from './commands/registry.ts';
import type { Config } from './config.ts';
import type { Deckhand, Parts } from './deckhand.ts';
import type { JobData } from './engine/engine.ts';
import { ADD_SERVER, addServer, buryOrder } from './follow/add-server.ts';
import { buryProvisioning, FOLLOW_PROVISIONING, followProvisioning } from './follow/provisioning.ts';
import { awaitSync, burySync, FOLLOW_SYNC } from './follow/sync.ts';
import { buryTest, FOLLOW_TEST, followTest } from './follow/test-run.ts';
import { WATCH_VERIFICATION, watchVerification } from './follow/verification.ts';
import type { EventHandlers } from './front-door/events.ts';
import { createFrontDoor } from './front-door/front-door.ts';
import { createRegistry } from './front-door/registry.ts';
import { declareHome } from './home/declare.ts';
import { createHome } from './home/home.ts';
import { homeOpened } from './home/publish.ts';
import { type Listener, listen, type Routes, sendText } from './http.ts';
import { LIFECYCLE_HANDLERS } from './install/lifecycle.ts';
import { installRoutes } from './install/routes.ts';
import { WELCOME, welcome } from './install/welcome.ts';
import { createLinkRequests } from './link/requests.ts';
import { linkRoutes, TELL_LINKED, tellLinked } from './link/routes.ts';
import { declareSchedules } from './scheduler/declare.ts';
import { createPictures } from './scheduler/pictures.ts';
import { accountsChanged } from './scheduler/settle.ts';
import { SCOPE_NAMES } from './scopes.ts';
import { createEntrance } from './slack/entrance.ts';
import { declareSteps } from './steps/declare.ts';
import { functionExecuted } from './steps/steps.ts';
import { unfurlLinks } from './unfurl/unfurl.ts';
import { createAccounts } from './workspace/accounts.ts';
import { createAudit } from './workspace/audit.ts';
import { createChannels } from './workspace/channels.ts';
import { createDigests } from './workspace/digests.ts';
import { createIntegrations } from './workspace/integrations.ts';
import { createLinks } from './workspace/links.ts';
import { createListings } from './workspace/listings.ts';
import { createProjects } from './workspace/projects.ts';
import { createRoles } from './workspace/roles.ts';
import { createRuns } from './workspace/runs.ts';
import { createWaiting } from './workspace/waiting.ts';

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
  const { receiver, routes: slackRoutes } = createEntrance({
    appToken: config.SLACK_APP_TOKEN,
    signingSecret: config.SLACK_SIGNING_SECRET,
    apiUrl: config.SLACK_API_URL,
    now: () => parts.clock.now(),
    log: parts.log,
    onAck: parts.metrics.ack,
    onRefused: parts.metrics.refused,
  });
  const registry = createRegistry(commandsFor(config), START);
  const door = createFrontDoor(deckhand, registry, receiver, EVENT_HANDLERS);
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
    listings: createListings({ accounts, clock: parts.clock }),
    integrations: createIntegrations(parts.store),
    roles: createRoles(parts),
    audit: createAudit({ ...parts, onRecord: home.refresh }),
    home,
    runs: createRuns(parts.store, home.refresh),
    digests: createDigests(parts.store),
    pictures: createPictures(),
    waiting: createWaiting(parts),
    links: createLinks(parts),
    linkRequests: createLinkRequests(parts),
    scopes: SCOPE_NAMES,
  };
}

function declareWork(deckhand: Deckhand): void {
  deckhand.engine.work(FOLLOW_TEST, (job) => followTest(deckhand, job), {
    concurrency: FOLLOWED_AT_ONCE,
    attempts: 5,
    backoffMs: 1000,
    handsBack: true,
    onDead: (data, error) => buryTest(deckhand, data, error),
  });
  deckhand.engine.work(ADD_SERVER, (job) => addServer(deckhand, job), {
    concurrency: 50,
    attempts: 5,
    backoffMs: 1000,
    onDead: (data) => buryOrder(deckhand, data),
  });
  deckhand.engine.work(FOLLOW_PROVISIONING, (job) => followProvisioning(deckhand, job), {
    concurrency: FOLLOWED_AT_ONCE,
    attempts: 5,
    backoffMs: 1000,
    handsBack: true,
    onDead: (data, error) => buryProvisioning(deckhand, data, error),
  });
  deckhand.engine.work(FOLLOW_SYNC, (job) => awaitSync(deckhand, job), {
    concurrency: FOLLOWED_AT_ONCE,
    attempts: 3,
    backoffMs: 1000,
    handsBack: true,
    onDead: (data) => burySync(deckhand, data),
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
