import { App, type Receiver } from '@slack/bolt';
import { ZodError } from 'zod';
import type { EventHandlers, WorkflowStep } from '../commands/command.ts';
import { createContext } from '../commands/resolve-target.ts';
import type { Caller } from '../core/reply.ts';
import type { Logger } from '../observability/log.ts';
import type { Tracing } from '../observability/tracing.ts';
import { libraryLogger } from '../slack/sdk.ts';
import type { Slack } from '../slack/slack.ts';
import { GLOBAL } from '../store/store.ts';
import { failureMessage } from '../views/blocks/failures.ts';
import { notice } from '../views/blocks/modal.ts';
import type { JobDefinition } from '../workspace/define-job.ts';
import { NotServed } from '../workspace/installations.ts';
import type { Workspace, Workspaces } from '../workspace/workspace.ts';
import { type BackgroundWork, ignoreIfUninstalled } from './background-work.ts';
import { beginLiveEvent, LIVE_EVENTS, mentionHandler } from './events.ts';
import {
  callerOf,
  createInbox,
  type Inbox,
  isStoredFirst,
  type SlackHandles,
  type StoredRequest,
} from './inbox.ts';
import {
  type EventUnder,
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
import { actionRequest, runOptions, shortcutRequest } from './pipeline/run-interaction.ts';
import { createSteps } from './pipeline/run-step.ts';
import { createSubmissions } from './pipeline/run-submission.ts';
import type { Registry } from './registry.ts';

interface Dependencies {
  log: Logger;
  tracing: Tracing;
  config: { SLACK_API_URL: string };
  workspaces: Workspaces;
  slack: Slack;
  registry: Registry;
  receiver: Receiver;
  background: BackgroundWork;
  events: EventHandlers;
  /** By `callback_id`. */
  steps: Readonly<Record<string, WorkflowStep>>;
}

interface Shared extends Pick<Dependencies, 'registry' | 'workspaces' | 'background'> {
  inbox: Inbox;
}

type Ack = (answer?: unknown) => Promise<void>;

type Payload = Record<string, unknown>;

/** Parses a payload, has it carried out, and says what Slack is told; what changes something is stored by then. */
type PayloadHandler = (body: Payload, ack: Ack) => Promise<void>;

/** Every way in: no command, click, form or event is left without an answer. */
export function createListeners(parts: Dependencies) {
  const { log, registry, workspaces, background } = parts;
  const steps = createSteps(parts.steps);
  const mentions = { app_mention: mentionHandler(() => inbox) };
  const events: EventHandlers = { ...parts.events, ...mentions, function_executed: steps.functionExecuted };
  const inbox = createInbox({
    run: (workspace, request, handles) => run(registry, workspace, request, handles, true),
    fail(workspace, request, handles, error) {
      return respondFailure(createContext(workspace, callerOf(request, handles)), error);
    },
    async runEvent({ about, body }) {
      const caller: Caller = { user: '', channel: undefined, requestId: body.event_id };
      await events[body.event.type]?.(createContext(workspaces.open(about), caller), body);
    },
  });
  const shared = { registry, workspaces, background, inbox };
  const submissions = createSubmissions(registry);

  const storeEvent = async ({ workspaceId, event }: EventUnder): Promise<void> =>
    inbox.storeEvent(await workspaces.admit(workspaceId), event);

  /** By the `type` that Slack gives them; a command has none. */
  const handlers: Readonly<Record<string, PayloadHandler>> = {
    slash_command: (body, ack) => take(shared, readCommand(body), ack),
    block_actions: (body, ack) => take(shared, readAction(body), ack),
    shortcut: (body, ack) => take(shared, readShortcut(body), ack),
    message_action: (body, ack) => take(shared, readShortcut(body), ack),
    async view_submission(body, ack) {
      const form = SubmissionBody.parse(body);
      const { workspace, caller } = readInteraction(form);
      const state = viewStateOf(form.view);
      const work = submissions.take(await workspaces.admit(workspace), caller, state, ack);
      background.track(work);
      await work;
    },
    view_closed: (_, ack) => ack(),
    async block_suggestion(body, ack) {
      const menu = OptionsBody.parse(body);
      const { workspace, caller } = readInteraction(menu);
      await ack(await runOptions(await workspaces.admit(workspace), registry, caller, menu));
    },
    async event_callback(body, ack) {
      const known = beginLiveEvent(parts, body) ? undefined : readEvent(body, events);
      // Where it is not stored, it is not acknowledged, so that Slack sends it again.
      if (known !== undefined) await ignoreIfUninstalled(parts, storeEvent(known));
      await ack();
    },
  };

  const app = new App({
    receiver: parts.receiver,
    // Tokens are looked up where they are used, so that no request waits for the store before its ack.
    authorize: async () => ({}),
    attachFunctionToken: false,
    ignoreSelf: false,
    convoStore: false,
    logger: libraryLogger(log, 'bolt'),
    clientOptions: { slackApiUrl: parts.config.SLACK_API_URL },
  });
  const named = { ...events, ...LIVE_EVENTS };
  // One for all: listeners by type are each offered every payload, which takes a quarter of an ack.
  app.use(({ body: { ...body }, ack }) => {
    const handler = handlers[String(body.type ?? 'slash_command')];
    const answer: Ack = async (given) => ack?.(given as never);
    const handle = async (): Promise<void> => handler?.(body, answer);
    return parts.tracing.run(payloadSpan(body, named), () =>
      unlessMalformed(log, () => unlessNotServed(parts, body, answer, handle)),
    );
  });

  /** What is stored before its ack, carried out as jobs. */
  const jobs: readonly JobDefinition<unknown>[] = [...inbox.jobs, submissions.job, steps.job];
  return { jobs };
}

/** What cannot be read is not acknowledged, and the receiver answers that. */
async function unlessMalformed(log: Logger, handle: () => Promise<void>): Promise<void> {
  try {
    await handle();
  } catch (err) {
    if (!(err instanceof ZodError)) throw err;
    log.warn({ event: 'payload_malformed', err }, 'a payload does not have the shape of its type');
  }
}

/** One sentence, where what was asked can be answered at all. An event that may be served later is sent again by Slack. */
async function unlessNotServed(
  { log, slack }: Pick<Dependencies, 'log' | 'slack'>,
  { type, response_url: url }: Payload,
  ack: Ack,
  handle: () => Promise<void>,
): Promise<void> {
  try {
    await handle();
  } catch (error) {
    if (!(error instanceof NotServed) || (type === 'event_callback' && !error.isForGood)) throw error;
    const { message: text } = error;
    const reason = error.isForGood ? 'other_workspace' : 'not_known_yet';
    const said = 'a request was not for this installation, or came before Slack had named it';
    log.info({ event: 'request_not_served', reason }, said);
    if (type === undefined) return ack(text);
    if (type === 'view_submission') return ack({ response_action: 'update', view: notice('Deckhand', text) });
    if (type === 'block_suggestion') return ack({ options: [] });
    await ack();
    if (typeof url === 'string') await slack.of(GLOBAL).respond(url, failureMessage({ text }), 'ephemeral');
  }
}

/**
 * Acknowledges a request and has it carried out. What changes something is stored before its ack, so that a
 * `kill -9` loses nothing that Slack believes was taken.
 */
async function take(shared: Shared, incoming: IncomingRequest, ack: Ack): Promise<void> {
  const { workspaces, registry, background } = shared;
  const { request, handles } = incoming;
  const workspace = await workspaces.admit(incoming.workspace);
  if (isStoredFirst(registry, request)) return store(shared, workspace, incoming, ack);
  await ack();
  if (isForSlack(registry, request, handles)) return;
  background.begin(() => run(registry, workspace, request, handles));
}

async function store(
  { inbox }: Shared,
  workspace: Workspace,
  { request, handles, caller }: IncomingRequest,
  ack: Ack,
): Promise<void> {
  try {
    await inbox.store(workspace, request, handles);
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
function isForSlack(registry: Registry, request: StoredRequest, { state }: SlackHandles): boolean {
  if (request.kind !== 'action') return false;
  const isKnown = registry.action(request.actionId, state?.view.callback_id) !== undefined;
  return !isKnown && (request.actionId.startsWith('link:') || state !== undefined);
}

/** @throws StoreUnavailable where a stored request is to be carried out again */
async function run(
  registry: Registry,
  workspace: Workspace,
  request: StoredRequest,
  handles: SlackHandles,
  isStored?: true,
): Promise<void> {
  const caller: Caller = { ...callerOf(request, handles), isStored };
  const context = { registry, workspace: workspace.forRequest(), caller };
  switch (request.kind) {
    case 'command':
      return runText(context, request);
    case 'action':
      return void (await carryOut(actionRequest({ ...context, request, handles })));
    case 'shortcut':
      return void (await carryOut(shortcutRequest({ ...context, request, handles })));
  }
}
