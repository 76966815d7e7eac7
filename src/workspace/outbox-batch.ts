import { z } from 'zod';
import type { Message } from '../core/message.ts';

export const StoredMessage = z.custom<Message>(
  (value) => typeof value === 'object' && value !== null && 'text' in value && 'blocks' in value,
);

/** News of a channel, as it will be posted. It is stored together with the cursor that found it. */
export const Batch = z.object({
  /** The same for each attempt, so that it is posted once. */
  id: z.string(),
  /** When it was found, milliseconds since the epoch. */
  at: z.number(),
  root: StoredMessage,
  /** For the thread of the root message. */
  replies: z.array(StoredMessage),
  /** What it is, for lists: "3 events". */
  what: z.string(),
  /** The ids of the watches that ask for it. */
  for: z.array(z.string()),
});
export type Batch = z.infer<typeof Batch>;

/**
 * How many entries of a list could not be read when the channel was last told. It is told again when there are more; a
 * lower number counts after a day, because odd entries come and go.
 */
export const ToldUnread = z.object({ count: z.number(), at: z.number() });
export type ToldUnread = z.infer<typeof ToldUnread>;

/** The latest that was posted, or why not; mrkdwn of our own making. */
export const LastResult = z.object({ at: z.number(), said: z.string() });
export type LastResult = z.infer<typeof LastResult>;
