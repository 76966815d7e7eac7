import { setImmediate as nextTurn } from 'node:timers/promises';
import { App, type Receiver, type ViewSubmitAction } from '@slack/bolt';
import { readCommandLine } from '../commands/readings.ts';
import type { Registry } from '../commands/registry.ts';
import type { EventHandlers } from '../commands/slack-event.ts';
import type { WorkflowStep } from '../commands/workflow-step.ts';
import type { Invocation } from '../core/message.ts';
import type { Logger } from '../observability/log.ts';
import type { Slack } from '../slack/slack.ts';
import { libraryLogger } from '../slack/web.ts';
import { GLOBAL } from '../store/store.ts';
import { failureMessage } from '../views/blocks/failures.ts';
import { notice } from '../views/blocks/modal.ts';
import { endWithInstallation, type JobDefinition } from '../workspace/define-job.ts';
import { NotServed } from '../workspace/installations.ts';
import type { Workspace, Workspaces } from '../workspace/workspace.ts';
import { createMentionHandler, showDetails } from './events.ts';
import {
  createInbox,
  type Inbox,
  inTime,
  isStoredFirst,
  restoreInvocation,
  type SlackHandles,
  type StoredRequest,
} from './inbox.ts';
import {
  type IncomingRequest,
  readAction,
  readCommand,
  readEvent,
  readInteraction,
  readShortcut,
  readSubmission,
} from './payloads/payloads.ts';
import {
  ActionBody,
  EventBody,
  OptionsBody,
  parsedPayload,
  ShortcutBody,
  SlashBody,
  SubmissionBody,
} from './payloads/schemas.ts';
import { handleText } from './pipeline/handle-command.ts';
import { createActionRequest, createShortcutRequest, listOptions } from './pipeline/handle-interaction.ts';
import { createSteps } from './pipeline/handle-step.ts';
import { acknowledgeForm, handleSubmission } from './pipeline/handle-submission.ts';
import { createContext, handleRequest } from './pipeline/pipeline.ts';
import { explainNotStored, respondFailure, respondPrivately } from './pipeline/respond.ts';

interface Dependencies {
  log: Logger;
  config: { SLACK_API_URL: string };
  workspaces: Workspaces;
  slack: Slack;
  registry: Registry;
  receiver: Receiver;
  events: EventHandlers;
  /** Steps of Slack's Workflow Builder, by `callback_id`. */
  steps: Readonly<Record<string, WorkflowStep>>;
}

interface Shared extends Pick<Dependencies, 'registry' | 'workspaces'> {
  inbox: Inbox;
  background: ReturnType<typeof createBackgroundWork>;
}

type Ack = (text?: string) => Promise<void>;

/** Matches every name: the registry knows which exist, and unknown ones are answered too. */
const ANY = /.*/;

/** Registers Bolt's listeners. Every payload is answered, also one that this version does not know. */
export function createListeners(parts: Dependencies) {
  const { log, registry, workspaces } = parts;
  const background = createBackgroundWork(log);
  const steps = createSteps(parts.steps);
  const mentions = { app_mention: createMentionHandler(() => inbox) };
  const events: EventHandlers = { ...parts.events, ...mentions, function_executed: steps.functionExecuted };
  const inbox = createInbox({
    handle: (workspace, request, handles, attempt) =>
      handleStored(registry, workspace.forRequest(), request, handles, attempt),
    fail(workspace, request, handles, error) {
      return respondFailure(createContext(workspace, restoreInvocation(request, handles)), error);
    },
    async handleEvent({ about, body }) {
      const invocation: Invocation = { user: '', channel: undefined, requestId: body.event_id };
      await events[body.event.type]?.(createContext(workspaces.open(about), invocation), body);
    },
  });
  const shared = { registry, workspaces, background, inbox };

  async function acceptEvent(body: EventBody): Promise<void> {
    const { workspaceId, event } = readEvent(body);
    const workspace = await workspaces.admit(workspaceId);
    if (steps.isMenu(body)) await steps.fillMenu(workspace, body, background.track);
    else await inbox.storeEvent(workspace, event);
  }

  const app = new App({
    receiver: parts.receiver,
    // A token is read when it is used, so that no request waits for the store before its ack.
    authorize: async () => ({}),
    attachFunctionToken: false,
    ignoreSelf: false,
    convoStore: false,
    logger: libraryLogger(log, 'bolt'),
    clientOptions: { slackApiUrl: parts.config.SLACK_API_URL },
  });

  app.use(({ body, ack, next }) =>
    refuseUnserved(parts, { ...body }, async (answer) => ack?.(answer as never), next),
  );
  app.command(ANY, ({ context, ack }) =>
    acknowledge(shared, readCommand(parsedPayload(context, SlashBody)), ack),
  );
  app.action(ANY, ({ context, ack }) =>
    acknowledge(shared, readAction(parsedPayload(context, ActionBody)), () => ack()),
  );
  app.shortcut(ANY, ({ context, ack }) =>
    acknowledge(shared, readShortcut(parsedPayload(context, ShortcutBody)), () => ack()),
  );
  app.view<ViewSubmitAction>(ANY, async ({ context, ack }) => {
    const { workspace, invocation, state } = readSubmission(parsedPayload(context, SubmissionBody));
    const work = acknowledgeForm(inbox, await workspaces.admit(workspace), invocation, state, ack);
    background.track(work);
    await work;
  });
  app.view({ callback_id: ANY, type: 'view_closed' }, ({ ack }) => ack());
  app.options(ANY, async ({ context, ack }) => {
    const menu = parsedPayload(context, OptionsBody);
    const { workspace, invocation } = readInteraction(menu);
    const request = createContext(await workspaces.admit(workspace), invocation);
    await ack(await listOptions({ ...request, registry }, menu));
  });
  app.event('entity_details_requested', async ({ context }) => {
    const { event } = readEvent(parsedPayload(context, EventBody));
    background.begin(() => showDetails(workspaces, event));
  });
  app.event(ANY, async ({ context }) => {
    const body = parsedPayload(context, EventBody);
    // An event that is not stored is not acknowledged, so that Slack sends it again.
    if (Object.hasOwn(events, body.event.type)) await endWithInstallation(parts, acceptEvent(body));
  });
  // Bolt acknowledges every other event itself.
  app.event('function_executed', ({ ack }) => ack());

  /** Jobs that run requests and events that were stored before their ack. */
  const jobs: readonly JobDefinition<unknown>[] = [...inbox.jobs, steps.job];
  return { jobs, afterAcks: background.afterAcks, track: background.track, idle: background.idle };
}

/**
 * Answers a request of a workspace that this installation does not serve with one sentence. Slack sends an event again if
 * the workspace may be served later.
 */
async function refuseUnserved(
  { log, slack }: Pick<Dependencies, 'log' | 'slack'>,
  { type, response_url: url }: Record<string, unknown>,
  ack: (answer?: unknown) => Promise<void>,
  next: () => Promise<void>,
): Promise<void> {
  try {
    await next();
  } catch (error) {
    if (!(error instanceof NotServed) || (type === 'event_callback' && !error.isForGood)) throw error;
    const { message: text } = error;
    const reason = error.isForGood ? 'other_workspace' : 'not_known_yet';
    log.info({ event: 'request_not_served', reason }, 'Request for another workspace ignored');
    if (type === undefined) return ack(text);
    if (type === 'view_submission') return ack({ response_action: 'update', view: notice('Deckhand', text) });
    if (type === 'block_suggestion') return ack({ options: [] });
    await ack();
    if (typeof url === 'string') await slack.of(GLOBAL).respond(url, failureMessage({ text }), 'ephemeral');
  }
}

/**
 * Acknowledges a request and runs it. A request that changes something is stored before its ack, so that a `kill -9`
 * loses nothing that Slack believes to be delivered.
 */
async function acknowledge(shared: Shared, incoming: IncomingRequest, ack: Ack): Promise<void> {
  const { workspaces, registry, background } = shared;
  const { request } = incoming;
  const line = request.kind === 'command' ? readCommandLine(registry, request.text) : undefined;
  const handles = { ...incoming.handles, line };
  const workspace = await workspaces.admit(incoming.workspace);
  if (isStoredFirst(registry, request, handles))
    return storeAndAcknowledge(shared, workspace, { ...incoming, handles }, ack);
  await ack();
  if (isForSlack(registry, request, handles)) return;
  background.begin(() => handleStored(registry, workspace, request, handles));
}

async function storeAndAcknowledge(
  { inbox }: Shared,
  workspace: Workspace,
  { request, handles, invocation }: IncomingRequest,
  ack: Ack,
): Promise<void> {
  try {
    await inTime(workspace.clock, inbox.store(workspace, request, handles));
  } catch (error) {
    inbox.refuse(request.invocation.requestId);
    const message = failureMessage(explainNotStored(workspace, error));
    // Only the ack of a command is shown to the person.
    if (request.kind === 'command') return ack(message.text);
    await ack();
    return respondPrivately(workspace, invocation, message);
  }
  await ack();
}

/** True if only Slack reacts: to a button that opens an address, or to a field without an action. */
function isForSlack(registry: Registry, request: StoredRequest, { state }: SlackHandles): boolean {
  if (request.kind !== 'action') return false;
  const isKnown = registry.action(request.actionId, state?.view.callback_id) !== undefined;
  return !isKnown && (request.actionId.startsWith('link:') || state !== undefined);
}

/**
 * @param attempt set if the request is stored
 * @throws StoreUnavailable so that the job of a stored request is retried
 */
async function handleStored(
  registry: Registry,
  workspace: Workspace,
  request: StoredRequest,
  handles: SlackHandles,
  attempt?: number,
): Promise<void> {
  // A form stores its own outcome, so that it is not carried out again if only its answer fails.
  const isStored = attempt !== undefined && request.kind !== 'form' ? true : undefined;
  const invocation: Invocation = { ...restoreInvocation(request, handles), isStored };
  const context = { ...createContext(workspace, invocation), registry };
  switch (request.kind) {
    case 'command':
      return handleText(context, { ...request, line: handles.line });
    case 'action':
      return void (await handleRequest(createActionRequest({ ...context, request, handles })));
    case 'shortcut':
      return void (await handleRequest(createShortcutRequest({ ...context, request, handles })));
    case 'form':
      return handleSubmission(context, request, handles, (attempt ?? 1) > 1);
  }
}

/** Turns of the event loop between two pieces of work that begin. An idle turn takes no time. */
const TURNS_BETWEEN = 6;

/** Runs work that continues after its ack; `idle` waits for it. */
function createBackgroundWork(log: Logger) {
  const running = new Set<Promise<void>>();
  let lastBegun = Promise.resolve();

  function track(work: Promise<void>): void {
    const tracked = work
      .catch((error: unknown) => log.error({ event: 'bug', err: error }, 'Work after an ack failed'))
      .finally(() => running.delete(tracked));
    running.add(tracked);
  }

  /**
   * Resolves when the next work may begin, one after the other: in a burst the acks, for which Slack waits three seconds,
   * go first. The event loop accepts one connection a turn.
   */
  function afterAcks(): Promise<void> {
    lastBegun = lastBegun.then(async () => {
      for (let turn = 0; turn < TURNS_BETWEEN; turn += 1) await nextTurn();
    });
    return lastBegun;
  }

  return {
    afterAcks,
    /** Begins `work`, which must answer its own failures, once the acks are sent. */
    begin: (work: () => Promise<void>) => track(afterAcks().then(work)),
    /** Adds work that has begun already, because its ack depends on it. */
    track,
    /** Resolves when everything has ended. */
    async idle(): Promise<void> {
      while (running.size > 0) await Promise.all(running);
    },
  };
}
