import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { hashJson } from '../core/json.ts';
import { GLOBAL, type Store } from '../store/store.ts';

export const HookToken = z.object({ workspace: z.string(), account: z.string(), project: z.string() });
export interface HookToken extends z.infer<typeof HookToken> {}

/** Tokens in the addresses that the service calls. The store holds only digests. */
export function createHookTokens(store: Store) {
  const tokens = store.of(GLOBAL).collection('hook-tokens', HookToken);
  return {
    /** Finds the owner of a token; undefined for an unknown one. */
    find: (token: string) => tokens.get(hashJson(token)),
    async erase(workspace: string): Promise<void> {
      for (const { id, doc } of await tokens.list()) if (doc.workspace === workspace) await tokens.delete(id);
    },
    of: (workspace: string) => ({
      async issue(account: string, project: string): Promise<{ token: string; digest: string }> {
        const token = randomBytes(32).toString('base64url');
        await tokens.put(hashJson(token), { workspace, account, project });
        return { token, digest: hashJson(token) };
      },
      revoke: (digested: string) => tokens.delete(digested),
    }),
  };
}
