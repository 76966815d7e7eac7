import { hash } from 'node:crypto';
import { z } from 'zod';
import { type Caller, StoredCaller } from '../core/message.ts';
import type { Clock } from '../core/time/clock.ts';
import type { JobType, WorkspaceJobs } from '../jobs/jobs.ts';
import type { WorkspaceStore } from '../store/store.ts';

/** A command that a person typed too early, and where it is answered. */
const WaitingCommand = z.object({
  caller: StoredCaller,
  text: z.string(),
  /** The account at which the person has to claim their name; any account that works if left out. */
  nameAt: z.string().optional(),
});
export type WaitingCommand = z.infer<typeof WaitingCommand>;

const KEPT_MS = 30 * 60 * 1000;

/** Runs the commands whose account works now, or whose person has a name now. */
export const RUN_WAITING: JobType<object> = { queue: 'run-waiting', schema: z.object({}) };

export function createWaitingCommands(parts: { store: WorkspaceStore; clock: Clock; jobs: WorkspaceJobs }) {
  const stored = parts.store.collection('waiting', WaitingCommand);
  return {
    /** Keeps it for half an hour. The same words in the same channel are kept once. */
    async keep(caller: Caller, text: string, nameAt?: string): Promise<void> {
      const id = hash('sha256', JSON.stringify([caller.user, caller.channel, text]), 'base64url');
      const waiting = { caller: StoredCaller.parse(caller), text, nameAt };
      await stored.put(id, waiting, parts.clock.now() + KEPT_MS);
    },
    async list(): Promise<Array<{ id: string; waiting: WaitingCommand }>> {
      return (await stored.list()).map(({ id, doc }) => ({ id, waiting: doc }));
    },
    forget: (id: string) => stored.delete(id),
    /** Call it whenever an account begins to work, or a name was claimed. */
    async resume(): Promise<void> {
      await parts.jobs.send(RUN_WAITING, {});
    },
  };
}
