import { z } from 'zod';
import type { Clock } from '../core/clock.ts';
import type { Store } from '../store/store.ts';

const PendingCommands = z.object({ text: z.string() });
const KEPT_MS = 30 * 60 * 1000;

/** The command that a person typed before an account was connected; it runs once one is. */
export interface PendingCommands {
  keep(workspace: string, user: string, text: string): Promise<void>;
  /** Gives it once. */
  take(workspace: string, user: string): Promise<string | undefined>;
}

export function createPendingCommands(parts: { store: Store; clock: Clock }): PendingCommands {
  const stored = parts.store.collection('waiting', PendingCommands);
  return {
    keep: (workspace, user, text) => stored.put(workspace, user, { text }, parts.clock.now() + KEPT_MS),
    async take(workspace, user) {
      const found = await stored.get(workspace, user);
      if (found === undefined || !(await stored.delete(workspace, user))) return undefined;
      return found.text;
    },
  };
}
