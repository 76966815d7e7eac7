import { z } from 'zod';
import { type Clock, MINUTE_MS } from '../core/clock.ts';
import type { Engine } from '../jobs/jobs.ts';
import type { Sealer } from '../store/sealer.ts';
import { GLOBAL, type Store } from '../store/store.ts';
import { type Installations, installationLock } from './installations.ts';
import type { LinkRequests } from './link-requests.ts';
import type { Workspaces } from './workspace.ts';

/** Longer than anything that is under way at an uninstall. */
const LATE_WRITES_MS = 10 * MINUTE_MS;

/** A workspace that was taken out, by its id, until nothing of it can come any more. */
const Uninstalled = z.object({ at: z.number() });

interface UninstallParts {
  store: Store;
  sealer: Sealer;
  engine: Engine;
  installations: Installations;
  linkRequests: LinkRequests;
  workspaces: Workspaces;
  clock: Clock;
}

/** What is under way at an uninstall fails on the missing data key or token; what it leaves all the same is swept later. */
export function createUninstalls(parts: UninstallParts) {
  const { store, installations, clock } = parts;
  const uninstalled = store.of(GLOBAL).collection('uninstalled', Uninstalled);

  /** The data key, documents with the installation among them, jobs, link tickets, and what is in memory. */
  async function erase(workspace: string): Promise<void> {
    await store.erase(workspace);
    await parts.engine.cancel(workspace);
    await parts.linkRequests.erase(workspace);
    parts.workspaces.forget(workspace);
    parts.sealer.forget(workspace);
    await store.sweep();
  }

  return {
    /** Under the lock of the installation. Can be repeated; what is interrupted, the next start goes on with. */
    async uninstall(workspace: string): Promise<void> {
      await uninstalled.put(workspace, { at: clock.now() });
      await installations.end(workspace);
      await erase(workspace);
    },
    /** For the start, and every ten minutes. */
    async sweep(): Promise<void> {
      for (const { id: workspace, doc } of await uninstalled.list())
        await store.exclusive(installationLock(workspace), async () => {
          const isBack = await installations.isInstalled(workspace);
          if (!isBack) await erase(workspace);
          if (isBack || clock.now() - doc.at >= LATE_WRITES_MS) await uninstalled.delete(workspace);
        });
    },
  };
}

export type Uninstalls = ReturnType<typeof createUninstalls>;
