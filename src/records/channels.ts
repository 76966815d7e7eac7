import { z } from 'zod';
import { ProjectRef } from '../core/project-ref.ts';
import { ZoneName } from '../core/time/zone.ts';
import type { Collection, WorkspaceStore } from '../store/store.ts';

export const Channel = z.object({
  account: z.string().optional(),
  /** Default project of the channel's commands. */
  project: ProjectRef.optional(),
  /** False if only the root message is edited, without replies in the thread. */
  threads: z.boolean().optional(),
  /** `full`: a reply for each item of a test run. `compact`, the default: one reply for all reachable items. */
  layout: z.enum(['full', 'compact']).optional(),
  /** Allowed commands; all by default. */
  commands: z.array(z.string()).optional(),
  /** False to start no test of the project after a failed deployment. */
  diagnose: z.boolean().optional(),
  /** IANA zone for dates that Slack's date tokens cannot show. */
  zone: ZoneName.optional(),
});
export interface Channel extends z.infer<typeof Channel> {}

/** The channel's project, set with `use`, unless the request names another account. */
export function readChannelProject(
  { account, project }: Channel,
  accountName: string | undefined,
): Channel['project'] {
  return account === undefined || account === accountName ? project : undefined;
}

/** Commands that cannot be switched off, so that people can always find out what to do. */
const ALWAYS_ALLOWED: readonly string[] = ['help', 'start', 'roles'];

export function isAlwaysAllowed(command: string): boolean {
  return ALWAYS_ALLOWED.includes(command);
}

/** True if a command may run, or post by itself, in a channel. */
export function allows({ commands }: Channel, command: string): boolean {
  return commands === undefined || commands.includes(command) || isAlwaysAllowed(command);
}

/** A move of everything in a channel. */
export interface ChannelMove {
  from: string;
  to: string;
  /** True if Slack gave the channel a new id, so that its messages are there too. */
  isSameChannel: boolean;
}

export function createChannels(store: Pick<WorkspaceStore, 'collection'>) {
  const collection: Collection<Channel> = store.collection('channels', Channel);
  async function change(channel: string, change: (current: Channel) => Channel): Promise<Channel> {
    return (await collection.update(channel, (current) => change(current ?? {}))) ?? {};
  }
  return {
    async get(channel: string | undefined): Promise<Channel> {
      return channel === undefined ? {} : ((await collection.get(channel)) ?? {});
    },
    async list(): Promise<Array<Channel & { id: string }>> {
      return (await collection.list()).map(({ id, doc }) => ({ id, ...doc }));
    },
    change,
    /**
     * Moves the settings to another channel, whose own settings stay. The restrictions of admins stay, too, unless it is the same
     * channel. Safe to repeat.
     */
    async move({ from, to, isSameChannel }: ChannelMove): Promise<void> {
      const settings = await collection.get(from);
      if (settings === undefined) return;
      const { commands, ...others } = settings;
      const restrictions = commands === undefined ? {} : { commands };
      const moved = isSameChannel ? settings : others;
      await change(to, (current) => ({ ...moved, ...current }));
      if (isSameChannel || commands === undefined) await collection.delete(from);
      else await collection.put(from, restrictions);
    },
    /** Call it if Slack rejects a reply in the channel. `settings` turns threads on again. */
    async turnThreadsOff(channel: string): Promise<void> {
      await change(channel, (current) => ({ ...current, threads: false }));
    },
  };
}
