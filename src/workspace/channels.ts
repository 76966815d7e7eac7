import { z } from 'zod';
import type { WorkspaceCollection, WorkspaceStore } from '../store/workspace-store.ts';

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
  get(channel: string | undefined): Promise<Channel>;
  change(channel: string, change: (current: Channel) => Channel): Promise<Channel>;
}

export function createChannels(store: WorkspaceStore): Channels {
  const stored: WorkspaceCollection<Channel> = store.collection('channels', Channel);
  return {
    async get(channel) {
      return channel === undefined ? {} : ((await stored.get(channel)) ?? {});
    },
    async change(channel, change) {
      return (await stored.update(channel, (current) => change(current ?? {}))) ?? {};
    },
  };
}
