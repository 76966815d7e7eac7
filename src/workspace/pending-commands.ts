import { z } from 'zod';
import type { Clock } from '../core/clock.ts';
import type { WorkspaceStore } from '../store/store.ts';

const Pending = z.object({ text: z.string() });
const KEPT_MS = 30 * 60 * 1000;

/** Commands that were typed before an account was connected; they run once one is. */
export interface PendingCommands {
  keep(user: string, text: string): Promise<void>;
  /** Returns it once. */
  take(user: string): Promise<string | undefined>;
}

export function createPendingCommands(parts: { store: WorkspaceStore; clock: Clock }): PendingCommands {
  const stored = parts.store.collection('waiting', Pending);
  return {
    keep: (user, text) => stored.put(user, { text }, parts.clock.now() + KEPT_MS),
    async take(user) {
      const found = await stored.get(user);
      if (found === undefined || !(await stored.delete(user))) return undefined;
      return found.text;
    },
  };
}
