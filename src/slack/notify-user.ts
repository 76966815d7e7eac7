import type { Message } from '../core/message.ts';
import { isSlackFailure } from './failure.ts';
import type { WorkspaceSlack } from './slack.ts';

/** One person, and where they would like to be answered. */
export interface Addressee {
  user: string;
  channel?: string | undefined;
  threadTs?: string | undefined;
}

/**
 * Shows a message to one person where they are; by direct message, which waits for a busy Slack, where Deckhand may
 * not post or Slack asks for too long a wait.
 */
export async function notifyUser(
  slack: WorkspaceSlack,
  { user, channel, threadTs }: Addressee,
  message: Message,
): Promise<void> {
  if (channel !== undefined) {
    try {
      return await slack.postEphemeral({ channel, user, threadTs }, message);
    } catch (error) {
      if (!isSlackFailure(error, 'gone', 'forbidden', 'busy')) throw error;
    }
  }
  await slack.sendDirectMessage(user, message);
}
