import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { ActionContext, Command } from '../../commands/command.ts';
import { requirePermission } from '../../commands/permission.ts';
import { UserError } from '../../core/errors.ts';
import type { Message } from '../../core/message.ts';
import type { Caller } from '../../core/reply.ts';
import { isSlackFailure } from '../../slack/failure.ts';
import { withoutElement, workingMessage } from '../../views/blocks/message.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import type { Registry } from '../registry.ts';
import { answerFailure } from './answer-failure.ts';
import { auditReply } from './audit-reply.ts';
import { instrument, type Outcome } from './instrument.ts';
import { showProgress } from './progress.ts';
import { replaceMessage, respondPrivately } from './respond.ts';
import { carryOut } from './run-command.ts';

export interface ActionRequest {
  caller: Caller;
  actionId: string;
  value?: string | undefined;
  blockId?: string | undefined;
  state?: ActionContext['state'];
  message?: ActionContext['message'];
}

const Claim = z.object({ by: z.string(), at: z.number(), request: z.string().optional() });
const CLAIM_MS = 30 * 24 * 60 * 60 * 1000;

/** Carries out a click or choice and says what comes of it. Never rejects. */
export function runAction(workspace: Workspace, registry: Registry, request: ActionRequest): Promise<void> {
  const { actionId, state } = request;
  const found = registry.action(actionId, state?.view.callback_id);
  const command = found?.command.name ?? 'unknown';
  const asked = { command, by: 'action', what: found?.action.actionId } as const;
  return instrument(workspace, asked, (end) => runFound(workspace, registry, request, found, end));
}

async function runFound(
  workspace: Workspace,
  registry: Registry,
  request: ActionRequest,
  found: ReturnType<Registry['action']>,
  end: (outcome: Outcome) => void,
): Promise<void> {
  const { caller, actionId, value } = request;
  try {
    if (found === undefined) throw new UserError('This button is from an older version of Deckhand.', 'help');
    const { action } = found;
    await requirePermission(workspace, caller, action.role, found.command.name);
    const change = { caller, what: nameOf(found, actionId), isChange: action.durable === true };
    const work = () => auditReply(workspace, change, (seen) => action.run(value, contextOf(seen, request)));
    const reply = await progressing(workspace, request, () =>
      action.once ? once(workspace, request, work) : work(),
    );
    await carryOut(workspace, registry, caller, reply);
    end('done');
  } catch (error) {
    end(error instanceof UserError ? 'refused' : 'failed');
    await answerFailure(workspace, caller, error, { action: actionId });
  }
}

/** Says that a click in a message takes its time; a view shows by itself what comes of one. */
async function progressing<T>(
  workspace: Workspace,
  request: ActionRequest,
  work: () => Promise<T>,
): Promise<T> {
  if (request.state !== undefined) return work();
  const show = (ms: number): Promise<void> => respondPrivately(workspace, request.caller, workingMessage(ms));
  const progress = showProgress(workspace, show);
  try {
    return await work();
  } finally {
    await progress.stop();
  }
}

/** The command and what the button does, e.g. `digest pause`. */
function nameOf({ command }: { command: Command }, actionId: string): string {
  const verb = /^[^:#]*:([^#]*)/.exec(actionId)?.[1] ?? '';
  return verb === '' ? command.name : `${command.name} ${verb}`;
}

function contextOf(workspace: Workspace, request: ActionRequest): ActionContext {
  const { caller, state, message, blockId = '' } = request;
  return {
    caller,
    account: undefined,
    text: '',
    workspace,
    blockId,
    state,
    message,
    updateModal: async (view, anyway) => {
      const shown = state?.view;
      const hash = anyway === undefined ? shown?.hash : undefined;
      if (shown !== undefined) await workspace.slack.updateModal(shown.id, view, hash);
    },
  };
}

/**
 * The same click on the same message counts once. The button goes away while it is carried out, and comes back where
 * that failed, so that it may be tried again. A click that comes again after a kill finds its own claim and goes on.
 */
async function once<T>(workspace: Workspace, request: ActionRequest, work: () => Promise<T>): Promise<T> {
  const { caller } = request;
  const claims = workspace.store.collection('claims', Claim);
  const what = [caller.channel, caller.messageTs, request.actionId, request.value];
  const id = createHash('sha256').update(JSON.stringify(what)).digest('base64url');
  const now = workspace.clock.now();
  const claim = { by: caller.user, at: now, request: caller.requestId };
  const isFirst = await claims.create(id, claim, now + CLAIM_MS);
  const standing = isFirst ? claim : await claims.get(id);
  if (standing?.request !== caller.requestId) throw new UserError('That button was used already.');
  const { message } = request;
  if (message !== undefined) await redraw(workspace, caller, withoutElement(message, request));
  try {
    return await work();
  } catch (error) {
    await claims.delete(id);
    if (message !== undefined) await redraw(workspace, caller, message);
    throw error;
  }
}

/** A button that stays although it was used is no reason to fail: the claim holds anyway. */
async function redraw(workspace: Workspace, caller: Caller, message: Message): Promise<void> {
  try {
    // A click on a message that only its reader sees carries no message, so this one can be edited.
    const { channel, messageTs: ts } = caller;
    if (channel === undefined || ts === undefined) await replaceMessage(workspace, caller, message);
    else await workspace.slack.update({ channel, ts }, message);
  } catch (error) {
    if (!isSlackFailure(error)) throw error;
    workspace.log.info({ event: 'redraw_failed', reason: error.reason }, 'a button stayed');
  }
}
