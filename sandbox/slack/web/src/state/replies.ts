import type { Message } from '../api/types.ts';

/** Whether a message stands in a thread below another. */
export function isReply({ ts, thread_ts }: Message): boolean {
  return thread_ts !== undefined && thread_ts !== ts;
}
