import { createHmac } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { request } from 'undici';
import { describe, expect } from 'vitest';
import { ask } from '../support/asking.ts';
import { HASTY } from '../support/faults.ts';
import { test } from '../support/fixtures.ts';
import { sendJson } from '../support/signed.ts';
import { API_KEY, CHANNEL, EMAIL, PEOPLE, TEAM, type TestWorld } from '../support/test-world.ts';

const whenConnected = test.extend('connected', true);
const whenHasty = whenConnected.extend('worldOptions', HASTY);

/** Longer than a loaded machine takes for an acknowledgement. */
const SERVICE_MS = 10_000;

describe('the front door', () => {
  const privately = (world: TestWorld, who: keyof typeof PEOPLE) =>
    world.slack.ephemerals(TEAM, PEOPLE[who]).map(({ text }) => text);
  const told = (world: TestWorld, who: keyof typeof PEOPLE, words: string) =>
    world.slack.until(() => privately(world, who).some((text) => text.includes(words)), { what: words });

  whenConnected(
    'the front door acknowledges every command before it calls the service, and opens a modal in time',
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

  whenHasty('the front door says after two seconds that it goes on', async ({ world }) => {
    world.service.faults.add({ path: '/acme/profile', delayMs: 1_500, times: 1 });
    await world.as('member').command(CHANNEL, '/deckhand whoami');
    await told(world, 'member', 'Still working');
    // The answer takes its place.
    await told(world, 'member', 'Deckhand uses the account');
    expect(privately(world, 'member').filter((text) => text.includes('Still working'))).toEqual([]);
  });

  test('the front door offers to connect an account to those who may, and names them to the others', async ({
    world,
  }) => {
    const said = await ask(world, '/deckhand test storefront');
    expect(said).toContain(
      'Ask an admin to run `/deckhand connect`, and `/deckhand test storefront` runs by itself',
    );
    expect(said).not.toContain('connect:open');
    const toAnn = await ask(world, '/deckhand projects', 'admin');
    expect(toAnn).toContain('Connect one, and `/deckhand projects` runs by itself.');
    expect(toAnn).toContain('connect:open');
  });

  test('the front door runs the command that was typed before connecting after it', async ({ world }) => {
    await world.as('admin').command(CHANNEL, '/deckhand test storefront');
    await told(world, 'admin', 'No account is connected');
    await world.connect();
    await world.slack.until(() =>
      world.slack.messages(TEAM, CHANNEL).at(-1)?.text.includes('all 2 servers are reachable'),
    );
  });

  whenConnected.for([
    ['tst', 'Did you mean `test`'],
    ['tset storefront', 'Did you mean `test`'],
    ['qwertyuiop', 'There is no command `qwertyuiop`'],
    ['“help test”', 'How to use test'],
    ['test a b c', '`c` is one word too many. Try `/deckhand test [project] [server]`'],
    ['inv', 'Did you mean `invoices`'],
    ['whoami --colour red', 'There is no option `--colour`'],
    ['<!channel>', 'There is no command'],
    ['x'.repeat(10_000), 'There is no command'],
  ] as const)('the front door answers %.30j with what to do instead', async ([typed, answer], { world }) => {
    await world.as('member').command(CHANNEL, `/deckhand ${typed}`);
    await told(world, 'member', answer);
  });

  test.for([
    ['a button that it does not know', 'gone:button', '{}'],
    ['a button that another version made', 'test:again', '{"project":7}'],
    ['a button with a value that is no JSON', 'test:again', 'storefront'],
  ] as const)('the front door answers %s', async ([_, action_id, value], { world }) => {
    const { deliver } = await signed(world);
    const { status } = await deliver({
      type: 'block_actions',
      team: { id: TEAM },
      user: { id: PEOPLE.member },
      channel: { id: CHANNEL },
      trigger_id: 'old-action',
      actions: [{ action_id, value, block_id: 'b', type: 'button', action_ts: '1' }],
    });
    expect(status).toBe(200);
    await told(world, 'member', 'older version');
    expect(world.logs.join()).not.toContain('"event":"bug"');
  });

  test.for([
    ['a form that it does not know', 'gone', ''],
    ['a form that another version made', 'settings', '{"channel":7}'],
  ] as const)('the front door answers %s', async ([_, callback_id, private_metadata], { world }) => {
    const { deliver } = await signed(world);
    const view = { id: 'V1', hash: 'h', type: 'modal', callback_id, private_metadata, blocks: [] };
    const { status, text } = await deliver({
      type: 'view_submission',
      team: { id: TEAM },
      user: { id: PEOPLE.admin },
      trigger_id: 'old-view',
      view: { ...view, title: { type: 'plain_text', text: 'Old' }, state: { values: {} } },
    });
    expect(status).toBe(200);
    expect(text).toContain('older version');
  });

  test('the front door takes a click whose fields are null where Slack has nothing to say', async ({
    world,
  }) => {
    const { deliver } = await signed(world);
    const { status } = await deliver({
      type: 'block_actions',
      team: { id: TEAM },
      enterprise: null,
      is_enterprise_install: 'false',
      user: { id: PEOPLE.member, team_id: null },
      channel: { id: CHANNEL },
      message: { ts: '1.1', text: null, blocks: null },
      trigger_id: '',
      actions: [{ action_id: 'help:group', value: '{"group":"test"}', block_id: null, action_ts: null }],
    });
    expect(status).toBe(200);
    await told(world, 'member', 'Test');
  });

  test('the front door takes an event that says by a word, as a form does, whose installation it is', async ({
    world,
  }) => {
    const { status } = await sendJson(world, {
      type: 'event_callback',
      event_id: 'EvByWord',
      team_id: TEAM,
      authorizations: [{ team_id: TEAM, enterprise_id: null, is_enterprise_install: 'false' }],
      event: { type: 'app_home_opened', user: PEOPLE.member, channel: 'D1', tab: 'home' },
    });
    expect(status).toBe(200);
    await world.slack.until(() => world.slack.home(TEAM, PEOPLE.member), { what: 'App Home' });
  });

  test.for([
    ['six minutes old', -360],
    ['six minutes ahead', 360],
  ] as const)('the front door refuses a request that is %s', async ([_, seconds], { world }) => {
    const { send } = await signed(world);
    expect((await send('command=%2Fdeckhand', { offset: seconds })).status).toBe(401);
  });

  test('the front door acknowledges that Slack leaves out events, and logs it', async ({ world }) => {
    const { send } = await signed(world);
    const body = JSON.stringify({ type: 'app_rate_limited', team_id: TEAM, minute_rate_limited: 1 });
    expect((await send(body, { type: 'application/json' })).status).toBe(200);
    await world.logged('"event":"events_limited"');
  });

  test.for([
    ['a wrong signature', { signature: 'v0=00' }, 'command=%2Fdeckhand', 401],
    [
      'a wrong signature, and a payload beside the ssl check',
      { signature: 'v0=00' },
      'ssl_check=0&payload=%7B%7D',
      401,
    ],
    ['an unknown content type', { type: 'text/xml' }, '<a/>', 400],
    ['JSON that is none', { type: 'application/json' }, '{', 400],
    ['a list', { type: 'application/json' }, '[]', 400],
    ['nothing that Slack sends', { type: 'application/json; charset=utf-8' }, '{"odd":true}', 400],
    ['a payload without a type', {}, 'payload=%7B%22odd%22%3Atrue%7D', 400],
    ['more than two megabytes', {}, `a=${'x'.repeat(2_000_000)}`, 413],
  ] as const)(
    'the front door answers %s with the fitting status',
    async ([_, options, body, status], { world }) => {
      const { send } = await signed(world);
      expect((await send(body, options)).status).toBe(status);
    },
  );

  test('the front door reads no more than a body may have, also where its length is not said', async ({
    world,
  }) => {
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

  test.for(['view_submission', 'block_actions', 'shortcut', 'block_suggestion'])(
    'the front door answers a %s without its parts as malformed, not as a fault of its own',
    async (type, { world }) => {
      const { deliver } = await signed(world);
      for (const parts of [
        {},
        { view: null, actions: null, user: null },
        { view: 7, actions: [null], team: 'T' },
      ])
        expect((await deliver({ type, ...parts })).status, JSON.stringify(parts)).toBe(400);
      expect(world.logs.join()).toContain('"event":"payload_malformed"');
      expect(world.logs.join()).not.toContain('"event":"bug"');
    },
  );

  test.for(['interactive_message', 'a_type_of_tomorrow'])(
    'the front door acknowledges a payload of a type that has no handler, %s, as it does an event, so that Slack does not send it again',
    async (type, { world }) => {
      const { send, deliver } = await signed(world);
      expect(await deliver({ type, user: { id: PEOPLE.member } })).toEqual({ status: 200, text: '' });
      const outer = await send(JSON.stringify({ type }), { type: 'application/json' });
      expect(outer.status).toBe(200);
      await world.logged('"event":"payload_unknown"');
      expect(world.logs.join()).not.toContain('request_refused');
    },
  );

  test('the front door answers a command without its person as malformed, too', async ({ world }) => {
    const { send } = await signed(world);
    expect((await send('command=%2Fdeckhand&text=help')).status).toBe(400);
    await world.logged('"event":"payload_malformed"');
    expect(world.logs.join()).not.toContain('"event":"bug"');
  });

  test('the front door takes commands that come without the identifier of a request, each as a new one', async ({
    world,
  }) => {
    const { send } = await signed(world);
    const who = { command: '/deckhand', team_id: TEAM, user_id: PEOPLE.member, channel_id: CHANNEL };
    for (const asked of [{ text: 'help' }, { text: 'qwertyuiop', trigger_id: '' }])
      expect((await send(new URLSearchParams({ ...asked, ...who }).toString())).status).toBe(200);
    await told(world, 'member', 'What Deckhand can do');
    await told(world, 'member', 'There is no command');
  });

  test('the front door answers Slack’s unsigned ssl check, however often, and does nothing', async ({
    world,
  }) => {
    for (const _ of [1, 2]) expect((await world.slack.checkCertificate()).outcome).toBe('ok');
    const body = new URLSearchParams({
      ssl_check: '1',
      command: '/deckhand',
      text: 'help',
      team_id: TEAM,
      user_id: PEOPLE.member,
      channel_id: CHANNEL,
    });
    const { send } = await signed(world);
    expect(await send(body.toString(), { signature: '' })).toEqual({ status: 200, text: '' });
    await world.app.stop(500);
    expect(world.slack.ephemerals(TEAM, PEOPLE.member)).toEqual([]);
    expect(world.logs.join('')).not.toContain('request_refused');
  });

  test('the front door takes a form with a charset, and answers the ssl check and the url verification', async ({
    world,
  }) => {
    const { send } = await signed(world);
    const form = 'application/x-www-form-urlencoded; charset=utf-8';
    expect((await send('ssl_check=1', { type: form })).status).toBe(200);
    const challenge = await send('{"type":"url_verification","challenge":"abc"}', {
      type: 'application/json',
    });
    expect(JSON.parse(challenge.text)).toEqual({ challenge: 'abc' });
  });

  test('the front door answers 404, 405 and its probes with headers that let nothing be kept or framed', async ({
    world,
  }) => {
    const get = (path: string) => request(`${world.origin}${path}`);
    expect((await get('/healthz')).statusCode).toBe(200);
    expect((await get('/readyz')).statusCode).toBe(200);
    for (const path of ['/', '/privacy', '/healthz', '/readyz', '/metrics']) {
      const head = await request(`${world.origin}${path}`, { method: 'HEAD' });
      expect([head.statusCode, await head.body.text()]).toEqual([200, '']);
    }
    expect((await get('/slack/events')).statusCode).toBe(405);
    const missing = await get('/nowhere');
    expect(missing.statusCode).toBe(404);
    expect(missing.headers).toMatchObject({ 'cache-control': 'no-store', 'x-frame-options': 'DENY' });
    expect(await (await get('/metrics')).body.text()).toContain('deckhand_ack_duration_seconds_count');
  });

  test('the front door does not follow a response address to a host that is not allowed', async ({
    world,
  }) => {
    const { send } = await signed(world);
    const form = new URLSearchParams({
      command: '/deckhand',
      text: 'help',
      team_id: TEAM,
      user_id: PEOPLE.member,
      channel_id: CHANNEL,
      trigger_id: 'elsewhere',
      response_url: 'https://evil.example/commands/T/1/x',
    });
    await send(form.toString());
    await world.logged('response_url_refused');
    await told(world, 'member', 'What Deckhand can do');
  });

  whenConnected(
    'the front door keeps every secret out of logs, Slack and the database',
    async ({ world }) => {
      for (const command of ['accounts', 'whoami', 'doctor', 'projects', 'test storefront'])
        await world.as('admin').command(CHANNEL, `/deckhand ${command}`);
      await world.slack.until(() =>
        world.slack.messages(TEAM, CHANNEL).at(-1)?.text.includes('all 2 servers are reachable'),
      );
      const files = await readdir(world.folder);
      const stored = await Promise.all(files.map((file) => readFile(join(world.folder, file), 'latin1')));
      const shown = JSON.stringify([world.slack.calls, world.slack.modals(TEAM, PEOPLE.admin)]);
      const basic = Buffer.from(`${EMAIL}:${API_KEY}`).toString('base64');
      for (const secret of [
        API_KEY,
        basic,
        world.config.SLACK_BOT_TOKEN ?? '',
        world.config.SLACK_SIGNING_SECRET ?? '',
      ]) {
        expect(stored.join('').includes(secret), 'in the database').toBe(false);
        expect(world.logs.join('').includes(secret), 'in the log').toBe(false);
        expect(shown.includes(secret), 'in Slack').toBe(false);
      }
    },
  );
});

interface Answer {
  status: number;
  text: string;
}

/** Sends requests as Slack would sign them, or nearly. */
async function signed(world: TestWorld) {
  async function send(
    body: string,
    options: { type?: string; offset?: number; signature?: string } = {},
  ): Promise<Answer> {
    const { offset = 0 } = options;
    const timestamp = String(Math.floor(Date.now() / 1000) + offset);
    const secret = world.slack.app.signingSecret;
    const signature = `v0=${createHmac('sha256', secret).update(`v0:${timestamp}:${body}`).digest('hex')}`;
    const answer = await request(`${world.origin}/slack/events`, {
      method: 'POST',
      body,
      headers: {
        'content-type': options.type ?? 'application/x-www-form-urlencoded',
        'x-slack-request-timestamp': timestamp,
        'x-slack-signature': options.signature ?? signature,
      },
    });
    return { status: answer.statusCode, text: await answer.body.text() };
  }
  const deliver = (payload: object) =>
    send(new URLSearchParams({ payload: JSON.stringify(payload) }).toString());
  return { send, deliver };
}
