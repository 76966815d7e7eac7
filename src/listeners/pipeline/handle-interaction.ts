import type { Action, ActionContext } from '../../commands/action.ts';
import type { Command } from '../../commands/command.ts';
import { Refusal } from '../../commands/permission.ts';
import { outdated, UserError } from '../../core/errors.ts';
import type { Audited, Invocation, Message, Reply } from '../../core/message.ts';
import { DAY_MS, withTimeout } from '../../core/time/clock.ts';
import { isSlackFailure, undefinedOnSlackError } from '../../slack/failure.ts';
import { failureMessage } from '../../views/blocks/failures.ts';
import { type Choice, createOptions } from '../../views/blocks/inputs.ts';
import { withoutElement } from '../../views/blocks/make-blocks.ts';
import { drawNotice, resendable } from '../../views/blocks/modal.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import type { SlackHandles, StoredRequest } from '../inbox.ts';
import type { OptionsBody } from '../payloads/schemas.ts';
import { followReply, type RequestContext } from './handle-command.ts';
import { type Claim, handleRequest, type Request } from './pipeline.ts';
import {
  replaceMessage,
  respondFailure,
  respondWorking,
  showReplyCard,
  storeAnswerThread,
} from './respond.ts';
import { withAnswer } from './submission-view.ts';

/** A click or shortcut, with the handles that this process still has. */
interface Interaction<Kind extends StoredRequest['kind']> extends RequestContext {
  request: Extract<StoredRequest, { kind: Kind }>;
  handles: SlackHandles;
}

/** Creates the request of a click or choice. */
export function createActionRequest(interaction: Interaction<'action'>): Request<Reply> {
  const { registry, workspace, invocation, request, handles } = interaction;
  const { actionId, value } = request;
  const entry = registry.action(actionId, handles.state?.view.callback_id);
  const action = entry?.action;
  return {
    kind: 'action',
    workspace,
    invocation,
    command: entry?.command.name,
    what: action?.actionId,
    role: action?.role ?? entry?.command.role,
    change: action?.change ?? (entry && changeName(entry.command, actionId)),
    isChange: action?.durable === true,
    claim: isOnce(action, value) ? clickClaim(interaction) : undefined,
    // Modals and App Home show the outcome of a click themselves.
    showProgress:
      invocation.channel === undefined || handles.state !== undefined
        ? undefined
        : respondWorking(workspace, invocation, entry?.command.name),
    async handle() {
      if (action === undefined) throw outdated('button');
      return showReplyCard(interaction, await action.handle(value, actionContext(interaction)));
    },
    respond: (reply) => followClick(interaction, reply),
    async explain(error) {
      const fields = { action: action?.actionId ?? 'unknown' };
      await respondFailure(interaction, error, fields);
      return { kind: 'nothing' };
    },
  };
}

function isOnce({ once }: Pick<Action, 'once'> = {}, value: string | undefined): boolean {
  return typeof once === 'function' ? once(value) : once === true;
}

/** Replies to a click. In a modal, a reply that would replace the message replaces the used button. */
async function followClick(interaction: Interaction<'action'>, reply: Reply): Promise<void> {
  const { workspace, request, handles } = interaction;
  if (reply.kind !== 'replace' || handles.state === undefined) return followReply(interaction, reply);
  const { view } = handles.state;
  try {
    const answer = withAnswer(resendable(view), reply.message, request.blockId ?? '');
    await workspace.slack.updateModal(view.id, answer, view.hash);
  } catch (error) {
    // The modal was closed or has changed.
    if (!isSlackFailure(error)) throw error;
    await followReply(interaction, reply);
  }
}

/** The command and what the button does, e.g. `digest pause`. */
function changeName({ name }: Command, actionId: string): string {
  const verb = /^[^:#]*:([^#]*)/.exec(actionId)?.[1] ?? '';
  return verb === '' ? name : `${name} ${verb}`;
}

function actionContext(interaction: Interaction<'action'>): ActionContext {
  const { workspace, invocation, request, handles } = interaction;
  const { state, message } = handles;
  return {
    ...interaction,
    blockId: request.blockId ?? '',
    state,
    message,
    async updateModal(view) {
      if (state === undefined) return;
      await workspace.slack.updateModal(state.view.id, storeAnswerThread(view, invocation.answerTs));
    },
  };
}

export const CLAIM_MS = 30 * DAY_MS;

/**
 * Lets the same click on the same message count once. The button disappears while the click is carried out, and returns
 * if that fails. A click that is repeated after a kill finds its own claim and continues.
 */
function clickClaim({ workspace, invocation, request, handles }: Interaction<'action'>): Claim {
  const { actionId, value } = request;
  const { channel, messageTs, requestId } = invocation;
  const click = ['click', channel, messageTs, actionId, value];
  const { message } = handles;
  return {
    async take() {
      if (!(await workspace.once(click, CLAIM_MS, requestId)))
        throw new UserError('That button was used already. Wait a moment for its result.');
      if (message !== undefined) await redraw(workspace, invocation, withoutElement(message, request));
    },
    async release() {
      await workspace.undoOnce(click);
      if (message !== undefined) await redraw(workspace, invocation, message);
    },
  };
}

/** Redraws the clicked message. A used button that stays is not an error, because the claim prevents a second run. */
async function redraw(workspace: Workspace, invocation: Invocation, message: Message): Promise<void> {
  try {
    const { channel, messageTs: ts } = invocation;
    if (channel === undefined || ts === undefined) await replaceMessage(workspace, invocation, message);
    // Slack sends ephemeral messages without content, so this message can be edited.
    else await workspace.slack.update({ channel, ts }, message);
  } catch (error) {
    if (!isSlackFailure(error)) throw error;
    workspace.log.info({ event: 'redraw_failed', reason: error.reason }, 'Used button not removed');
  }
}

export function createShortcutRequest(interaction: Interaction<'shortcut'>): Request<Reply> {
  const { registry, workspace, invocation, request } = interaction;
  const entry = registry.shortcut(request.callbackId);
  const shortcut = entry?.shortcut;
  return {
    kind: 'shortcut',
    workspace,
    invocation,
    command: entry?.command.name,
    what: shortcut?.callbackId,
    role: shortcut?.role ?? entry?.command.role,
    isChange: shortcut?.durable === true,
    showProgress:
      invocation.channel === undefined
        ? undefined
        : respondWorking(workspace, invocation, entry?.command.name),
    async handle() {
      if (shortcut === undefined) throw outdated('shortcut');
      return showReplyCard(
        interaction,
        await shortcut.handle({ ...interaction, messageText: request.messageText }),
      );
    },
    respond: (reply) => followReply(interaction, reply),
    async explain(error) {
      const fields = { action: shortcut?.callbackId ?? 'unknown' };
      if (!(await showInModal(interaction, error, fields))) await respondFailure(interaction, error, fields);
      return { kind: 'nothing' };
    },
  };
}

/** Shows the failure of a shortcut without a channel in a modal. Returns false if none can be opened. */
async function showInModal(
  { workspace, invocation, explain }: RequestContext,
  error: unknown,
  fields: object,
): Promise<boolean> {
  const { channel, triggerId } = invocation;
  if (channel !== undefined || triggerId === undefined || isSlackFailure(error, 'expired')) return false;
  const message = failureMessage(explain(error, { ...fields }));
  const opening = workspace.slack.openModal(triggerId, drawNotice('Deckhand', message));
  return (await undefinedOnSlackError(opening)) !== undefined;
}

/** Time limit for a menu's options, for which Slack waits 3 s. */
const TIMEOUT_MS = 2_500;

/**
 * Finds the options of an external select for the typed text, or the source's fallback if they fail or are late. A
 * failure is logged. A person without the permission gets none.
 */
export async function listOptions(
  context: RequestContext,
  { action_id: actionId, block_id: blockId, value, view }: OptionsBody,
): Promise<{ options: ReturnType<typeof createOptions> }> {
  const { registry, workspace, invocation } = context;
  const entry = registry.optionSource(actionId);
  if (entry === undefined) return { options: [] };
  const { source, command } = entry;
  const fallback = (): Choice[] => source.fallback?.(value) ?? [];
  const { choices } = await handleRequest<Audited & { choices: Choice[] }>({
    kind: 'options',
    workspace,
    invocation,
    command: command.name,
    what: source.actionId,
    role: source.role ?? command.role,
    async handle() {
      const options = source.options(value, { ...context, metadata: view?.private_metadata ?? '', blockId });
      return { choices: (await withTimeout(workspace.clock, TIMEOUT_MS, options)) ?? fallback() };
    },
    async explain(error) {
      if (error instanceof Refusal) return { choices: [] };
      context.explain(error, { action: actionId });
      return { choices: fallback() };
    },
  });
  return { options: createOptions(choices) };
}
