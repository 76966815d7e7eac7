import { createServer, type IncomingMessage } from 'node:http';
import { expect, it, onTestFinished } from 'vitest';
import { SlackFailure } from '../../src/core/errors.ts';
import { createLog } from '../../src/observability/log.ts';
import { mayHavePosted } from '../../src/slack/failure.ts';
import { BACKGROUND, createEditBudget, withRetries } from '../../src/slack/rate-limit.ts';
import { createSlack } from '../../src/slack/slack.ts';
import { createWeb } from '../../src/slack/web.ts';
import { say } from '../../src/views/blocks/make-blocks.ts';
import { HASTY } from '../support/faults.ts';
import { listenHere } from '../support/free-port.ts';
import { createManualClock } from '../support/manual-clock.ts';

const NOW = 1_800_000_000_000;
const log = createLog('silent', () => undefined);

/** A client of a Slack that answers every call with this. */
async function open(status: number, body: string, headers: Record<string, string> = {}) {
  const asked: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    asked.push(request);
    request.resume().on('end', () => response.writeHead(status, headers).end(body));
  });
  const web = createWeb(`http://${await listenHere(server)}/api`, { now: () => NOW }, log);
  onTestFinished(() => web.close().then(() => void server.close()));
  return { web, asked };
}

it('each call carries the token that it was given and no other', async () => {
  const { web, asked } = await open(200, '{"ok":true}');
  await Promise.all([web.call('auth.test', {}, 'xoxb-1'), web.call('auth.test', {}, 'xoxb-2')]);
  await web.call('oauth.v2.access', { client_id: '1', client_secret: '2', code: '3' });
  const tokens = asked.map(({ headers }) => headers.authorization);
  expect(tokens.toSorted()).toEqual(['Bearer xoxb-1', 'Bearer xoxb-2', undefined]);
});

it.each([
  ['a refusal', 200, '{"ok":false,"error":"is_archived"}', 'gone', 'is_archived'],
  ['a refusal without a reason', 200, '{"ok":false}', 'rejected', 'unknown_error'],
  ['words of no refusal', 200, '{"ok":false,"error":"<b>no</b>"}', 'unreachable', 'not_json'],
  ['a proxy’s page', 200, '<html>busy</html>', 'unreachable', 'not_json'],
  ['a failure', 503, 'try later', 'unreachable', 'http_503'],
  ['another address', 302, '', 'unreachable', 'http_302'],
])('%s is a failure', async (_, status, body, kind, reason) => {
  const { web, asked } = await open(status, body, status === 302 ? { location: '/elsewhere' } : {});
  await expect(web.call('auth.test', {}, 'xoxb-1')).rejects.toMatchObject({ kind, reason });
  expect(asked.map(({ url }) => url)).toEqual(['/api/auth.test']);
});

it('an answer with numbers for a time and null for nothing reads as Slack documents it', async () => {
  const body =
    '{"ok":true,"ts":1795937901.5,"message":{"thread_ts":1795937901.123456,"user":null},"members":[null]}';
  const { web } = await open(200, body);
  const answer = await web.call('chat.postMessage', { channel: 'C1', text: 'x' });
  expect(answer).toMatchObject({ ts: '1795937901.500000', message: { thread_ts: '1795937901.123456' } });
  expect(JSON.stringify(answer)).not.toContain('null');
  const { web: other } = await open(200, '{"ok":true,"user":null}');
  expect(await other.call('users.info', { user: 'U1' })).not.toHaveProperty('user');
});

it.each([
  ['7', 7_000],
  [new Date(NOW + 9_000).toUTCString(), 9_000],
  ['soon', 1_000],
  ['-7', 1_000],
  ['1795920317', 3_600_000],
])('a busy Slack says when to come back: %j', async (seconds, wait) => {
  const { web } = await open(429, '', { 'retry-after': seconds });
  const failure = { kind: 'busy', reason: 'ratelimited', retryAt: NOW + wait };
  await expect(web.call('auth.test', {})).rejects.toMatchObject(failure);
});

it('a call that comes after the end is not repeated', async () => {
  const clock = createManualClock();
  const web = createWeb('http://127.0.0.1:9/api', clock, log);
  await web.close();
  let calls = 0;
  const call = () => {
    calls += 1;
    return web.call('auth.test', {}, 'xoxb-1');
  };
  await expect(withRetries(clock, BACKGROUND, call)).rejects.toMatchObject({
    code: 'slack_webapi_request_error',
  });
  expect(calls).toBe(1);
});

it('a post that found no connection was certainly not made, and is not counted as repeated', async () => {
  const web = createWeb('http://127.0.0.1:9/api/', HASTY.clock, log);
  onTestFinished(() => web.close());
  const repeated: string[] = [];
  const slack = createSlack({
    web,
    installations: { token: async () => 'xoxb-1' },
    clock: HASTY.clock,
    log,
    responseHosts: [],
    onRepeat: (_, { delivery }) => repeated.push(delivery),
  });
  const failure = await slack
    .of('T1')
    .post({ channel: 'C1', message: say('Hello') })
    .then(
      () => expect.unreachable(),
      (error: SlackFailure) => error,
    );
  expect(failure.kind).toBe('unreachable');
  expect(mayHavePosted(failure)).toBe(false);
  expect(repeated).toEqual([]);
});

it('repeats a call though the clock is set an hour ahead meanwhile', async () => {
  const clock = createManualClock();
  let calls = 0;
  const answer = withRetries(clock, BACKGROUND, async () => {
    calls += 1;
    if (calls > 1) return 'posted';
    clock.jump(3_600_000);
    throw new SlackFailure('chat.postMessage', 'unreachable', 'request_failed');
  });
  await clock.advance(1_000);
  expect(await answer).toBe('posted');
});

it('lets one edit a second in a channel and a quarter of a workspace’s go, and pauses as long as Slack asks', async () => {
  const clock = createManualClock();
  const budget = createEditBudget(clock);
  const first = [budget.take('T1', 'C1'), budget.take('T1', 'C1'), budget.take('T1', 'C2')];
  expect(first).toEqual([true, false, true]);
  let taken = 2;
  for (let second = 1; second < 60; second += 1) {
    await clock.advance(1_000);
    if (budget.take('T1', 'C1')) taken += 1;
  }
  expect(taken).toBe(12);
  expect(budget.take('T2', 'C1')).toBe(true);
  await clock.advance(60_000);
  expect(budget.take('T1', 'C1')).toBe(true);

  budget.pause('T1', clock.now() + 5_000);
  await clock.advance(4_999);
  expect([budget.take('T1', 'C1'), budget.take('T2', 'C1')]).toEqual([false, true]);
  await clock.advance(1);
  expect(budget.take('T1', 'C1')).toBe(true);
});
