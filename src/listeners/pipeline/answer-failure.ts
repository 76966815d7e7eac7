import type { Caller } from '../../core/reply.ts';
import { explainAndLog } from '../../scheduler/explain.ts';
import { StoreUnavailable } from '../../store/store.ts';
import { failureMessage } from '../../views/blocks/failures.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { respondPrivately } from './respond.ts';

/**
 * The one answer to a thrown error outside modals: told to the person who caused it, and logged.
 * @throws StoreUnavailable where that was the error, and the request is carried out again
 */
export async function answerFailure(
  workspace: Workspace,
  caller: Caller,
  error: unknown,
  fields: { command?: string; action?: string; view?: string },
): Promise<void> {
  if (caller.isStored && error instanceof StoreUnavailable) throw error;
  const at = { word: workspace.config.SLACK_COMMAND, now: workspace.clock.now() };
  const { user, channel } = caller;
  const explained = explainAndLog(error, at, workspace.log, { user, channel, ...fields });
  try {
    await respondPrivately(workspace, caller, failureMessage(explained));
  } catch (second) {
    // Slack itself does not take the answer: the log is all that is left.
    workspace.log.warn({ event: 'answer_failed', err: second, ...fields }, 'a person could not be answered');
  }
}
