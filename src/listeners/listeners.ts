import { App, type Receiver, type ReceiverEvent } from '@slack/bolt';
import { isDurable, routeCommand } from '../commands/command-router.ts';
import { cleanCommandText } from '../commands/tokenize.ts';
import type { Message } from '../core/message.ts';
import type { Caller } from '../core/reply.ts';
import { newReference } from '../observability/failures.ts';
import type { Logger } from '../observability/log.ts';
import type { SpanStart, Tracing } from '../observability/tracing.ts';
import { silentLogger } from '../slack/slack-logger.ts';
import { failureMessage } from '../views/blocks/failures.ts';
import type { JobDefinition } from '../workspace/define-job.ts';
import type { Parts, Workspace, Workspaces } from '../workspace/workspace.ts';
import { type BackgroundWork, createBackgroundWork } from './background-work.ts';
import {
  createDurableRequests,
  type DurableRequests,
  type StoredRequest,
  storable,
} from './durable-requests.ts';
import { createEvents, type EventHandlers, type Events } from './events.ts';
import {
  ActionBody,
  type Incoming,
  incomingInteraction,
  incomingShortcut,
  incomingSlash,
  messageOf,
  OptionsBody,
  ShortcutBody,
  SlashBody,
  SubmissionBody,
  saidIn,
  viewStateOf,
} from './payloads/payloads.ts';
import { payloadSpan } from './pipeline/instrument.ts';
import { respondPrivately } from './pipeline/respond.ts';
import { runAction } from './pipeline/run-action.ts';
import { runCommand } from './pipeline/run-command.ts';
import { runOptions } from './pipeline/run-options.ts';
import { runShortcut } from './pipeline/run-shortcut.ts';
import { createSubmissions } from './pipeline/run-submission.ts';
import type { Registry } from './registry.ts';

export interface Listeners {
  app: App;
  /** What is stored before its ack, carried out as jobs. */
  jobs: readonly JobDefinition<unknown>[];
  /** Resolves when all that was acknowledged is carried out or stored. */
  idle(): Promise<void>;
}

/** Bolt, with every way in registered: no command, click, form or event is left without an answer. */
export function createListeners(
  { log, tracing, config }: Pick<Parts, 'log' | 'tracing' | 'config'>,
  workspaces: Workspaces,
  registry: Registry,
  receiver: Receiver,
  eventHandlers: EventHandlers,
): Listeners {
  const background = createBackgroundWork(log);
  const requests = createDurableRequests(registry);
  const events = createEvents(workspaces, requests, eventHandlers);
  const spanOf = (body: Record<string, unknown>) => payloadSpan(body, eventHandlers);
  const app = new StoringApp({ receiver, log, tracing, apiUrl: config.SLACK_API_URL, events, spanOf });
  const submissions = createSubmissions(registry);
  const door = { workspaces, registry, requests, submissions, background };

  app.command(/.*/, ({ body, ack }) => takeCommand(door, body, ack));
  app.action(/.*/, ({ body, ack }) => takeAction(door, body, ack));
  app.view({ callback_id: /.*/, type: 'view_submission' }, ({ body, ack }) =>
    takeSubmission(door, body, ack as (answer?: unknown) => Promise<void>),
  );
  app.view({ callback_id: /.*/, type: 'view_closed' }, async ({ ack }) => ack());
  app.options(/.*/, ({ body, ack }) => takeOptions(door, body, ack as (answer?: unknown) => Promise<void>));
  app.shortcut(/.*/, ({ body, ack }) => takeShortcut(door, body, ack));
  return { app, jobs: [requests.job, events.job], idle: () => background.idle() };
}

interface Door {
  workspaces: Workspaces;
  registry: Registry;
  requests: DurableRequests;
  submissions: ReturnType<typeof createSubmissions>;
  background: BackgroundWork;
}

interface StoringAppParts {
  receiver: Receiver;
  log: Logger;
  tracing: Tracing;
  apiUrl: string;
  events: Events;
  spanOf: (body: Record<string, unknown>) => SpanStart;
}

/** Bolt acknowledges events before anybody has seen them; here they are stored first. */
class StoringApp extends App {
  readonly #parts: StoringAppParts;

  constructor(parts: StoringAppParts) {
    super({
      receiver: parts.receiver,
      // Tokens are looked up where they are used, so that no request waits for the store before its ack.
      authorize: async () => ({}),
      ignoreSelf: false,
      convoStore: false,
      logger: silentLogger(parts.log, 'bolt'),
      clientOptions: { slackApiUrl: parts.apiUrl },
    });
    this.#parts = parts;
    this.error(async (error) => {
      parts.log.error({ event: 'bug', err: error }, 'a request of Slack failed unanswered');
    });
  }

  override processEvent(event: ReceiverEvent): Promise<void> {
    return this.#parts.tracing.run(this.#parts.spanOf(event.body), () => this.#take(event));
  }

  async #take(event: ReceiverEvent): Promise<void> {
    if (event.body.type !== 'event_callback') return this.#handBolt(event);
    await this.#parts.events.take(event.body);
    await event.ack();
  }

  /** Bolt reads into a payload before it looks at its shape; what it trips over is malformed, and no fault of ours. */
  async #handBolt(event: ReceiverEvent): Promise<void> {
    try {
      await super.processEvent(event);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      this.#parts.log.warn(
        { event: 'payload_malformed', err: error },
        'a payload has not the shape of its type',
      );
    }
  }
}

function open(
  { workspaces }: Door,
  { workspace, caller }: Incoming,
): { workspace: Workspace; caller: Caller } {
  return { workspace: workspaces.open(workspace), caller };
}

async function takeCommand(door: Door, raw: unknown, ack: (answer?: string) => Promise<void>): Promise<void> {
  const body = SlashBody.parse(raw);
  const { workspace, caller } = open(door, incomingSlash(body));
  const text = cleanCommandText(body.text);
  const matched = routeCommand(door.registry.commands, text);
  if (matched !== undefined && isDurable(matched)) {
    const stored: StoredRequest = {
      kind: 'command',
      caller: storable(caller),
      text,
    };
    await takeDurably(door, workspace, stored, caller, ack, ({ text: said }) => ack(said));
    return;
  }
  await ack();
  door.background.begin(() => runCommand(workspace, door.registry, { caller, text: body.text }));
}

async function takeAction(door: Door, raw: unknown, ack: () => Promise<void>): Promise<void> {
  const body = ActionBody.parse(raw);
  const { workspace, caller } = open(door, incomingInteraction(body));
  const message = messageOf(body);
  const element = body.actions[0];
  const actionId = element?.action_id ?? '';
  const value =
    element?.value ??
    element?.selected_option?.value ??
    element?.selected_user ??
    element?.selected_conversation ??
    undefined;
  if (isActionDurable(door, actionId, element?.block_id ?? '')) {
    const stored: StoredRequest = {
      kind: 'action',
      caller: storable(caller),
      actionId,
      ...(value === undefined ? {} : { value }),
      ...(element?.block_id ? { blockId: element.block_id } : {}),
    };
    await takeDurably(door, workspace, stored, { ...caller, message }, ack, sayAfter(workspace, caller, ack));
    return;
  }
  await ack();
  // A button that opens an address is Slack's own doing; so is the typing in a field without an action of ours.
  const isOurs =
    door.registry.action(actionId, body.view?.callback_id) !== undefined || !isSilent(actionId, body);
  if (!isOurs) return;
  const state = body.view ? viewStateOf(body.view) : undefined;
  door.background.begin(() =>
    runAction(workspace, door.registry, {
      caller,
      actionId,
      value,
      blockId: element?.block_id,
      state,
      message,
    }),
  );
}

function isActionDurable({ registry }: Door, actionId: string, blockId: string): boolean {
  const action = registry.action(actionId)?.action;
  const line = action?.leadsTo?.(blockId);
  if (action?.durable !== true || line === undefined) return action?.durable === true;
  const matched = routeCommand(registry.commands, line);
  return matched !== undefined && isDurable(matched);
}

/** Stored first, then acknowledged: a `kill -9` in between loses nothing that Slack believes was taken. */
async function takeDurably(
  { requests }: Door,
  workspace: Workspace,
  request: StoredRequest,
  { responseUrl, triggerId, message }: Caller & { message?: Message | undefined },
  ack: (answer?: string) => Promise<void>,
  say: (message: Message) => Promise<void>,
): Promise<void> {
  try {
    await requests.take(workspace, request, { responseUrl, triggerId, message });
  } catch (error) {
    const reference = newReference();
    workspace.log.error(
      { event: 'request_not_stored', reference, err: error },
      'a request could not be stored',
    );
    const text = 'I cannot store anything right now, so nothing was done.';
    await say(failureMessage({ text, next: 'Try again in a minute.', reference }));
    return;
  }
  await ack();
}

/** What stands in the ack of a click is shown to nobody, so it is said after it. */
function sayAfter(workspace: Workspace, caller: Caller, ack: () => Promise<void>) {
  return async (message: Message): Promise<void> => {
    await ack();
    await respondPrivately(workspace, caller, message);
  };
}

async function takeSubmission(
  door: Door,
  raw: unknown,
  ack: (answer?: unknown) => Promise<void>,
): Promise<void> {
  const body = SubmissionBody.parse(raw);
  const { workspace, caller } = open(door, incomingInteraction(body));
  const state = viewStateOf(body.view);
  const work = door.submissions(workspace, caller, state, (answer) => ack(answer));
  door.background.track(work);
  await work;
}

async function takeShortcut(door: Door, raw: unknown, ack: () => Promise<void>): Promise<void> {
  const body = ShortcutBody.parse(raw);
  const { workspace, caller } = open(door, incomingShortcut(body));
  const { callback_id: callbackId } = body;
  const said = saidIn(body);
  if (door.registry.shortcut(callbackId)?.shortcut.durable === true) {
    await takeDurably(
      door,
      workspace,
      { kind: 'shortcut', caller: storable(caller), callbackId, said },
      caller,
      ack,
      sayAfter(workspace, caller, ack),
    );
    return;
  }
  await ack();
  door.background.begin(async () => {
    if (await door.requests.isNew(workspace, caller.requestId))
      await runShortcut(workspace, door.registry, { caller, callbackId, said });
  });
}

async function takeOptions(
  door: Door,
  raw: unknown,
  ack: (answer?: unknown) => Promise<void>,
): Promise<void> {
  const body = OptionsBody.parse(raw);
  const { workspace, caller } = open(door, incomingInteraction(body));
  await ack(await runOptions(workspace, door.registry, caller, body));
}

function isSilent(actionId: string, body: ActionBody): boolean {
  return actionId.startsWith('link:') || (body.view !== null && body.view !== undefined);
}
