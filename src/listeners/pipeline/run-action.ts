import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { ActionContext, Caller, Command } from '../../commands/command.ts';
import { requirePermission } from '../../commands/permission.ts';
import { UserError } from '../../core/errors.ts';
import type { Deckhand } from '../../deckhand.ts';
import { isSlackFailure } from '../../slack/failure.ts';
import { type Message, withoutElement } from '../../views/blocks/message.ts';
import { workingMessage } from '../../views/blocks/working.ts';
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
export function runAction(deckhand: Deckhand, registry: Registry, request: ActionRequest): Promise<void> {
  const { caller, actionId, state } = request;
  const found = registry.action(actionId, state?.view.callback_id);
  const command = found?.command.name ?? 'unknown';
  const asked = { command, by: 'action', what: found?.action.actionId, workspace: caller.workspace } as const;
  return instrument(deckhand, asked, (end) => runFound(deckhand, registry, request, found, end));
}

async function runFound(
  deckhand: Deckhand,
  registry: Registry,
  request: ActionRequest,
  found: ReturnType<Registry['action']>,
  end: (outcome: Outcome) => void,
): Promise<void> {
  const { caller, actionId, value } = request;
  try {
    if (found === undefined) throw new UserError('This button is from an older version of Deckhand.', 'help');
    const { action } = found;
    await requirePermission(deckhand, caller, action.role, found.command.name);
    const change = { caller, what: nameOf(found, actionId), isChange: action.durable === true };
    const work = () => auditReply(deckhand, change, (seen) => action.run(value, contextOf(seen, request)));
    const reply = await progressing(deckhand, request, () =>
      action.once ? once(deckhand, request, work) : work(),
    );
    await carryOut(deckhand, registry, caller, reply);
    end('done');
  } catch (error) {
    end(error instanceof UserError ? 'refused' : 'failed');
    await answerFailure(deckhand, caller, error, { action: actionId });
  }
}

/** Says that a click in a message takes its time; a view shows by itself what comes of one. */
async function progressing<T>(
  deckhand: Deckhand,
  request: ActionRequest,
  work: () => Promise<T>,
): Promise<T> {
  if (request.state !== undefined) return work();
  const show = (ms: number): Promise<void> => respondPrivately(deckhand, request.caller, workingMessage(ms));
  const progress = showProgress(deckhand, show);
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

function contextOf(deckhand: Deckhand, request: ActionRequest): ActionContext {
  const { caller, state, message, blockId = '' } = request;
  return {
    caller,
    account: undefined,
    text: '',
    deckhand,
    blockId,
    state,
    message,
    updateModal: async (view, anyway) => {
      const shown = state?.view;
      const hash = anyway === undefined ? shown?.hash : undefined;
      if (shown !== undefined) await deckhand.slack.updateModal(caller.workspace, shown.id, view, hash);
    },
  };
}

/**
 * The same click on the same message counts once. The button goes away while it is carried out, and comes back where
 * that failed, so that it may be tried again. A click that comes again after a kill finds its own claim and goes on.
 */
async function once<T>(deckhand: Deckhand, request: ActionRequest, work: () => Promise<T>): Promise<T> {
  const { caller } = request;
  const claims = deckhand.store.collection('claims', Claim);
  const what = [caller.channel, caller.messageTs, request.actionId, request.value];
  const id = createHash('sha256').update(JSON.stringify(what)).digest('base64url');
  const now = deckhand.clock.now();
  const claim = { by: caller.user, at: now, request: caller.requestId };
  const isFirst = await claims.create(caller.workspace, id, claim, now + CLAIM_MS);
  const standing = isFirst ? claim : await claims.get(caller.workspace, id);
  if (standing?.request !== caller.requestId) throw new UserError('That button was used already.');
  const { message } = request;
  if (message !== undefined) await redraw(deckhand, caller, withoutElement(message, request));
  try {
    return await work();
  } catch (error) {
    await claims.delete(caller.workspace, id);
    if (message !== undefined) await redraw(deckhand, caller, message);
    throw error;
  }
}

/** A button that stays although it was used is no reason to fail: the claim holds anyway. */
async function redraw(deckhand: Deckhand, caller: Caller, message: Message): Promise<void> {
  try {
    // A click on a message that only its reader sees carries no message, so this one can be edited.
    const { workspace, channel, messageTs: ts } = caller;
    if (channel === undefined || ts === undefined) await replaceMessage(deckhand, caller, message);
    else await deckhand.slack.update(workspace, { channel, ts }, message);
  } catch (error) {
    if (!isSlackFailure(error)) throw error;
    deckhand.log.info(
      { event: 'redraw_failed', workspace: caller.workspace, reason: error.reason },
      'a button stayed',
    );
  }
}
