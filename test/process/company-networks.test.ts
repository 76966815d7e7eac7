import { once } from 'node:events';
import { type AddressInfo, createServer, getDefaultAutoSelectFamilyAttemptTimeout } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { commandLine } from '../../src/cli/programs.ts';
import { defined } from '../../src/core/json.ts';
import { ask } from '../support/asking.ts';
import { startDeckhand } from '../support/deckhand-process.ts';
import { test } from '../support/fixtures.ts';
import { freePort } from '../support/free-port.ts';
import { sendSigned } from '../support/signed.ts';
import { temporaryFolder } from '../support/temporary.ts';
import {
  ACCOUNT,
  API_KEY,
  CHANNEL,
  EMAIL,
  environment,
  openTestWorld,
  PEOPLE,
  TEAM,
  type TestWorld,
} from '../support/test-world.ts';
import { makeCertificate, openForwardProxy, openTls } from './forward-proxy.ts';

const portOf = (address: string): number => Number(new URL(address).port);

describe('behind a proxy', () => {
  test.override('worldOptions', { slackApp: { socketMode: true } });

  test('everything goes through it: Slack, its WebSocket, answers to commands, and the service', async ({
    world,
  }) => {
    const { slack, service, config } = world;
    const certificate = await makeCertificate();
    const proxy = await openForwardProxy({
      'slack.test': await openTls(certificate, portOf(slack.apiUrl)),
      'service.test': await openTls(certificate, portOf(service.baseUrl)),
    });
    await world.app.stop(20_000);
    const deckhand = await startDeckhand({
      ...environment(slack, service, config.SLACK_BOT_TOKEN ?? '', await temporaryFolder()),
      SLACK_SIGNING_SECRET: '',
      SLACK_APP_TOKEN: slack.appToken,
      SLACK_API_URL: 'https://slack.test/api/',
      SERVICE_BASE_URL: 'https://service.test/{account}',
      POLL_INTERVAL_MS: '2500',
      NODE_EXTRA_CA_CERTS: certificate.file,
      https_proxy: `http://deck:s3cret@127.0.0.1:${proxy.port}`,
      HTTP_PROXY: `http://deck:s3cret@127.0.0.1:${proxy.port}`,
    });
    await slack.until(() => slack.connections().length === 1);
    const ann = slack.as(TEAM, PEOPLE.admin);
    const answers = () => JSON.stringify(slack.ephemerals(TEAM, PEOPLE.admin));
    await ann.command(CHANNEL, `/deckhand connect ${ACCOUNT}`);
    await slack.until(() => ann.openView()?.content.callback_id === 'connect');
    await ann.submit('connect', { account: ACCOUNT, email: EMAIL, api_key: API_KEY });
    await slack.until(() => answers().includes('Connected'));
    await ann.command(CHANNEL, '/deckhand projects');
    await slack.until(() => answers().includes('Storefront'));
    expect(new Set(proxy.passed)).toEqual(
      new Set([
        'CONNECT slack.test:443',
        'CONNECT service.test:443',
        `UPGRADE 127.0.0.1:${portOf(slack.apiUrl)}`,
        `POST http://${slack.responseHost}`,
      ]),
    );
    expect([...proxy.authorizations]).toEqual([`Basic ${Buffer.from('deck:s3cret').toString('base64')}`]);
    expect(deckhand.log.join('')).not.toContain('s3cret');
  });
});

describe('what NO_PROXY names', () => {
  test('does not go through the proxy', async () => {
    const proxy = await openForwardProxy();
    const world = await openTestWorld({
      connected: true,
      env: { HTTP_PROXY: `http://127.0.0.1:${proxy.port}`, NO_PROXY: 'example.com, 127.0.0.1' },
    });
    onTestFinished(() => world.stop());
    expect(await ask(world, '/deckhand whoami')).toContain(EMAIL);
    expect(proxy.passed).toEqual([]);
  });
});

/** A server that takes connections and says nothing. */
async function openMute(): Promise<number> {
  const server = createServer(() => undefined);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

async function openRefusingProxy(): Promise<string> {
  const proxy = await openForwardProxy();
  proxy.refuseWith(407);
  return `http://deck:s3cret@127.0.0.1:${proxy.port}`;
}

describe('why something was not reached', () => {
  async function open(env: Record<string, string>, serviceTimeoutMs?: number): Promise<TestWorld> {
    const world = await openTestWorld({ env, connected: true, ...defined({ serviceTimeoutMs }) });
    onTestFinished(() => world.stop());
    return world;
  }
  const untrusted = async () => openTls(await makeCertificate(), 9);
  const causes: Array<[string, () => Promise<{ url: string; env?: Record<string, string> }>]> = [
    ['its name was not found', async () => ({ url: 'https://nowhere.invalid' })],
    ['its certificate is not trusted', async () => ({ url: `https://127.0.0.1:${await untrusted()}` })],
    ['the connection was refused', async () => ({ url: `http://127.0.0.1:${await freePort()}` })],
    ['it timed out', async () => ({ url: `http://127.0.0.1:${await openMute()}` })],
    [
      'the proxy refused with 407',
      async () => ({ url: 'https://nowhere.invalid', env: { HTTPS_PROXY: await openRefusingProxy() } }),
    ],
    [
      'the proxy refused with 407',
      async () => ({
        url: `http://localhost:${await freePort()}`,
        env: { http_proxy: await openRefusingProxy(), NO_PROXY: '127.0.0.1' },
      }),
    ],
  ];

  // Slack has ten seconds.
  test.each(causes.filter(([why]) => why !== 'it timed out'))(
    'of Slack stands in the log: %s',
    async (why, make) => {
      const { url, env } = await make();
      const world = await open({ SLACK_API_URL: `${url}/api/`, ...env });
      const line = await world.logged('slack_unreachable');
      expect(JSON.parse(line)).toMatchObject({ event: 'slack_unreachable', reason: why });
      expect(world.logs.join('')).not.toContain('s3cret');
    },
  );

  test.each(causes)('of the service stands in the log and in doctor: %s', async (why, make) => {
    const { url, env } = await make();
    // The other causes show themselves, however slow the machine is.
    const timeoutMs = why === 'it timed out' ? 300 : undefined;
    const service = { SERVICE_BASE_URL: `${url}/{account}`, POLL_INTERVAL_MS: '2500' };
    const world = await open({ ...service, ...env }, timeoutMs);
    expect(await ask(world, '/deckhand doctor')).toContain(`The reason: ${why}.`);
    expect(world.logs.join('')).toContain(`unreachable: ${why}`);
    expect(world.logs.join('')).not.toContain('s3cret');
  });
});

test.for([
  [-4000, /its time is 400\d s behind this clock/],
  [4009, /its time is 400\d s ahead of this clock/],
] as const)(
  'a signature of %d s from now is refused, and only the log says how far the clocks differ',
  async ([offset, words], { world }) => {
    const answer = await sendSigned(world, 'command=%2Fdeckhand', { offset });
    expect(answer).toMatchObject({ status: 401, text: '' });
    expect(await world.logged('request_refused')).toMatch(words);
  },
);

describe('a link of Socket Mode that dies without a word', () => {
  test('is replaced within ten seconds', async () => {
    const proxy = await openForwardProxy();
    const world = await openTestWorld({
      slackApp: { socketMode: true },
      env: { HTTP_PROXY: `http://127.0.0.1:${proxy.port}` },
    });
    onTestFinished(() => world.stop());
    const { slack } = world;
    await slack.until(() => slack.connections().length === 1);
    const [old] = slack.connections();
    proxy.goSilent();
    const from = performance.now();
    proxy.speak();
    await slack.until(() => slack.connections().some(({ id }) => id !== old?.id), { timeoutMs: 20_000 });
    expect(performance.now() - from).toBeLessThan(10_000);
  });
});

it('each address of a host has 2.5 s before the next is tried', async () => {
  await commandLine(['--version'], {});
  expect(getDefaultAutoSelectFamilyAttemptTimeout()).toBeGreaterThanOrEqual(2_500);
});
