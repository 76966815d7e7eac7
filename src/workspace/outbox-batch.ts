import { z } from 'zod';
import type { Message } from '../core/message.ts';

const StoredMessage = z.custom<Message>(
  (value) => typeof value === 'object' && value !== null && 'text' in value && 'blocks' in value,
);

/** What a channel is still to be told, as it will be posted. It stands beside the place it was found at. */
export const Batch = z.object({
  /** Names it for ever. */
  id: z.string(),
  /** When it was found, milliseconds since the epoch. */
  at: z.number(),
  root: StoredMessage,
  /** Go into the thread of the root message. */
  replies: z.array(StoredMessage),
  /** What it is, for lists: "3 events". */
  what: z.string(),
  /** The ids of what it is told for. */
  for: z.array(z.string()),
});
export type Batch = z.infer<typeof Batch>;

/** The latest that was posted, or why not; mrkdwn of our own making. */
export const LastResult = z.object({ at: z.number(), said: z.string() });
export type LastResult = z.infer<typeof LastResult>;
