import type { Message } from '../../core/message.ts';
import { code } from '../../core/mrkdwn.ts';
import type { SkippedRows } from '../../service/call.ts';
import { context } from './message.ts';

/** What was posted, where that is all. */
export const UNREAD = 'entries that could not be read';

/** The message of a list, which says how many entries are missing from it because they could not be read. */
export function withSkipped(message: Message, skipped: readonly SkippedRows[]): Message {
  if (skipped.length === 0) return message;
  return { ...message, blocks: [...(message.blocks ?? []), context(skippedWords(skipped))] };
}

/** "1 entry could not be read", with the log's reference; mrkdwn. */
export function skippedWords(skipped: readonly SkippedRows[]): string {
  const total = skipped.reduce((sum, { count }) => sum + count, 0);
  const references = skipped.map(({ reference }) => code(reference)).join(', ');
  return `:warning: ${total} ${total === 1 ? 'entry' : 'entries'} could not be read. Reference ${references}.`;
}
