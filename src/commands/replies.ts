import type { Audited, Message, Reply } from '../core/message.ts';

/** Replies to the person only. */
export function replyPrivately(
  message: Message,
  audit?: Audited['audit'],
): Extract<Reply, { kind: 'private' }> {
  return { kind: 'private', message, audit };
}

/** Replaces the message whose button was used. */
export function replyInPlace(
  message: Message,
  audit?: Audited['audit'],
): Extract<Reply, { kind: 'replace' }> {
  return { kind: 'replace', message, audit };
}
