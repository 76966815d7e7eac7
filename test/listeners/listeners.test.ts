import { Readable } from 'node:stream';
import { request } from 'undici';
import { describe, expect } from 'vitest';
import { test } from '../support/fixtures.ts';
import {
  sendClick,
  sendCommand,
  sendEvent,
  sendForm,
  sendJson,
  sendPayload,
  sendSigned,
  sign,
} from '../support/signed.ts';
import { CHANNEL, PEOPLE, TEAM, type TestWorld } from '../support/test-world.ts';

const whenConnected = test.extend('connected', true);

/** Longer than a loaded machine takes for an acknowledgement. */
const SERVICE_MS = 10_000;
const JSON_TYPE = { type: 'application/json' };
const MEMBER = { user_id: PEOPLE.member };

const told = ({ slack }: TestWorld, words: string) =>
  slack.until(() => slack.ephemerals(TEAM, PEOPLE.member).some(({ text }) => text.includes(words)), {
    what: words,
  });

describe('the front door', () => {
  whenConnected(
    'acknowledges every command before it calls the service, and opens a modal in time',
    async ({ world }) => {
      world.service.faults.add({ path: '/**', delayMs: SERVICE_MS });
      const ann = world.as('admin');
      for (const { name } of world.app.commands) {
        const { outcome, ackMs } = await ann.command(CHANNEL, `/deckhand ${name} storefront`);
        expect(outcome, name).toBe('ok');
        expect(ackMs, name).toBeLessThan(SERVICE_MS);
      }
      await ann.command(CHANNEL, '/deckhand connect');
      await world.slack.until(() => ann.openViews().some((view) => view.content.callback_id === 'connect'));
    },
  );

  whenConnected('answers words that are no command with what to do instead', async ({ world }) => {
    for (const [typed, answer] of [
      ['tset storefront', 'Did you mean test'],
      ['qwertyuiop', 'There is no command qwertyuiop'],
      ['“help test”', 'How to use test'],
      [
        'test a b c',
        'test takes [project] [server], so c is not clear. Try /deckhand test [project] [server]',
      ],
      ['whoami --colour red', 'There is no option --colour'],
      ['<!channel>', 'There is no command &lt;!channel&gt;'],
      ['x'.repeat(10_000), `There is no command ${'x'.repeat(20)}`],
    ] as const) {
      await world.as('member').command(CHANNEL, `/deckhand ${typed}`);
      await told(world, answer);
    }
  });

  test('answers buttons and forms that it does not know or that another version made', async ({ world }) => {
    for (const [id, value] of [
      ['gone:button', '{}'],
      ['test:again', '{"project":7}'],
      ['test:again', 'storefront'],
    ] as const)
      expect((await sendClick(world, id, value, { user: { id: PEOPLE.member } })).status).toBe(200);
    const old = () => world.slack.ephemerals(TEAM, PEOPLE.member).map(({ text }) => text);
    await world.slack.until(() => old().filter((text) => text.includes('older version')).length === 3);
    const { status, text } = await sendForm(world, 'settings', { private_metadata: '{"channel":7}' });
    expect([status, text]).toEqual([200, expect.stringContaining('older version')]);
    expect(world.logs.join()).not.toContain('"event":"bug"');
  });

  test('takes requests with null, a word or nothing for what Slack may leave out', async ({ world }) => {
    const click = await sendClick(world, '', '', {
      enterprise: null,
      is_enterprise_install: 'false',
      user: { id: PEOPLE.member, team_id: null },
      message: { ts: '1.1', text: null, blocks: null },
      trigger_id: '',
      actions: [{ action_id: 'help:group', value: '{"group":"test"}', block_id: null, action_ts: null }],
    });
    expect(click.status).toBe(200);
    await told(world, 'Test');
    const numbered = await sendClick(world, 'help:group', '{"group":"watch"}', {
      user: { id: PEOPLE.member },
      message: { ts: 1795937901.5, thread_ts: 1795937900.123456 },
      container: { message_ts: 1795937901.5, thread_ts: 1795937900.123456 },
    });
    expect(numbered.status).toBe(200);
    const mention = { type: 'app_mention', user: PEOPLE.member, channel: CHANNEL, text: '<@U0BOT> whoami' };
    const ts = Math.floor(Date.now() / 1000) + 0.5;
    expect((await sendEvent(world, { ...mention, ts })).status).toBe(200);
    await told(world, 'connect');
    const nobody = { type: 'app_home_opened', user: null, channel: 'D1', tab: 'home' };
    expect((await sendEvent(world, nobody)).status).toBe(400);
    expect((await sendEvent(world, { ...mention, ts, user: null })).status).toBe(200);
    expect((await sendClick(world, 'help:group', '{"group":"test"}', { user: null })).status).toBe(400);
    const opened = { type: 'app_home_opened', user: PEOPLE.member, channel: 'D1', tab: 'home' };
    const authorizations = [{ team_id: TEAM, enterprise_id: null, is_enterprise_install: 'false' }];
    const event = await sendEvent(world, opened, { authorizations });
    expect(event.status).toBe(200);
    await world.slack.until(() => world.slack.home(TEAM, PEOPLE.member), { what: 'App Home' });
    for (const text of ['help', 'qwertyuiop'])
      expect((await sendCommand(world, text, { ...MEMBER, trigger_id: '' })).status).toBe(200);
    await told(world, 'What Deckhand can do');
    await told(world, 'There is no command');
  });

  test.for([
    ['a request that is six minutes old', { offset: -360 }, 'command=%2Fdeckhand', 401],
    ['a wrong signature', { signature: 'v0=00' }, 'command=%2Fdeckhand', 401],
    [
      'a wrong signature, and a payload beside the ssl check',
      { signature: 'v0=00' },
      'ssl_check=0&payload=%7B%7D',
      401,
    ],
    ['an unknown content type', { type: 'text/xml' }, '<a/>', 400],
    ['JSON that is none', JSON_TYPE, '{', 400],
    ['nothing that Slack sends', { type: 'application/json; charset=utf-8' }, '{"odd":true}', 400],
  ] as const)('answers %s with the fitting status', async ([_, options, body, status], { world }) => {
    expect((await sendSigned(world, body, options)).status).toBe(status);
    expect(world.logs.join()).not.toContain('"event":"bug"');
  });

  test('reads no more than a body may have, also where its length is not said', async ({ world }) => {
    const part = 'x'.repeat(100_000);
    const body = Readable.from(Array.from({ length: 16 }, () => part));
    const headers = {
      'x-slack-request-timestamp': String(Math.floor(Date.now() / 1000)),
      'x-slack-signature': 'v0=00',
    };
    const answer = await request(`${world.origin}/slack/events`, { method: 'POST', headers, body });
    expect(answer.statusCode).toBe(413);
    await answer.body.dump();
  });

  test('acknowledges what has no handler, so that Slack does not send it again', async ({ world }) => {
    for (const type of ['interactive_message', 'a_type_of_tomorrow']) {
      const payload = { type, user: { id: PEOPLE.member } };
      expect(await sendPayload(world, payload)).toEqual({ status: 200, text: '' });
      expect((await sendJson(world, { type })).status).toBe(200);
    }
    await world.logged('"event":"payload_unknown"');
    const limited = { type: 'app_rate_limited', team_id: TEAM, minute_rate_limited: 1 };
    expect((await sendJson(world, limited)).status).toBe(200);
    await world.logged('"event":"events_limited"');
    expect(world.logs.join()).not.toContain('request_refused');
  });

  test('answers the ssl check, unsigned too, and the url verification, and does nothing', async ({
    world,
  }) => {
    for (const _ of [1, 2]) expect((await world.slack.checkCertificate()).outcome).toBe('ok');
    const check = 'ssl_check=1&command=%2Fdeckhand&text=help';
    expect(await sendSigned(world, check, { signature: '' })).toEqual({ status: 200, text: '' });
    const type = 'application/x-www-form-urlencoded; charset=utf-8';
    expect((await sendSigned(world, 'ssl_check=1', { type })).status).toBe(200);
    const body = JSON.stringify({ type: 'url_verification', challenge: 'abc' });
    const headers = sign(world.slack.app.signingSecret, body);
    const challenge = await fetch(`${world.origin}/slack/events`, { method: 'POST', body, headers });
    expect(challenge.headers.get('content-type')).toContain('application/json');
    expect(await challenge.json()).toEqual({ challenge: 'abc' });
    await world.app.stop(500);
    expect(world.slack.ephemerals(TEAM, PEOPLE.member)).toEqual([]);
    expect(world.logs.join('')).not.toContain('request_refused');
  });

  test('answers 404, 405 and its probes', async ({ world }) => {
    const get = (path: string) => request(`${world.origin}${path}`);
    for (const path of ['/', '/privacy', '/healthz', '/readyz', '/metrics']) {
      expect((await get(path)).statusCode, path).toBe(200);
      const head = await request(`${world.origin}${path}`, { method: 'HEAD' });
      expect([head.statusCode, await head.body.text()]).toEqual([200, '']);
    }
    expect((await get('/slack/events')).statusCode).toBe(405);
    expect((await get('/nowhere')).statusCode).toBe(404);
    expect(await (await get('/metrics')).body.text()).toContain('deckhand_ack_duration_seconds_count');
  });

  test('does not follow a response address to a host that is not allowed', async ({ world }) => {
    const address = { response_url: 'https://evil.example/commands/T/1/x' };
    await sendCommand(world, 'help', { ...MEMBER, ...address });
    await world.logged('response_url_refused');
    await told(world, 'What Deckhand can do');
  });
});
