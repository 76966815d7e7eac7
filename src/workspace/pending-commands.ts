import { z } from 'zod';
import type { Clock } from '../core/clock.ts';
import type { WorkspaceStore } from '../store/store.ts';

const Pending = z.object({ text: z.string() });
const KEPT_MS = 30 * 60 * 1000;

/** Commands that were typed before an account was connected; they run once one is. */
export function createPendingCommands(parts: { store: WorkspaceStore; clock: Clock }) {
  const stored = parts.store.collection('waiting', Pending);
  return {
    keep: (user: string, text: string) => stored.put(user, { text }, parts.clock.now() + KEPT_MS),
    /** Returns it once. */
    async take(user: string): Promise<string | undefined> {
      const found = await stored.get(user);
      if (found === undefined || !(await stored.delete(user))) return undefined;
      return found.text;
    },
  };
}
