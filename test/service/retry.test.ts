import { expect, test } from 'vitest';
import type { Observed } from '../../src/service/client.ts';
import { getProfile } from '../../src/service/profile.ts';
import { listProjects, startTestAccess } from '../../src/service/projects.ts';
import { failure, openAccount, type Reply, startWire } from './wire.ts';

const PROFILE = { email_address: 'ada@example.com', account: { name: 'Acme' } };
const RUN = { identifier: 'r1', status: 'running', created_at: '2026-01-05T12:00:00Z', completed_at: null };
const GET = 'GET /acme/profile';
const POST = 'POST /acme/projects/shop/test_access';

const dropped: Reply = (request) => request.socket.destroy();
const busy = (status: number, retryAfter?: string): Reply => ({
  status,
  raw: '',
  headers: retryAfter === undefined ? {} : { 'retry-after': retryAfter },
});

test.each<[string, Reply]>([
  ['500', { status: 500, raw: 'oops' }],
  ['503', busy(503)],
  ['429', busy(429)],
  ['a dropped connection', dropped],
])('a GET that met %s is sent again, at most three times, waiting longer each time', async (_what, reply) => {
  await using wire = await startWire({
    [GET]: [reply, reply, reply, { json: PROFILE }],
    'GET /acme/projects.json': [reply, reply, reply, reply],
  });
  await using client = openAccount(wire.origin);
  expect((await getProfile(client.account)).email_address).toBe('ada@example.com');
  expect(client.clock.slept).toEqual([188, 375, 750]);
  await failure(listProjects(client.account));
});

test.each([400, 401, 403, 404, 409, 422, 302])('a GET that met %i is not', async (status) => {
  await using wire = await startWire({ [GET]: [{ status, json: {} }] });
  await using client = openAccount(wire.origin);
  expect(await failure(getProfile(client.account))).toMatchObject({ status });
});

test.each<[string, Reply]>([
  ['no JSON', { raw: '<h1>Hello</h1>' }],
  ['another shape', { json: { odd: 7 } }],
])('an answer with %s is unexpected and would come again, so it is not asked for', async (_what, reply) => {
  await using wire = await startWire({ [GET]: [reply] });
  await using client = openAccount(wire.origin);
  expect(await failure(getProfile(client.account))).toMatchObject({ kind: 'unexpected', status: 200 });
});

test.each<[string, Reply]>([['503 with Retry-After', busy(503, '1')]])(
  'a POST that met %s was not carried out, and is sent again',
  async (_what, reply) => {
    await using wire = await startWire({ [POST]: [reply, { status: 201, json: RUN }] });
    await using client = openAccount(wire.origin);
    expect((await startTestAccess(client.account, 'shop')).status).toBe('running');
  },
);

test.each<[string, Reply, string]>([
  ['503 without Retry-After', busy(503), 'busy'],
  ['500', { status: 500, raw: '' }, 'unexpected'],
  ['a dropped connection', dropped, 'unreachable'],
])('a POST that met %s may have been carried out, and is sent once', async (_what, reply, kind) => {
  await using wire = await startWire({ [POST]: [reply] });
  await using client = openAccount(wire.origin);
  const error = await failure(startTestAccess(client.account, 'shop'));
  expect(error).toMatchObject({ kind, certainlyNotDone: false });
});

test('a POST to a port where nobody listens is sent again: it certainly was not carried out', async () => {
  const gone = await startWire({});
  await gone[Symbol.asyncDispose]();
  const attempts: Observed[] = [];
  await using client = openAccount(gone.origin, { observe: (call) => attempts.push(call) });
  const error = await failure(startTestAccess(client.account, 'shop'));
  expect(error).toMatchObject({ kind: 'unreachable', certainlyNotDone: true, status: undefined });
  expect(attempts.map(({ attempt, kind }) => `${attempt} ${kind}`)).toEqual([
    '1 unreachable',
    '2 unreachable',
    '3 unreachable',
    '4 unreachable',
  ]);
});

test('Retry-After is waited for', async () => {
  await using wire = await startWire({ [GET]: [busy(503, '3'), { json: PROFILE }] });
  await using client = openAccount(wire.origin);
  await getProfile(client.account);
  expect(client.clock.slept).toHaveLength(1);
  expect(client.clock.slept[0]).toBeGreaterThanOrEqual(3000);
  expect(client.clock.slept[0]).toBeLessThan(3500);
});

test('a person is not kept waiting for a long Retry-After, but told when', async () => {
  await using wire = await startWire({ [GET]: [busy(429, '6')] });
  await using client = openAccount(wire.origin);
  const error = await failure(getProfile(client.account));
  expect(error).toMatchObject({ kind: 'busy', retryAt: Date.UTC(2026, 0, 5, 12, 0, 6) });
  expect(client.clock.slept).toEqual([]);
});

test('no repetition starts when the time for the whole request is over', async () => {
  await using wire = await startWire({ [GET]: [busy(503, '4'), busy(503, '4')] });
  await using client = openAccount(wire.origin, { timeoutMs: 6000 });
  expect(await failure(getProfile(client.account))).toMatchObject({ kind: 'busy' });
});

test('a caller that gives up while waiting is not made to wait', async () => {
  await using wire = await startWire({ [GET]: [busy(503)] });
  const stop = new AbortController();
  await using client = openAccount(wire.origin, { observe: () => stop.abort(new Error('shutting down')) });
  await expect(getProfile(client.account, { signal: stop.signal })).rejects.toThrow('shutting down');
});
