import { App, type Receiver, type ReceiverEvent } from '@slack/bolt';
import { ZodError } from 'zod';
import type { EventHandlers, WorkflowStep } from '../commands/command.ts';
import { createContext } from '../commands/resolve-target.ts';
import { InstallationEnded } from '../core/errors.ts';
import type { Caller } from '../core/reply.ts';
import type { Logger } from '../observability/log.ts';
import type { Tracing } from '../observability/tracing.ts';
import { libraryLogger } from '../slack/sdk.ts';
import { failureMessage } from '../views/blocks/failures.ts';
import type { JobDefinition } from '../workspace/define-job.ts';
import type { Workspace, Workspaces } from '../workspace/workspace.ts';
import type { BackgroundWork } from './background-work.ts';
import {
  createDurableRequests,
  type DurableRequests,
  isStoredFirst,
  type Live,
  type StoredEvent,
  type StoredRequest,
} from './durable-requests.ts';
import { createLiveEvents, LIVE_EVENTS, type LiveEvents } from './live-events.ts';
import { mentionHandler } from './mentions.ts';
import {
  type IncomingRequest,
  payloadSpan,
  readAction,
  readCommand,
  readEvent,
  readInteraction,
  readShortcut,
  viewStateOf,
} from './payloads/payloads.ts';
import { OptionsBody, SubmissionBody } from './payloads/schemas.ts';
import { carryOut } from './pipeline/pipeline.ts';
import { explainNotStored, respondFailure, respondPrivately } from './pipeline/respond.ts';
import { runText } from './pipeline/run-command.ts';
import { actionAsked, shortcutAsked } from './pipeline/run-interaction.ts';
import { runOptions } from './pipeline/run-options.ts';
import { createSteps } from './pipeline/run-step.ts';
import { createSubmissions } from './pipeline/run-submission.ts';
import type { Registry } from './registry.ts';

export interface ListenerParts {
  log: Logger;
  tracing: Tracing;
  config: { SLACK_API_URL: string };
  workspaces: Workspaces;
  registry: Registry;
  receiver: Receiver;
  background: BackgroundWork;
  events: EventHandlers;
  /** By `callback_id`. */
  steps: Readonly<Record<string, WorkflowStep>>;
}

export interface Listeners {
  app: App;
  /** What is stored before its ack, carried out as jobs. */
  jobs: readonly JobDefinition<unknown>[];
  /** Resolves when all that was acknowledged is carried out or stored. */
  idle(): Promise<void>;
}

interface Shared extends Pick<ListenerParts, 'log' | 'registry' | 'workspaces'> {
  background: BackgroundWork;
  requests: DurableRequests;
}

type Ack = (answer?: unknown) => Promise<void>;

/** Bolt, with every way in registered: no command, click, form or event is left without an answer. */
export function createListeners(parts: ListenerParts): Listeners {
  const { log, registry, workspaces, background } = parts;
  const steps = createSteps(parts.steps);
  const mentions = { app_mention: mentionHandler(() => requests) };
  const events: EventHandlers = { ...parts.events, ...mentions, function_executed: steps.functionExecuted };
  const requests = createDurableRequests({
    run: (workspace, request, live) => run(registry, workspace, request, live, true),
    fail(workspace, request, live, error) {
      return respondFailure(createContext(workspace, callerOf(request, live)), error);
    },
    async runEvent({ about, body }) {
      const caller: Caller = { user: '', channel: undefined, requestId: body.event_id };
      await events[body.event.type]?.(createContext(await workspaces.enter(about), caller), body);
    },
  });
  const shared = { log, registry, workspaces, background, requests };
  const app = new StoringApp(parts, requests, events, createLiveEvents(shared));
  const submissions = createSubmissions(registry);

  app.command(/.*/, ({ body, ack }) => take(shared, readCommand(body), (answer) => ack(answer as string)));
  app.action(/.*/, ({ body, ack }) => take(shared, readAction(body), () => ack()));
  app.shortcut(/.*/, ({ body, ack }) => take(shared, readShortcut(body), () => ack()));
  app.view({ callback_id: /.*/, type: 'view_submission' }, async ({ body, ack }) => {
    const form = SubmissionBody.parse(body);
    const { workspace, caller } = readInteraction(form);
    const state = viewStateOf(form.view);
    const work = submissions.take(await workspaces.enter(workspace), caller, state, ack as Ack);
    background.track(work);
    await work;
  });
  app.view({ callback_id: /.*/, type: 'view_closed' }, ({ ack }) => ack());
  app.options(/.*/, async ({ body, ack }) => {
    const menu = OptionsBody.parse(body);
    const { workspace, caller } = readInteraction(menu);
    await (ack as Ack)(await runOptions(await workspaces.enter(workspace), registry, caller, menu));
  });
  return { app, jobs: [...requests.jobs, submissions.job, steps.job], idle: () => background.idle() };
}

/**
 * Acknowledges a request and has it carried out. What changes something is stored before its ack, so that a
 * `kill -9` loses nothing that Slack believes was taken.
 */
async function take(shared: Shared, incoming: IncomingRequest, ack: Ack): Promise<void> {
  const { workspaces, registry, requests, background } = shared;
  const { request, live } = incoming;
  const workspace = await workspaces.enter(incoming.workspace);
  if (isStoredFirst(registry, request)) return store(shared, workspace, incoming, ack);
  await ack();
  if (isForSlack(registry, request, live)) return;
  background.begin(incoming.workspace, async () => {
    if (request.kind === 'shortcut' && !(await requests.isNew(workspace, request.caller.requestId))) return;
    await run(registry, workspace, request, live);
  });
}

async function store(
  { requests }: Shared,
  workspace: Workspace,
  { request, live, caller }: IncomingRequest,
  ack: Ack,
): Promise<void> {
  try {
    await requests.store(workspace, request, live);
  } catch (error) {
    const message = failureMessage(explainNotStored(workspace, error));
    // Only the ack of a command is shown to the person.
    if (request.kind === 'command') return ack(message.text);
    await ack();
    return respondPrivately(workspace, caller, message);
  }
  await ack();
}

/** A button that opens an address is handled by Slack itself, and so is typing in a field without an action of ours. */
function isForSlack(registry: Registry, request: StoredRequest, { state }: Live): boolean {
  if (request.kind !== 'action') return false;
  const isKnown = registry.action(request.actionId, state?.view.callback_id) !== undefined;
  return !isKnown && (request.actionId.startsWith('link:') || state !== undefined);
}

/** @throws StoreUnavailable where a stored request is to be carried out again */
async function run(
  registry: Registry,
  workspace: Workspace,
  request: StoredRequest,
  live: Live,
  isStored?: true,
): Promise<void> {
  const caller: Caller = { ...callerOf(request, live), isStored };
  const scene = { registry, workspace: workspace.forRequest(), caller };
  switch (request.kind) {
    case 'command':
      return runText(scene, request);
    case 'action':
      return void (await carryOut(actionAsked({ ...scene, request, live })));
    case 'shortcut':
      return void (await carryOut(shortcutAsked({ ...scene, request, live })));
  }
}

function callerOf({ caller }: StoredRequest, { responseUrl, triggerId }: Live): Caller {
  return { channel: undefined, ...caller, responseUrl, triggerId };
}

/** Bolt acknowledges events before a handler has seen them; here they are stored first. */
class StoringApp extends App {
  readonly #parts: ListenerParts;
  readonly #requests: DurableRequests;
  readonly #events: EventHandlers;
  /** With those that are answered at once. */
  readonly #named: Readonly<Record<string, unknown>>;
  readonly #live: LiveEvents;

  constructor(parts: ListenerParts, requests: DurableRequests, events: EventHandlers, live: LiveEvents) {
    super({
      receiver: parts.receiver,
      // Tokens are looked up where they are used, so that no request waits for the store before its ack.
      authorize: async () => ({}),
      ignoreSelf: false,
      convoStore: false,
      logger: libraryLogger(parts.log, 'bolt'),
      clientOptions: { slackApiUrl: parts.config.SLACK_API_URL },
    });
    this.#parts = parts;
    this.#requests = requests;
    this.#events = events;
    this.#named = { ...events, ...LIVE_EVENTS };
    this.#live = live;
    this.error(async (error) => {
      if (error.original instanceof ZodError) return this.#logMalformed(error.original);
      parts.log.error({ event: 'bug', err: error }, 'a request of Slack failed without an answer');
    });
  }

  override processEvent(event: ReceiverEvent): Promise<void> {
    return this.#parts.tracing.run(payloadSpan(event.body, this.#named), () => this.#take(event));
  }

  async #take(event: ReceiverEvent): Promise<void> {
    if (event.body.type !== 'event_callback') return this.#passToBolt(event);
    if (this.#live.begin(event.body)) return event.ack();
    const known = readEvent(event.body, this.#events);
    if (known !== undefined) await this.#store(known.keeper, known.event);
    await event.ack();
  }

  /** Where it is not stored, it is not acknowledged, so that Slack sends it again. */
  async #store(keeper: string, event: StoredEvent): Promise<void> {
    const { workspaces, log } = this.#parts;
    try {
      await this.#requests.storeEvent(await workspaces.enter(keeper), event);
    } catch (error) {
      if (!(error instanceof InstallationEnded)) throw error;
      log.info({ event: 'installation_ended' }, 'work of an installation that has ended was dropped');
    }
  }

  /** Bolt reads into a payload before it checks its shape; a TypeError there means that the payload is malformed. */
  async #passToBolt(event: ReceiverEvent): Promise<void> {
    try {
      await super.processEvent(event);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      this.#logMalformed(error);
    }
  }

  #logMalformed(error: Error): void {
    const { log } = this.#parts;
    log.warn({ event: 'payload_malformed', err: error }, 'a payload does not have the shape of its type');
  }
}
