import { parseConfig } from '../../src/config.ts';
import { createLog } from '../../src/observability/log.ts';
import { openDeckhand } from '../../src/open.ts';
import type { Workspace } from '../../src/workspace/workspace.ts';
import { ACCOUNT, TEAM } from './deckhand.ts';

/** Fills a store as Deckhand would have, before Deckhand is started on it. */
export async function seed(
  env: Record<string, string>,
  fill: (workspace: Workspace) => Promise<void> = async () => undefined,
): Promise<void> {
  const log = createLog('silent', () => undefined);
  const { app, close } = await openDeckhand(parseConfig(env), { log, version: '0.0.0' });
  const workspace = app.workspaces.open(TEAM);
  await workspace.accounts.connect({
    name: ACCOUNT,
    email: 'ann@example.com',
    apiKey: 'BenchKey00BenchKey00BenchKey00BenchKey00',
    createdBy: 'U0ANN',
    state: 'ok',
  });
  await fill(workspace);
  await close();
}
