import type { Caller } from '../../commands/command.ts';
import type { Deckhand } from '../../deckhand.ts';
import { explainAndLog } from '../../scheduler/explain.ts';
import { StoreUnavailable } from '../../store/store.ts';
import { failureMessage } from '../../views/blocks/failures.ts';
import { respondPrivately } from './respond.ts';

/**
 * The one answer to a thrown error outside modals: told to the person who caused it, and logged.
 * @throws StoreUnavailable where that was the error, and the request is carried out again
 */
export async function answerFailure(
  deckhand: Deckhand,
  caller: Caller,
  error: unknown,
  fields: { command?: string; action?: string; view?: string },
): Promise<void> {
  if (caller.isStored && error instanceof StoreUnavailable) throw error;
  const at = { word: deckhand.config.SLACK_COMMAND, now: deckhand.clock.now() };
  const { workspace, user, channel } = caller;
  const explained = explainAndLog(error, at, deckhand.log, { workspace, user, channel, ...fields });
  try {
    await respondPrivately(deckhand, caller, failureMessage(explained));
  } catch (second) {
    // Slack itself does not take the answer: the log is all that is left.
    deckhand.log.warn(
      { event: 'answer_failed', workspace, err: second, ...fields },
      'a person could not be answered',
    );
  }
}
