import { z } from 'zod';
import { ProjectRef } from '../core/project-ref.ts';
import { ZoneName } from '../core/time/zone.ts';
import type { Collection, WorkspaceStore } from '../store/store.ts';

/** The settings of a channel. */
export const Channel = z.object({
  account: z.string().optional(),
  /** The project of commands that name none: its permalink, and its name for people. */
  project: ProjectRef.optional(),
  /** False where the channel wants no thread replies; then only the root message is edited. */
  threads: z.boolean().optional(),
  /** `full`: a reply for each item of a test run; `compact`, the default: one for all that is reachable. */
  layout: z.enum(['full', 'compact']).optional(),
  /** The commands that may run here; absent: all. */
  commands: z.array(z.string()).optional(),
  /** IANA zone for dates that Slack's date tokens cannot show. */
  zone: ZoneName.optional(),
});
export type Channel = z.infer<typeof Channel>;

/** The project that the channel is bound to with `use`, unless another account is meant. */
export function projectOfChannel(
  { account, project }: Channel,
  named: string | undefined,
): Channel['project'] {
  return account === undefined || account === named ? project : undefined;
}

/** Cannot be switched off in a channel, so that the people there can always find out what to do. */
const ALWAYS_ALLOWED: readonly string[] = ['help', 'start', 'roles'];

export function isAlwaysAllowed(command: string): boolean {
  return ALWAYS_ALLOWED.includes(command);
}

/** Whether a command may run, or post by itself, in a channel with these settings. Everything asks this. */
export function allows({ commands }: Channel, command: string): boolean {
  return commands === undefined || commands.includes(command) || isAlwaysAllowed(command);
}

export function createChannels(store: Pick<WorkspaceStore, 'collection'>) {
  const stored: Collection<Channel> = store.collection('channels', Channel);
  async function change(channel: string, change: (current: Channel) => Channel): Promise<Channel> {
    return (await stored.update(channel, (current) => change(current ?? {}))) ?? {};
  }
  return {
    async get(channel: string | undefined): Promise<Channel> {
      return channel === undefined ? {} : ((await stored.get(channel)) ?? {});
    },
    change,
    /** Slack refused a reply there: no more are posted until `settings` turns threads on. */
    async turnThreadsOff(channel: string): Promise<void> {
      await change(channel, (current) => ({ ...current, threads: false }));
    },
  };
}
