import { requirePermission } from '../../commands/permission.ts';
import { UserError } from '../../core/errors.ts';
import type { Caller } from '../../core/reply.ts';
import { explainAndLog } from '../../scheduler/explain.ts';
import { isSlackFailure } from '../../slack/failure.ts';
import { failureMessage } from '../../views/blocks/failures.ts';
import { workingMessage } from '../../views/blocks/message.ts';
import { noticeOf } from '../../views/blocks/modal.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import type { Registry } from '../registry.ts';
import { answerFailure } from './answer-failure.ts';
import { instrument, type Outcome } from './instrument.ts';
import { showProgress } from './progress.ts';
import { respondPrivately } from './respond.ts';
import { carryOut } from './run-command.ts';

export interface ShortcutRequest {
  caller: Caller;
  callbackId: string;
  said: string;
}

/** Carries out a shortcut and says what comes of it. */
export function runShortcut(
  workspace: Workspace,
  registry: Registry,
  request: ShortcutRequest,
): Promise<void> {
  const found = registry.shortcut(request.callbackId);
  const command = found?.command.name ?? 'unknown';
  const asked = {
    command,
    by: 'shortcut',
    what: found?.shortcut.callbackId,
  } as const;
  return instrument(workspace, asked, (end) => runFound(workspace, registry, request, found, end));
}

async function runFound(
  workspace: Workspace,
  registry: Registry,
  { caller, callbackId, said }: ShortcutRequest,
  found: ReturnType<Registry['shortcut']>,
  end: (outcome: Outcome) => void,
): Promise<void> {
  try {
    if (found === undefined)
      throw new UserError('This shortcut is from an older version of Deckhand.', 'help');
    await requirePermission(workspace, caller, found.shortcut.role, found.command.name);
    const progress =
      caller.channel === undefined ? undefined : showProgress(workspace, showTo(workspace, caller));
    const context = { caller, account: undefined, text: '', said, workspace };
    const reply = await found.shortcut.run(context).finally(() => progress?.stop());
    await carryOut(workspace, registry, caller, reply);
    end('done');
  } catch (error) {
    end(error instanceof UserError ? 'refused' : 'failed');
    if (!(await showFailure(workspace, caller, error, callbackId)))
      await answerFailure(workspace, caller, error, { action: callbackId });
  }
}

function showTo(workspace: Workspace, caller: Caller): (ms: number) => Promise<void> {
  return (ms) => respondPrivately(workspace, caller, workingMessage(ms));
}

/** Where a shortcut has no channel, a modal is the one place in front of the person; false where none opens. */
async function showFailure(
  workspace: Workspace,
  caller: Caller,
  error: unknown,
  action: string,
): Promise<boolean> {
  const { user, channel, triggerId } = caller;
  if (channel !== undefined || triggerId === undefined || isSlackFailure(error, 'expired')) return false;
  const at = { word: workspace.config.SLACK_COMMAND, now: workspace.clock.now() };
  const message = failureMessage(explainAndLog(error, at, workspace.log, { user, action }));
  try {
    await workspace.slack.openModal(triggerId, noticeOf('Deckhand', message));
  } catch (second) {
    if (!isSlackFailure(second)) throw second;
    return false;
  }
  return true;
}
