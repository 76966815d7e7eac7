import { createServer } from 'node:http';
import { Agent, type Dispatcher, MockAgent } from 'undici';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { createLog } from '../../src/observability/log.ts';
import { listResponseHosts } from '../../src/slack/uploads.ts';
import { postToResponseUrl } from '../../src/slack/web.ts';
import { listenHere } from '../support/free-port.ts';

const agent = new Agent();
afterAll(() => agent.close());

const MESSAGE = { text: 'hello', blocks: [] };

async function openHost(answer: { status: number; location?: string; body?: string }) {
  const paths: string[] = [];
  const server = createServer((request, response) => {
    paths.push(request.url ?? '');
    const headers = answer.location === undefined ? {} : { location: answer.location };
    response.writeHead(answer.status, headers).end(answer.body);
  });
  onTestFinished(() => void server.close());
  return { host: await listenHere(server), paths };
}

async function respond(url: string, hosts: string[], through: Dispatcher = agent) {
  const logs: string[] = [];
  const log = createLog('debug', (line) => logs.push(line));
  const taken = await postToResponseUrl(through, url, { message: MESSAGE, mode: 'ephemeral' }, hosts, log);
  return { taken, logs: logs.join('') };
}

it('answers on a host that is allowed', async () => {
  const { host, paths } = await openHost({ status: 200 });
  expect((await respond(`http://${host}/commands/T/1/secret`, [host])).taken).toBe(true);
  expect(paths).toEqual(['/commands/T/1/secret']);
});

it.each([
  ['another port', (host: string) => [`http://${host}/x`, ['127.0.0.1:1']] as const],
  ['a name in front', (host: string) => [`http://hooks.slack.com@${host}/x`, [host]] as const],
  ['a longer name', () => ['https://hooks.slack.com.evil.example/x', ['hooks.slack.com']] as const],
  ['plain http', () => ['http://hooks.slack.com/x', ['hooks.slack.com']] as const],
  ['another scheme', () => ['file:///etc/passwd', ['hooks.slack.com', '']] as const],
])('refuses %s before any request, and keeps the address out of the log', async (_, of) => {
  const { host, paths } = await openHost({ status: 200 });
  const [url, hosts] = of(host);
  const { taken, logs } = await respond(url, [...hosts]);
  expect(taken).toBe(false);
  expect(paths).toEqual([]);
  expect(logs).toContain('response_url_refused');
  expect(logs).not.toContain(url);
});

it.each([
  ['a refusal that comes with 200', { status: 200, body: '{"ok":false,"error":"invalid_blocks"}' }],
  ['a redirect', { status: 302, location: '/stolen' }],
])('does not take %s for an answer, and asks nowhere else', async (_, answer) => {
  const { host, paths } = await openHost(answer);
  expect((await respond(`http://${host}/x`, [host])).taken).toBe(false);
  expect(paths).toEqual(['/x']);
});

it('answers on GovSlack’s host where its Web API is used, and not otherwise', async () => {
  const mock = new MockAgent();
  mock.disableNetConnect();
  const url = 'https://hooks.slack-gov.com/actions/T/1/s';
  mock.get(new URL(url).origin).intercept({ path: '/actions/T/1/s', method: 'POST' }).reply(200, 'ok');
  const hosts = (domain: string) => listResponseHosts('hooks.slack.com', `https://${domain}/api/`);
  expect((await respond(url, hosts('slack.com'), mock)).taken).toBe(false);
  expect(mock.pendingInterceptors()).toHaveLength(1);
  expect((await respond(url, hosts('slack-gov.com'), mock)).taken).toBe(true);
});
