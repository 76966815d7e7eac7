import type { DeckhandApp } from '../../src/app.ts';
import { parseConfig } from '../../src/config.ts';
import { createLog } from '../../src/observability/log.ts';
import { openDeckhand } from '../../src/open.ts';
import { ACTIVE } from '../../src/records/schedules.ts';
import { newFeed } from '../../src/scheduler/watches/feed.ts';
import type { Workspace } from '../../src/workspace/workspace.ts';
import { ACCOUNT, TEAM } from './deckhand.ts';

const PERSON = 'U0ANN';
const SEEDED_AT_ONCE = 16;

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
    createdBy: PERSON,
    state: 'ok',
  });
  await fill(workspace);
  await close();
}

/** Installations by OAuth with an account, a daily digest and a watch each; one in ten has a daily guard. Sends no jobs. */
export async function seedWorkspaces(env: Record<string, string>, size: number): Promise<void> {
  const log = createLog('silent', () => undefined);
  const { app, close } = await openDeckhand(parseConfig(env), { log, version: '0.0.0' });
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < size) {
      next += 1;
      await seedWorkspace(app, next);
    }
  };
  await Promise.all(Array.from({ length: SEEDED_AT_ONCE }, work));
  await close();
}

async function seedWorkspace({ parts, workspaces }: DeckhandApp, at: number): Promise<void> {
  const id = `T0B${at}`;
  await parts.installations.byOauth?.provider('bench').installationStore.storeInstallation({
    team: { id, name: id },
    enterprise: undefined,
    user: { id: PERSON, token: undefined, scopes: undefined },
    bot: { token: `xoxb-${id}`, scopes: [], id: 'B0BOT', userId: 'U0BOT' },
  });
  const { accounts, clock, feeds, schedules } = workspaces.open(id);
  const name = `acme-${at}`;
  const apiKey = 'BenchKey'.repeat(5);
  await accounts.connect({ name, email: 'ann@example.com', apiKey, createdBy: PERSON, state: 'ok' });
  const place = { channel: `C${id}`, account: name };
  const common = { ...place, requestId: id, createdBy: PERSON, createdAt: clock.now(), state: ACTIVE };
  // One in each minute of the day.
  const time = new Date(at * 60_000).toISOString().slice(11, 16);
  const timed = { ...common, cadence: { kind: 'daily', time }, zone: 'UTC' } as const;
  await schedules.put({ ...timed, kind: 'digest', id: 'd1', range: 'last_7_days', skipQuiet: false });
  await schedules.put({ ...common, kind: 'watch', id: 'w1', mode: 'failures' });
  const project = { name: 'Storefront', permalink: 'storefront', identifier: 'storefront' };
  if (at % 10 === 0) await schedules.put({ ...timed, kind: 'guard', id: 'g1', project });
  const now = clock.now();
  const cursor = { recentMarks: [], floor: now, lookedAt: now };
  await feeds.update('watch', place, () => newFeed(place, 0, cursor));
}
