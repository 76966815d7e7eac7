import { z } from 'zod';
import { hashJson } from '../core/json.ts';
import { type Invocation, StoredInvocation } from '../core/message.ts';
import type { Clock } from '../core/time/clock.ts';
import type { WorkspaceStore } from '../store/store.ts';

/** A command that was typed before its account was connected or its name claimed. */
export const WaitingCommand = z.object({
  invocation: StoredInvocation,
  text: z.string(),
  /** The account at which the person must claim their name. Undefined: any working account is enough. */
  nameAt: z.string().optional(),
});
export interface WaitingCommand extends z.infer<typeof WaitingCommand> {}

const KEPT_MS = 30 * 60 * 1000;

export function createWaitingCommands(parts: { store: WorkspaceStore; clock: Clock }) {
  const collection = parts.store.collection('waiting', WaitingCommand);
  return {
    /** Stores a command for half an hour. The same text in the same channel is stored once. */
    async keep(invocation: Invocation, text: string, nameAt?: string): Promise<void> {
      const id = hashJson([invocation.user, invocation.channel, text]);
      const waiting = { invocation: StoredInvocation.parse(invocation), text, nameAt };
      await collection.put(id, waiting, parts.clock.now() + KEPT_MS);
    },
    async list(): Promise<Array<{ id: string; waiting: WaitingCommand }>> {
      return (await collection.list()).map(({ id, doc }) => ({ id, waiting: doc }));
    },
    forget: (id: string) => collection.delete(id),
  };
}
