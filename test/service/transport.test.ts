import { createServer as createTcpServer } from 'node:net';
import { inspect } from 'node:util';
import { gzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { startSimulatedService } from '../../sandbox/service/server.ts';
import { createService, type Observed } from '../../src/service/client.ts';
import { getProfile } from '../../src/service/profile.ts';
import { getTestAccess } from '../../src/service/projects.ts';
import { explain } from '../../src/views/blocks/failures.ts';
import { listenHere } from '../support/free-port.ts';
import { failure, KEY, openAccount, openWire, type Reply, startTestClock, startWire } from './wire.ts';

const PROFILE = { email_address: 'ada@example.com', account: { name: 'Acme' } };
const GET = 'GET /acme/profile';
const onlyOnce = { retries: 0 };

test('every request carries the JSON headers, who we are, and Basic credentials in UTF-8', async () => {
  await using wire = await startWire({ [GET]: [{ json: PROFILE }] });
  const options = { baseUrl: `${wire.origin}/{account}`, version: '1.2.3', clock: startTestClock() };
  const service = createService(options);
  await getProfile(service.account({ account: 'acme', email: 'zoë@example.com', apiKey: KEY }));
  await service.close();
  expect(wire.requests[0]?.headers).toMatchObject({
    accept: 'application/json',
    'content-type': 'application/json',
    'accept-encoding': 'identity',
    'user-agent': 'deckhand/1.2.3',
    authorization: `Basic ${Buffer.from(`zoë@example.com:${KEY}`, 'utf8').toString('base64')}`,
  });
});

test('however many calls run at once, connections to an origin are bounded', async () => {
  await using wire = await openWire({ [GET]: Array(60).fill({ json: PROFILE }) }, { connections: 4 });
  await Promise.all(Array.from({ length: 60 }, () => getProfile(wire.account)));
  expect(wire.connections()).toBeLessThanOrEqual(4);
});

test('closing waits for the call in flight and then leaves no connection', async () => {
  const arrived = Promise.withResolvers<() => void>();
  const slow: Reply = (_request, response) => arrived.resolve(() => response.end(JSON.stringify(PROFILE)));
  await using wire = await startWire({ [GET]: [slow] });
  const client = openAccount(wire.origin);
  const call = getProfile(client.account);
  const finish = await arrived.promise;
  const closed = client[Symbol.asyncDispose]();
  finish();
  expect((await call).account.name).toBe('Acme');
  await closed;
  expect(await failure(getProfile(client.account, onlyOnce))).toMatchObject({ kind: 'unreachable' });
});

test.each<[string, Reply]>([
  ['before its headers', () => undefined],
  ['between its headers and its body', (_request, response) => response.writeHead(200).flushHeaders()],
])('an answer that hangs %s is given up', async (_where, reply) => {
  await using wire = await openWire({ [GET]: [reply] }, { timeoutMs: 150 });
  const error = await failure(getProfile(wire.account, onlyOnce));
  expect(error).toMatchObject({ kind: 'unreachable', certainlyNotDone: false });
  expect(error.message).toBe('getProfile: unreachable: it timed out');
});

const LONG = JSON.stringify({ ...PROFILE, padding: 'x'.repeat(10_000) });
test.each<[string, Reply]>([
  ['with its length', { raw: LONG }],
  ['in chunks', (_request, response) => response.write(LONG) && response.end()],
])('an answer that is too large, sent %s, is refused', async (_how, reply) => {
  await using wire = await openWire({ [GET]: [reply] }, { maxBytes: 9000 });
  const error = await failure(getProfile(wire.account));
  expect(error.message).toBe('getProfile: unexpected (200): the answer is too large');
});

test('a compressed answer was not asked for, and is not opened', async () => {
  const raw = gzipSync(JSON.stringify(PROFILE));
  await using wire = await openWire({ [GET]: [{ raw, headers: { 'content-encoding': 'gzip' } }] });
  const error = await failure(getProfile(wire.account));
  expect(error.message).toBe(
    'getProfile: unexpected (200): the answer has an encoding that was not accepted',
  );
  expect(explain(error, { word: '/deckhand', now: 0 }).text).toContain('came compressed');
});

test('an error whose body is huge is still told by its status', async () => {
  const raw = JSON.stringify({ error: 'api_access_restricted', error_description: 'x'.repeat(100_000) });
  await using wire = await openWire({ [GET]: [{ status: 403, raw }] });
  expect(await failure(getProfile(wire.account))).toMatchObject({ kind: 'forbidden', status: 403 });
});

test('a redirect is never followed, so that the key goes nowhere else', async () => {
  await using elsewhere = await startWire({});
  const status = 307;
  const redirect = { status, raw: '', headers: { location: elsewhere.origin } };
  await using wire = await openWire({ [GET]: [redirect] });
  expect(await failure(getProfile(wire.account))).toMatchObject({ kind: 'unexpected', status });
  expect(elsewhere.connections()).toBe(0);
});

test.each([
  ['no HTTP', 'SSH-2.0-OpenSSH_9.9 secret-banner\r\n', 'unexpected'],
  ['half an answer', 'HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\n{"half"', 'unreachable'],
  ['nothing', '', 'unreachable'],
])('a server that speaks %s', async (_what, bytes, kind) => {
  const server = createTcpServer((socket) => socket.once('data', () => socket.end(bytes)));
  await using client = openAccount(`http://${await listenHere(server)}`);
  const error = await failure(getProfile(client.account, onlyOnce));
  expect(error).toMatchObject({ kind, certainlyNotDone: false });
  expect(inspect(error, { depth: 9, showHidden: true })).not.toMatch(/secret-banner|half"/);
  server.close();
});

test('names under localhost are this machine, with the account in the host', async () => {
  await using wire = await startWire({ 'GET /profile': [{ json: PROFILE }] });
  const { port } = new URL(wire.origin);
  await using client = openAccount('', { baseUrl: `http://{account}.localhost:${port}` });
  await getProfile(client.account);
  expect(wire.requests[0]?.headers.host).toBe(`acme.localhost:${port}`);
});

test('names under localhost are this machine for the authorisation too', async () => {
  const simulated = await startSimulatedService({ seed: 'demo' });
  onTestFinished(() => simulated.stop());
  const named = simulated.siteUrl.replace('127.0.0.1', 'auth.localhost');
  const oauth = { siteUrl: named, authUrl: named, clientId: 'deckhand', clientSecret: 'CanaryClientSecret' };
  const options = { baseUrl: simulated.baseUrl, version: '1.2.3', clock: startTestClock(), oauth };
  const service = createService(options);
  onTestFinished(() => service.close());
  const begun = await service.oauth?.begin('https://deckhand.example.com/service/oauth/callback', 'state');
  expect(begun?.url.pathname).toBe('/oauth/authorize');
});

test('a caller that gives up gets its own reason, before and during the call', async () => {
  const stop = new AbortController();
  const call = { signal: stop.signal, retries: 0 };
  await using wire = await openWire({ [GET]: [() => stop.abort(new Error('run is gone'))] });
  await expect(getProfile(wire.account, call)).rejects.toThrow('run is gone');
  await expect(getProfile(wire.account, call)).rejects.toThrow('run is gone');
});

test.each(['', '..', 'x'.repeat(256), '\ud800'])(
  '%j names no record, and is not asked for',
  async (project) => {
    await using wire = await openWire({});
    const error = await failure(getTestAccess(wire.account, project, 'r1'));
    expect(error).toMatchObject({ kind: 'record_not_found', certainlyNotDone: true });
  },
);

test.each(['127.0.0.1', ''])('an account called %j is refused before any request', (account) => {
  const options = { baseUrl: 'https://{account}.example.com', version: '1', clock: startTestClock() };
  const open = () => createService(options).account({ account, email: 'ada@example.com', apiKey: KEY });
  expect(open).toThrow(expect.objectContaining({ code: 'service_error', kind: 'account_not_found' }));
});

test('a look at the client, its errors and what it reports shows no credential, body or path', async () => {
  const calls: Observed[] = [];
  const reply = { status: 500, raw: 'secret-body' };
  await using wire = await openWire(
    {
      'GET /acme/projects/secret-project/test_access/r1': [reply, { raw: 'secret' }],
    },
    { observe: (call) => calls.push(call) },
  );
  const error = await failure(getTestAccess(wire.account, 'secret-project', 'r1'));
  const seen = inspect([wire.account, error, calls], { depth: 9, showHidden: true });
  expect(seen).not.toMatch(/secret|kkkk|ada@|authorization/i);
  expect(calls).toMatchObject([
    { operation: 'getTestAccess', method: 'GET', status: 500, kind: 'unexpected', attempt: 1 },
    { operation: 'getTestAccess', method: 'GET', status: 200, kind: 'unexpected', attempt: 2 },
  ]);
});
