import type { Caller } from '../../commands/command.ts';
import { requirePermission } from '../../commands/permission.ts';
import { UserError } from '../../core/errors.ts';
import type { Deckhand } from '../../deckhand.ts';
import { explainAndLog } from '../../scheduler/explain.ts';
import { isSlackFailure } from '../../slack/failure.ts';
import { failureMessage } from '../../views/blocks/failures.ts';
import { noticeOf } from '../../views/blocks/modal.ts';
import { workingMessage } from '../../views/blocks/working.ts';
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
export function runShortcut(deckhand: Deckhand, registry: Registry, request: ShortcutRequest): Promise<void> {
  const { workspace } = request.caller;
  const found = registry.shortcut(request.callbackId);
  const command = found?.command.name ?? 'unknown';
  const asked = { command, by: 'shortcut', what: found?.shortcut.callbackId, workspace } as const;
  return instrument(deckhand, asked, (end) => runFound(deckhand, registry, request, found, end));
}

async function runFound(
  deckhand: Deckhand,
  registry: Registry,
  { caller, callbackId, said }: ShortcutRequest,
  found: ReturnType<Registry['shortcut']>,
  end: (outcome: Outcome) => void,
): Promise<void> {
  try {
    if (found === undefined)
      throw new UserError('This shortcut is from an older version of Deckhand.', 'help');
    await requirePermission(deckhand, caller, found.shortcut.role, found.command.name);
    const progress =
      caller.channel === undefined ? undefined : showProgress(deckhand, showTo(deckhand, caller));
    const context = { caller, account: undefined, text: '', said, deckhand };
    const reply = await found.shortcut.run(context).finally(() => progress?.stop());
    await carryOut(deckhand, registry, caller, reply);
    end('done');
  } catch (error) {
    end(error instanceof UserError ? 'refused' : 'failed');
    if (!(await showFailure(deckhand, caller, error, callbackId)))
      await answerFailure(deckhand, caller, error, { action: callbackId });
  }
}

function showTo(deckhand: Deckhand, caller: Caller): (ms: number) => Promise<void> {
  return (ms) => respondPrivately(deckhand, caller, workingMessage(ms));
}

/** Where a shortcut has no channel, a modal is the one place in front of the person; false where none opens. */
async function showFailure(
  deckhand: Deckhand,
  caller: Caller,
  error: unknown,
  action: string,
): Promise<boolean> {
  const { workspace, user, channel, triggerId } = caller;
  if (channel !== undefined || triggerId === undefined || isSlackFailure(error, 'expired')) return false;
  const at = { word: deckhand.config.SLACK_COMMAND, now: deckhand.clock.now() };
  const message = failureMessage(explainAndLog(error, at, deckhand.log, { workspace, user, action }));
  try {
    await deckhand.slack.openModal(workspace, triggerId, noticeOf('Deckhand', message));
  } catch (second) {
    if (!isSlackFailure(second)) throw second;
    return false;
  }
  return true;
}
