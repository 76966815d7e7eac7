import { z } from 'zod';
import { systemClock } from '../../src/core/clock.ts';
import { openBackend } from '../../src/open.ts';
import { ACCOUNT, AT_ONCE, DAY_MS, OTHERS, type Subject } from './subject.ts';

const Account = z.object({ name: z.string(), email: z.string(), sealed: z.string(), uses: z.number() });
const NOW = { queue: 'bench', schema: z.object({}) };
const LATER = { queue: 'bench-later', schema: z.object({}) };

/** Deckhand's own store and engine. */
export async function openDeckhand(url: string): Promise<Subject> {
  const { store, engine, close } = await openBackend(url, { clock: systemClock });
  const accounts = (workspace: string) => store.of(workspace).collection('accounts', Account);
  let isWorking = false;
  return {
    async fill(workspaces) {
      for (const workspace of workspaces) {
        await accounts(workspace).put('acme', ACCOUNT);
        for (let at = 0; at < OTHERS; at += 1) await accounts(workspace).put(`other-${at}`, ACCOUNT);
        await engine.send(workspace, LATER, {}, { at: Date.now() + DAY_MS });
      }
    },
    get: (workspace) => accounts(workspace).get('acme'),
    put: (workspace) => accounts(workspace).put('acme', ACCOUNT),
    update: (workspace) =>
      accounts(workspace).update('acme', (account = ACCOUNT) => ({ ...account, uses: account.uses + 1 })),
    send: (workspace) => engine.send(workspace, NOW, {}),
    async work(onHandled) {
      const options = { concurrency: AT_ONCE, attempts: 3, backoffMs: 1000 };
      engine.work(NOW, { run: async () => onHandled(), options });
      await engine.start();
      isWorking = true;
    },
    async close() {
      if (isWorking) await engine.stop(10_000);
      await close();
    },
  };
}
