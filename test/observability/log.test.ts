import { expect, it } from 'vitest';
import { StoreUnavailable } from '../../src/core/errors.ts';
import { createLog } from '../../src/observability/log.ts';

function linesOf(write: (log: ReturnType<typeof createLog>) => void): string {
  const lines: string[] = [];
  write(createLog('trace', (line) => lines.push(line)));
  return lines.join('');
}

const KEY = 'k'.repeat(40);
const BASIC = Buffer.from(`ann@example.com:${KEY}`).toString('base64');

it.each([
  ['a bot token', 'xoxb-123-456-abcDEF'],
  ['a rotating token', 'xoxe.xoxb-1-abcdef0123'],
  ['a refresh token', 'xoxe-1-abcdef0123'],
  ['an app token', 'xapp-1-A1-2-abc'],
  ['a workflow token', 'xwfp-abc123'],
  ['a Basic header', `Basic ${BASIC}`],
  ['a Bearer header', 'Bearer abc.def-ghi_jkl'],
  ['an API key', KEY],
  ['a response address', 'https://hooks.slack.com/commands/T0X/123/AbCdEf'],
  [
    'an OAuth code in an address',
    'https://deckhand.example.com/slack/oauth_redirect?code=abcdef&state=ghijkl',
  ],
])('hides %s wherever it stands', (_, secret) => {
  const logged = linesOf((log) => {
    log.info({ event: 'x', reason: `before ${secret} after` }, 'said');
    log.error({ event: 'x', err: new Error(secret, { cause: new TypeError(`why ${secret}`) }) }, 'failed');
  });
  const telling = secret.split(/[ ?]/).at(-1) ?? secret;
  expect(logged).not.toContain(telling.slice(-12));
  expect(logged).toContain('before ');
  expect(logged).toContain('after');
});

it('has one line a minute of each event in an outage of the store, and all that people were given a reference of', () => {
  const away = new StoreUnavailable(new Error('Connection terminated'));
  const lines = linesOf((log) => {
    for (const workspace of ['T1', 'T2']) {
      const child = log.child({ workspace });
      child.error({ event: 'job_failed', err: away }, 'failed');
      child.error({ event: 'poll_failed', err: new Error('no poll', { cause: away }) }, 'failed');
      child.error({ event: 'engine_error', err: new Error('Query read timeout') }, 'failed');
      child.error({ event: 'request_not_stored', reference: workspace, err: away }, 'failed');
      child.error({ event: 'job_failed', err: new Error('the service answered 500') }, 'failed');
    }
  });
  const events = lines
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line).event);
  expect(events).toEqual([
    'job_failed',
    'poll_failed',
    'engine_error',
    'request_not_stored',
    'job_failed',
    'request_not_stored',
    'job_failed',
  ]);
});

it('drops every field that it does not know, and what hangs on an error', () => {
  const error = Object.assign(new Error('broken'), {
    config: { headers: { authorization: 'canary' } },
    code: 'odd',
  });
  const logged = linesOf((log) =>
    log.error({ event: 'x', token: 'canary', body: { a: 'canary' }, err: error }, 'm'),
  );
  expect(logged).not.toContain('canary');
  expect(JSON.parse(logged)).toMatchObject({ event: 'x', err: { message: 'broken', code: 'odd' }, msg: 'm' });
});

it('writes one line that steers no terminal, whatever characters a value has', () => {
  const controls = Array.from({ length: 0xa0 }, (_, code) => String.fromCharCode(code));
  const foreign = [...controls, '\u2028', '\u2029', '\u202e', '\u2067'].join('');
  const logged = linesOf((log) => {
    log.info({ event: 'x', account: foreign, err: new Error(foreign) }, foreign);
  });
  expect(logged.slice(0, -1)).not.toMatch(/[\p{Cc}\u2028-\u202e\u2066-\u2069]/u);
  expect(JSON.parse(logged)).toMatchObject({ account: foreign, msg: foreign });
});
