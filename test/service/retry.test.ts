import { expect, test } from 'vitest';
import type { Observed } from '../../src/service/client.ts';
import { getProfile } from '../../src/service/profile.ts';
import { listProjects, startTestAccess } from '../../src/service/projects.ts';
import { failure, openAccount, openWire, type Reply, startWire } from './wire.ts';

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
  await using wire = await openWire({
    [GET]: [reply, reply, reply, { json: PROFILE }],
    'GET /acme/projects.json': [reply, reply, reply, reply],
  });
  expect((await getProfile(wire.account)).email_address).toBe('ada@example.com');
  expect(wire.clock.slept).toEqual([188, 375, 750]);
  await failure(listProjects(wire.account));
});

test.each([400, 401, 403, 404, 409, 422, 302])('a GET that met %i is not', async (status) => {
  await using wire = await openWire({ [GET]: [{ status, json: {} }] });
  expect(await failure(getProfile(wire.account))).toMatchObject({ status });
});

test.each<[string, Reply]>([
  ['no JSON', { raw: '<h1>Hello</h1>' }],
  ['another shape', { json: { odd: 7 } }],
])('an answer with %s is unexpected and would come again, so it is not asked for', async (_what, reply) => {
  await using wire = await openWire({ [GET]: [reply] });
  expect(await failure(getProfile(wire.account))).toMatchObject({ kind: 'unexpected', status: 200 });
});

test('a POST that met 503 with Retry-After was not carried out, and is sent again', async () => {
  await using wire = await openWire({ [POST]: [busy(503, '1'), { status: 201, json: RUN }] });
  expect((await startTestAccess(wire.account, 'shop')).status).toBe('running');
});

test.each<[string, Reply, string]>([
  ['503 without Retry-After', busy(503), 'busy'],
  ['500', { status: 500, raw: '' }, 'unexpected'],
  ['a dropped connection', dropped, 'unreachable'],
])('a POST that met %s may have been carried out, and is sent once', async (_what, reply, kind) => {
  await using wire = await openWire({ [POST]: [reply] });
  const error = await failure(startTestAccess(wire.account, 'shop'));
  expect(error).toMatchObject({ kind, certainlyNotDone: false });
});

test('a POST to a port where nobody listens is sent again: it certainly was not carried out', async () => {
  const gone = await startWire({});
  await gone[Symbol.asyncDispose]();
  const attempts: Observed[] = [];
  await using client = openAccount(gone.origin, { observe: (call) => attempts.push(call) });
  const error = await failure(startTestAccess(client.account, 'shop'));
  expect(error).toMatchObject({ kind: 'unreachable', certainlyNotDone: true });
  expect(attempts.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4]);
});

test('Retry-After is waited for', async () => {
  await using wire = await openWire({ [GET]: [busy(503, '3'), { json: PROFILE }] });
  await getProfile(wire.account);
  expect(wire.clock.slept).toEqual([expect.toSatisfy((ms: number) => ms >= 3000 && ms < 3500)]);
});

test('a person is not kept waiting for a long Retry-After, but told when', async () => {
  await using wire = await openWire({ [GET]: [busy(429, '6')] });
  const error = await failure(getProfile(wire.account));
  expect(error).toMatchObject({ kind: 'busy', retryAt: Date.UTC(2026, 0, 5, 12, 0, 6) });
  expect(wire.clock.slept).toEqual([]);
});

test('no repetition starts when the time for the whole request is over', async () => {
  await using wire = await openWire({ [GET]: [busy(503, '4'), busy(503, '4')] }, { timeoutMs: 6000 });
  expect(await failure(getProfile(wire.account))).toMatchObject({ kind: 'busy' });
});

test('a caller that gives up while waiting is not made to wait', async () => {
  const stop = new AbortController();
  const observe = () => stop.abort(new Error('shutting down'));
  await using wire = await openWire({ [GET]: [busy(503)] }, { observe });
  await expect(getProfile(wire.account, { signal: stop.signal })).rejects.toThrow('shutting down');
});
