import type { Deckhand } from '../../deckhand.ts';

/**
 * Deletes all that is kept of a workspace: jobs and schedules, documents with the installation among them, the data
 * key, and what is in memory. Can be repeated.
 */
export async function eraseWorkspace(deckhand: Deckhand, workspace: string): Promise<void> {
  await deckhand.engine.erase(workspace);
  await deckhand.linkRequests.erase(workspace);
  const { projects, listings, roles, home, sealer } = deckhand;
  for (const part of [projects, listings, roles, home, sealer]) part.forget(workspace);
  await deckhand.store.erase(workspace);
}
