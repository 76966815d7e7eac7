import { createServer } from 'node:http';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createInstallations } from '../../src/installing/oauth-installations.ts';
import { createLog } from '../../src/observability/log.ts';
import { createWeb } from '../../src/slack/web.ts';
import { parseEncryptionKeys } from '../../src/store/encryption-keys.ts';
import { openStore } from '../../src/store/open-store.ts';
import { createSealer } from '../../src/store/sealer.ts';
import type { Installations } from '../../src/workspace/installations.ts';
import { TRIED } from '../store/databases.ts';
import { listenHere } from '../support/free-port.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { freshDatabase } from '../support/postgres.ts';
import { openProxy } from '../support/proxy.ts';
import { startSlack } from '../support/start-slack.ts';
import { temporarySqlite } from '../support/temporary.ts';
import { furnish, PEOPLE, TEAM } from '../support/test-world.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const KEYS = parseEncryptionKeys(`k1:${Buffer.alloc(32, 7).toString('base64')}`);

async function openRotating() {
  const clock = createManualClock(Date.now());
  // The library goes by the system's clock.
  vi.useFakeTimers({ toFake: ['Date'], now: clock.now() });
  onTestFinished(() => void vi.useRealTimers());
  const slack = await startSlack({ app: { tokenRotation: true }, now: () => clock.now() });
  onTestFinished(() => slack.stop());
  furnish(slack, { installed: false });
  const logs: string[] = [];
  const log = createLog('debug', (line) => logs.push(line));

  /** One replica's installations. */
  async function replica(url: string, apiUrl = slack.apiUrl): Promise<Installations> {
    const store = await openStore(url, { clock });
    onTestFinished(() => store.close());
    const { clientId: id, clientSecret: secret } = slack.app;
    const client = { id, secret, apiUrl, authorizeUrl: slack.authorizeUrl };
    const redirectUri = 'https://deckhand.example.com/back';
    return createInstallations({
      store,
      sealer: createSealer(KEYS, store, clock),
      clock,
      log,
      web: createWeb(apiUrl, clock, log),
      client,
      redirectUri,
    });
  }

  async function install({ byOauth }: Installations): Promise<void> {
    if (byOauth === undefined) throw new Error('installs are not by OAuth');
    const provider = byOauth.provider('install');
    const ours = createServer((request, response) => void provider.handleCallback(request, response));
    const host = await listenHere(ours);
    onTestFinished(() => void ours.close());
    const back = new URL(
      slack.as(TEAM, PEOPLE.admin).install(await provider.generateInstallUrl(byOauth.options)),
    );
    const cookie = `install=${back.searchParams.get('state')}`;
    const end = await fetch(`http://${host}/back${back.search}`, { headers: { cookie } });
    expect(end.status).toBe(200);
  }

  async function pass(ms: number): Promise<void> {
    await clock.advance(ms);
    vi.setSystemTime(clock.now());
  }

  const refreshCalls = () => slack.calls.filter(({ args }) => args.grant_type === 'refresh_token');
  const asked = () => refreshCalls().length;
  const refreshes = () => refreshCalls().filter(({ ok }) => ok).length;
  return { pass, slack, replica, install, asked, refreshes, logs };
}

test.each(TRIED)('a token is replaced before it ends, on $name', async ({ fresh }) => {
  const { pass, replica, install, refreshes } = await openRotating();
  const installations = await replica(await fresh());
  await install(installations);
  const first = await installations.token(TEAM);
  expect(first).toMatch(/^xoxe\.xoxb-1-/);
  await pass(10 * HOUR - MINUTE);
  expect(await installations.token(TEAM)).toBe(first);
  await pass(2 * MINUTE);
  const second = await installations.token(TEAM);
  expect(second).not.toBe(first);
  expect(await installations.token(TEAM)).toBe(second);
  await pass(12 * HOUR);
  expect(await installations.token(TEAM)).not.toBe(second);
  expect(refreshes()).toBe(2);
});

test('replicas that need a new token at once ask for one', async () => {
  const { pass, replica, install, refreshes } = await openRotating();
  const url = await freshDatabase();
  const [one, two, three] = await Promise.all([replica(url), replica(url), replica(url)]);
  await install(one);
  await pass(13 * HOUR);

  const replicas = [one, two, three, one, two, three];
  const tokens = await Promise.all(replicas.map((installations) => installations.token(TEAM)));

  expect(new Set(tokens).size).toBe(1);
  expect(refreshes()).toBe(1);
});

test('a token that is not over yet serves while Slack gives no new one, which is asked for once a minute', async () => {
  const { pass, slack, replica, install, asked, logs } = await openRotating();
  const installations = await replica(await temporarySqlite());
  await install(installations);
  const first = await installations.token(TEAM);
  await pass(12 * HOUR - 3 * MINUTE);
  slack.fault({ method: 'oauth.v2.access', status: 503 });
  for (let call = 0; call < 5; call += 1) expect(await installations.token(TEAM)).toBe(first);
  expect(asked()).toBe(1);
  expect(logs.join('')).toContain('"event":"token_refresh_failed","kind":"unreachable","reason":"http_503"');
  await pass(2 * MINUTE);
  await expect(installations.token(TEAM)).rejects.toMatchObject({ kind: 'unreachable' });
  slack.clearFaults();
  expect(await installations.token(TEAM)).not.toBe(first);
  expect(logs.join('')).not.toContain(first);
});

test('a new token does not take the place of an installation that came meanwhile', async () => {
  const { pass, slack, replica, install, refreshes } = await openRotating();
  const proxy = await openProxy();
  onTestFinished(() => proxy.close());
  const { origin, pathname } = new URL(slack.apiUrl);
  proxy.target = origin;
  const installations = await replica(await temporarySqlite(), `${proxy.origin}${pathname}`);
  await install(installations);
  await pass(11 * HOUR);
  const answered = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  proxy.change = async (body) => {
    answered.resolve();
    await gate.promise;
    return body;
  };
  const late = installations.token(TEAM);
  await answered.promise;
  proxy.change = (body) => body;
  await install(installations);
  const existing = await installations.token(TEAM);
  gate.resolve();
  expect(await late).not.toBe(existing);
  expect(refreshes()).toBe(1);
  expect(await installations.token(TEAM)).toBe(existing);
});

test('an organisation that lost its refresh token is told to install again', async () => {
  const { pass, slack, replica, install } = await openRotating();
  const installations = await replica(await temporarySqlite());
  await install(installations);
  slack.uninstall(TEAM);
  await pass(13 * HOUR);
  await expect(installations.token(TEAM)).rejects.toMatchObject({
    kind: 'revoked',
    reason: 'invalid_refresh_token',
  });
});
