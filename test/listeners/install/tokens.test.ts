import { expect, onTestFinished, test } from 'vitest';
import { createLog } from '../../../src/observability/log.ts';
import { createSlackOauth } from '../../../src/slack/oauth.ts';
import { createWeb } from '../../../src/slack/web.ts';
import { parseEncryptionKeys } from '../../../src/store/encryption-keys.ts';
import { openStore } from '../../../src/store/open-store.ts';
import { createSealer } from '../../../src/store/sealer.ts';
import type { Installations } from '../../../src/workspace/installations.ts';
import { createInstallations } from '../../../src/workspace/oauth-installations.ts';
import { DATABASES } from '../../store/databases.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { freshDatabase } from '../../support/postgres.ts';
import { startSlack } from '../../support/start-slack.ts';
import { temporarySqlite } from '../../support/temporary.ts';
import { furnish, PEOPLE, TEAM } from '../../support/test-world.ts';

const HOUR = 3_600_000;
const KEYS = parseEncryptionKeys(`k1:${Buffer.alloc(32, 7).toString('base64')}`);

async function openRotating() {
  const clock = createManualClock(Date.now());
  const slack = await startSlack({ app: { tokenRotation: true }, now: () => clock.now() });
  onTestFinished(() => slack.stop());
  furnish(slack, { installed: false });
  const logs: string[] = [];
  const log = createLog('debug', (line) => logs.push(line));

  /** One replica's installations. */
  async function replica(url: string): Promise<Installations> {
    const store = await openStore(url, { clock });
    onTestFinished(() => store.close());
    const web = createWeb(slack.apiUrl, clock);
    onTestFinished(() => web.close());
    const { clientId, clientSecret } = slack.app;
    const oauth = createSlackOauth({ web, clientId, clientSecret, clock });
    return createInstallations({ store, sealer: createSealer(KEYS, store, clock), clock, log, oauth });
  }

  async function install(installations: Installations): Promise<void> {
    const query = new URLSearchParams({ client_id: slack.app.clientId, scope: 'chat:write', state: 's' });
    query.set('redirect_uri', 'https://deckhand.example.com/back');
    const back = slack.as(TEAM, PEOPLE.admin).install(`${slack.authorizeUrl}?${query}`);
    const code = new URL(back).searchParams.get('code') ?? '';
    await installations.byOauth?.install(code, query.get('redirect_uri') ?? undefined);
  }

  const refreshes = () =>
    slack.calls.filter(({ args, ok }) => args.grant_type === 'refresh_token' && ok).length;
  return { clock, slack, replica, install, refreshes, logs };
}

test.each(DATABASES)('a token is replaced before it ends, on $name', async ({ fresh }) => {
  const { clock, replica, install, refreshes } = await openRotating();
  const installations = await replica(await fresh());
  await install(installations);
  const first = await installations.token(TEAM);
  expect(first).toMatch(/^xoxe\.xoxb-1-/);
  await clock.advance(11 * HOUR);
  expect(await installations.token(TEAM)).toBe(first);
  await clock.advance(HOUR - 4 * 60_000);
  const second = await installations.token(TEAM);
  expect(second).not.toBe(first);
  expect(await installations.token(TEAM)).toBe(second);
  await clock.advance(12 * HOUR);
  expect(await installations.token(TEAM)).not.toBe(second);
  expect(refreshes()).toBe(2);
});

test('replicas that need a new token at once ask for one', async () => {
  const { clock, replica, install, refreshes } = await openRotating();
  const url = await freshDatabase();
  const [one, two, three] = await Promise.all([replica(url), replica(url), replica(url)]);
  await install(one);
  await clock.advance(13 * HOUR);

  const askers = [one, two, three, one, two, three];
  const tokens = await Promise.all(askers.map((installations) => installations.token(TEAM)));

  expect(new Set(tokens).size).toBe(1);
  expect(refreshes()).toBe(1);
});

test('a token that is not over yet serves while Slack gives no new one', async () => {
  const { clock, slack, replica, install, logs } = await openRotating();
  const installations = await replica(await temporarySqlite());
  await install(installations);
  const first = await installations.token(TEAM);
  await clock.advance(12 * HOUR - 60_000);
  slack.fault({ method: 'oauth.v2.access', status: 503 });
  expect(await installations.token(TEAM)).toBe(first);
  await clock.advance(2 * 60_000);
  await expect(installations.token(TEAM)).rejects.toMatchObject({ kind: 'unreachable' });
  slack.clearFaults();
  expect(await installations.token(TEAM)).not.toBe(first);
  expect(logs.join('')).not.toContain(first);
});

test('an organisation that lost its refresh token is told to install again', async () => {
  const { clock, slack, replica, install } = await openRotating();
  const installations = await replica(await temporarySqlite());
  await install(installations);
  slack.uninstall(TEAM);
  await clock.advance(13 * HOUR);
  await expect(installations.token(TEAM)).rejects.toMatchObject({
    kind: 'revoked',
    reason: 'invalid_refresh_token',
  });
});
