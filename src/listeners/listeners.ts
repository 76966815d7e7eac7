import { App, type Receiver, type ViewSubmitAction } from '@slack/bolt';
import type { EventHandlers, WorkflowStep } from '../commands/command.ts';
import type { Registry } from '../commands/registry.ts';
import type { Caller } from '../core/message.ts';
import type { Logger } from '../observability/log.ts';
import type { Tracing } from '../observability/tracing.ts';
import type { Slack } from '../slack/slack.ts';
import { libraryLogger } from '../slack/web.ts';
import { GLOBAL } from '../store/store.ts';
import { failureMessage } from '../views/blocks/failures.ts';
import { notice } from '../views/blocks/modal.ts';
import { endWithInstallation, type JobDefinition } from '../workspace/define-job.ts';
import { NotServed } from '../workspace/installations.ts';
import type { Workspace, Workspaces } from '../workspace/workspace.ts';
import type { BackgroundWork } from './background-work.ts';
import { beginLiveEvent, LIVE_EVENTS } from './events.ts';
import {
  callerOf,
  createInbox,
  type Inbox,
  inTime,
  isStoredFirst,
  type SlackHandles,
  type StoredRequest,
} from './inbox.ts';
import { mentionHandler } from './mention.ts';
import {
  type EventUnder,
  type IncomingRequest,
  payloadSpan,
  readAction,
  readCommand,
  readEvent,
  readInteraction,
  readShortcut,
  readSubmission,
} from './payloads/payloads.ts';
import { OptionsBody } from './payloads/schemas.ts';
import { carryOut, createContext } from './pipeline/pipeline.ts';
import { explainNotStored, respondFailure, respondPrivately } from './pipeline/respond.ts';
import { runText } from './pipeline/run-command.ts';
import { actionRequest, runOptions, shortcutRequest } from './pipeline/run-interaction.ts';
import { createSteps } from './pipeline/run-step.ts';
import { acknowledgeForm, runSubmission } from './pipeline/run-submission.ts';

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

type Ack = (text?: string) => Promise<void>;

/** Any name: the registry knows what exists, and an unknown name is answered too. */
const ANY = /.*/;

/** Registers every way in with Bolt. Each payload is answered, also one that this version does not know. */
export function createListeners(parts: Dependencies) {
  const { log, tracing, registry, workspaces, background } = parts;
  const steps = createSteps(parts.steps);
  const mentions = { app_mention: mentionHandler(() => inbox) };
  const events: EventHandlers = { ...parts.events, ...mentions, function_executed: steps.functionExecuted };
  const inbox = createInbox({
    run: (workspace, request, handles, attempt) =>
      run(registry, workspace.forRequest(), request, handles, attempt),
    fail(workspace, request, handles, error) {
      return respondFailure(createContext(workspace, callerOf(request, handles)), error);
    },
    async runEvent({ about, body }) {
      const caller: Caller = { user: '', channel: undefined, requestId: body.event_id };
      await events[body.event.type]?.(createContext(workspaces.open(about), caller), body);
    },
  });
  const shared = { registry, workspaces, background, inbox };
  const storeEvent = async ({ workspaceId, event }: EventUnder): Promise<void> =>
    inbox.storeEvent(await workspaces.admit(workspaceId), event);

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
  app.use(({ body, ack, next }) =>
    tracing.run(payloadSpan({ ...body }, named), () =>
      refuseUnserved(parts, { ...body }, async (answer) => ack?.(answer as never), next),
    ),
  );
  app.command(ANY, ({ body, ack }) => acknowledge(shared, readCommand(body), ack));
  app.action(ANY, ({ body, ack }) => acknowledge(shared, readAction(body), () => ack()));
  app.shortcut(ANY, ({ body, ack }) => acknowledge(shared, readShortcut(body), () => ack()));
  app.view<ViewSubmitAction>(ANY, async ({ body, ack }) => {
    const { workspace, caller, state } = readSubmission(body);
    const answered = acknowledgeForm(inbox, await workspaces.admit(workspace), caller, state, ack);
    background.track(answered);
    await answered;
  });
  app.view({ callback_id: ANY, type: 'view_closed' }, ({ ack }) => ack());
  app.options(ANY, async ({ body, ack }) => {
    const menu = OptionsBody.parse(body);
    const { workspace, caller } = readInteraction(menu);
    const context = createContext(await workspaces.admit(workspace), caller);
    await ack(await runOptions({ ...context, registry }, menu));
  });
  app.event(ANY, async ({ body }) => {
    const known = beginLiveEvent(parts, body) ? undefined : readEvent(body, events);
    // An event that is not stored is not acknowledged, so that Slack sends it again.
    if (known !== undefined) await endWithInstallation(parts, storeEvent(known));
  });
  // Bolt acknowledges every other event itself.
  app.event('function_executed', ({ ack }) => ack());

  /** Jobs that carry out what was stored before its ack. */
  const jobs: readonly JobDefinition<unknown>[] = [...inbox.jobs, steps.job];
  return { jobs };
}

/**
 * Answers a payload of a workspace that this installation does not serve with one sentence. Slack sends an event again if
 * it may be served later.
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
 * Acknowledges a request and has it carried out. What changes something is stored before its ack, so that a
 * `kill -9` loses nothing that Slack believes was taken.
 */
async function acknowledge(shared: Shared, incoming: IncomingRequest, ack: Ack): Promise<void> {
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
    await inTime(workspace.clock, inbox.store(workspace, request, handles));
  } catch (error) {
    inbox.refuse(request.caller.requestId);
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

/**
 * @param attempt set if the request is stored
 * @throws StoreUnavailable so that the job of a stored request tries again
 */
async function run(
  registry: Registry,
  workspace: Workspace,
  request: StoredRequest,
  handles: SlackHandles,
  attempt?: number,
): Promise<void> {
  // A form keeps its own outcome, so that it is not carried out again when only its answer fails.
  const isStored = attempt !== undefined && request.kind !== 'form' ? true : undefined;
  const caller: Caller = { ...callerOf(request, handles), isStored };
  const context = { ...createContext(workspace, caller), registry };
  switch (request.kind) {
    case 'command':
      return runText(context, request);
    case 'action':
      return void (await carryOut(actionRequest({ ...context, request, handles })));
    case 'shortcut':
      return void (await carryOut(shortcutRequest({ ...context, request, handles })));
    case 'form':
      return runSubmission(context, request, handles, (attempt ?? 1) > 1);
  }
}
