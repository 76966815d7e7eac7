import type { LinkRequests } from '../../workspace/link-requests.ts';
import type { Parts, Workspaces } from '../../workspace/workspace.ts';

export interface EraseParts extends Pick<Parts, 'engine' | 'installations' | 'sealer' | 'store'> {
  workspaces: Workspaces;
  linkRequests: LinkRequests;
}

/**
 * Deletes all that is kept of a workspace: jobs and schedules, documents with the installation among them, the data
 * key, and what is in memory. Can be repeated.
 */
export async function eraseWorkspace(parts: EraseParts, workspace: string): Promise<void> {
  await parts.engine.erase(workspace);
  await parts.linkRequests.erase(workspace);
  parts.workspaces.forget(workspace);
  parts.sealer.forget(workspace);
  await parts.store.erase(workspace);
}
