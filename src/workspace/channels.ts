import { z } from 'zod';
import type { Collection, Store } from '../store/store.ts';

/** What a channel has set for itself. */
export const Channel = z.object({
  account: z.string().optional(),
  /** The project that commands mean where none is named: its permalink, and its name for people. */
  project: z.object({ permalink: z.string(), name: z.string() }).optional(),
  /** False where the channel wants no thread replies: the root message alone is edited. */
  threads: z.boolean().optional(),
  /** `compact` leaves out what went well. */
  layout: z.enum(['full', 'compact']).optional(),
  /** The commands that may run here; absent: all. */
  commands: z.array(z.string()).optional(),
  /** IANA zone for what a date token cannot show. */
  zone: z.string().optional(),
});
export type Channel = z.infer<typeof Channel>;

export interface Channels {
  get(workspace: string, channel: string | undefined): Promise<Channel>;
  change(workspace: string, channel: string, change: (current: Channel) => Channel): Promise<Channel>;
}

export function createChannels(store: Store): Channels {
  const stored: Collection<Channel> = store.collection('channels', Channel);
  return {
    async get(workspace, channel) {
      return channel === undefined ? {} : ((await stored.get(workspace, channel)) ?? {});
    },
    async change(workspace, channel, change) {
      return (await stored.update(workspace, channel, (current) => change(current ?? {}))) ?? {};
    },
  };
}
