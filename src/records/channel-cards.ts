import { z } from 'zod';
import type { Collection, WorkspaceStore } from '../store/store.ts';

/** The message of a channel that shows what is set up in it. Its document stays, so that each post has its own number. */
export const ChannelCard = z.object({
  /** Number of the posts so far, or of the one that has begun. */
  number: z.number(),
  /** Empty if there is no message, or Slack did not say where it is. */
  ts: z.string(),
  /** Time of the post, milliseconds since the epoch. */
  since: z.number(),
  /** Hash of what it shows. */
  hash: z.string(),
  /** The message that it replaced, while that still has its buttons. */
  replaced: z.string().optional(),
});
export interface ChannelCard extends z.infer<typeof ChannelCard> {}

/** The cards, each under the id of its channel. */
export function channelCards(store: Pick<WorkspaceStore, 'collection'>): Collection<ChannelCard> {
  return store.collection('channel-cards', ChannelCard);
}
