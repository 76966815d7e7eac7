import { App, type Receiver, type ReceiverEvent } from '@slack/bolt';
import { ZodError } from 'zod';
import type { EventHandlers, WorkflowStep } from '../commands/command.ts';
import { createContext } from '../commands/resolve-target.ts';
import type { Caller } from '../core/reply.ts';
import type { Logger } from '../observability/log.ts';
import type { Tracing } from '../observability/tracing.ts';
import { libraryLogger } from '../slack/sdk.ts';
import { failureMessage } from '../views/blocks/failures.ts';
import type { JobDefinition } from '../workspace/define-job.ts';
import type { Workspace, Workspaces } from '../workspace/workspace.ts';
import { type BackgroundWork, untilEnded } from './background-work.ts';
import {
  callerOf,
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
import { OptionsBody, OtherBody, SubmissionBody } from './payloads/schemas.ts';
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

interface Shared extends Pick<ListenerParts, 'log' | 'registry' | 'workspaces'> {
  background: BackgroundWork;
  requests: DurableRequests;
}

type Ack = (answer?: unknown) => Promise<void>;

/** What parses a payload, acknowledges it and has it carried out, by the name of the payload's span. */
type Takers = Readonly<Record<string, (body: unknown, ack: Ack) => Promise<void>>>;

/** Every way in: no command, click, form or event is left without an answer. */
export function createListeners(parts: ListenerParts) {
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
  const submissions = createSubmissions(registry);
  const takers: Takers = {
    slash_command: (body, ack) => take(shared, readCommand(body), ack),
    block_actions: (body, ack) => take(shared, readAction(body), ack),
    shortcut: (body, ack) => take(shared, readShortcut(body), ack),
    message_action: (body, ack) => take(shared, readShortcut(body), ack),
    async view_submission(body, ack) {
      const form = SubmissionBody.parse(body);
      const { workspace, caller } = readInteraction(form);
      const state = viewStateOf(form.view);
      const work = submissions.take(await workspaces.enter(workspace), caller, state, ack);
      background.track(work);
      await work;
    },
    view_closed: (_, ack) => ack(),
    async other(body, ack) {
      const { type } = OtherBody.parse(body);
      log.info({ event: 'payload_unknown', type }, 'a payload of a type without a handler was acknowledged');
      await ack();
    },
    async block_suggestion(body, ack) {
      const menu = OptionsBody.parse(body);
      const { workspace, caller } = readInteraction(menu);
      await ack(await runOptions(await workspaces.enter(workspace), registry, caller, menu));
    },
  };
  const app = new DirectApp({ ...parts, requests, events, takers, live: createLiveEvents(shared) });
  /** What is stored before its ack, carried out as jobs. */
  const jobs: readonly JobDefinition<unknown>[] = [...requests.jobs, submissions.job, steps.job];
  return { app, jobs };
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

interface Ways extends ListenerParts {
  requests: DurableRequests;
  live: LiveEvents;
  takers: Takers;
}

/**
 * Bolt, but each payload goes straight to what takes it: Bolt acknowledges events before a handler has seen them, where
 * they are stored first here, and offers everything else to each listener in turn, which took a sixth of an ack.
 */
class DirectApp extends App {
  readonly #ways: Ways;
  /** The events that have a handler. */
  readonly #named: Readonly<Record<string, unknown>>;

  constructor(ways: Ways) {
    super({
      receiver: ways.receiver,
      // Tokens are looked up where they are used, so that no request waits for the store before its ack.
      authorize: async () => ({}),
      ignoreSelf: false,
      convoStore: false,
      logger: libraryLogger(ways.log, 'bolt'),
      clientOptions: { slackApiUrl: ways.config.SLACK_API_URL },
    });
    this.#ways = ways;
    this.#named = { ...ways.events, ...LIVE_EVENTS };
  }

  override processEvent(event: ReceiverEvent): Promise<void> {
    const span = payloadSpan(event.body, this.#named);
    return this.#ways.tracing.run(span, () =>
      event.body.type === 'event_callback' ? this.#takeEvent(event) : this.#take(span.name, event),
    );
  }

  async #takeEvent(event: ReceiverEvent): Promise<void> {
    const { live, events } = this.#ways;
    if (live.begin(event.body)) return event.ack();
    const known = readEvent(event.body, events);
    if (known !== undefined) await untilEnded(this.#ways, this.#store(known.keeper, known.event));
    await event.ack();
  }

  /** Where it is not stored, it is not acknowledged, so that Slack sends it again. */
  async #store(keeper: string, event: StoredEvent): Promise<void> {
    const { workspaces, requests } = this.#ways;
    await requests.storeEvent(await workspaces.enter(keeper), event);
  }

  async #take(name: string, { body, ack }: ReceiverEvent): Promise<void> {
    const { takers, log } = this.#ways;
    try {
      await takers[name]?.(body, (answer) => ack(answer as string));
    } catch (err) {
      if (err instanceof ZodError)
        log.warn({ event: 'payload_malformed', err }, 'a payload does not have the shape of its type');
      else log.error({ event: 'bug', err }, 'a request of Slack failed without an answer');
    }
  }
}
