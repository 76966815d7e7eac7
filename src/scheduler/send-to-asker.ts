import type { News } from '../core/message.ts';
import { isSlackFailure } from '../slack/failure.ts';
import type { Workspace } from '../workspace/workspace.ts';

/** The part of a followed job's data that says for whom it is followed. */
interface AskedState {
  /** Who asked for it, and who had it followed again, where a person did. */
  askedBy?: string | undefined;
  resumedBy?: string | undefined;
  threads: boolean;
  told: string[];
}

/** The outcome for the one who asked, where the channel takes nothing more. @throws the error where that is not so */
export async function sendToAsker<State extends AskedState>(
  { slack, log }: Pick<Workspace, 'slack' | 'log'>,
  { read, keep }: { read(): State; keep(state: State): Promise<void> },
  { key, message }: News,
  error: unknown,
): Promise<void> {
  const { askedBy, resumedBy: asker = askedBy } = read();
  if (!isSlackFailure(error, 'forbidden') || asker === undefined) throw error;
  log.warn({ event: 'outcome_sent_directly', user: asker, reason: error.reason }, 'Slack refused an outcome');
  await slack.sendDirectMessage(asker, message);
  await keep({ ...read(), told: [...read().told, key], threads: false });
}
