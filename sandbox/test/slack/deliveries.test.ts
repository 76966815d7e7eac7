import { describe, expect, it } from 'vitest';
import { clientOf, refusalOf, startSetting } from './setting.ts';

describe('a look at the certificate', () => {
  it('comes as a form without a signature', async () => {
    const { slack, app } = await startSetting();
    expect((await slack.checkCertificate()).outcome).toBe('ok');
    const [received] = app.received;
    expect(received?.payload).toEqual({ ssl_check: '1', token: slack.app.verificationToken });
    expect(received?.headers).not.toHaveProperty('x-slack-signature');
    expect(received?.headers).not.toHaveProperty('x-slack-request-timestamp');
  });
});

describe('what is delivered twice', () => {
  it('is the same event, as a retry or without saying so', async () => {
    const { slack, app } = await startSetting();
    const first = await slack.as('T0ACME', 'U0ANNA').openHome();
    if (!first) throw new Error('nothing was sent');
    await slack.redeliver(first);
    await slack.redeliver(first, { retryNum: 2, reason: 'connection_failed' });
    await slack.redeliver(first, { retryNum: false });
    const seen = app.received.map(({ headers }) => [
      headers['x-slack-retry-num'],
      headers['x-slack-retry-reason'],
    ]);
    expect(seen).toEqual([
      [undefined, undefined],
      ['1', 'http_timeout'],
      ['2', 'connection_failed'],
      [undefined, undefined],
    ]);
    expect(new Set(app.received.map(({ payload }) => payload.event_id)).size).toBe(1);
  });

  it('may be a command, with the same trigger', async () => {
    const { slack, app } = await startSetting();
    const { delivery } = await slack.as('T0ACME', 'U0ANNA').command('deploys', '/deckhand help');
    if (!delivery) throw new Error('nothing was sent');
    await slack.redeliver(delivery, { retryNum: false });
    const [one, two] = app.received;
    expect(two?.payload).toEqual(one?.payload);
    expect(two?.headers['content-type']).toBe('application/x-www-form-urlencoded');
  });
});

describe('the token of an organisation', () => {
  const enterprise = { id: 'E0ORG', name: 'Acme Group' };

  it('has to name a workspace where Slack cannot know which is meant', async () => {
    const { slack } = await startSetting(
      { app: { botScopes: ['users:read', 'usergroups:read', 'channels:read'] } },
      { enterprise, installed: false },
    );
    const client = clientOf(slack, slack.installOrganisation('E0ORG'));
    const bot = slack.workspace('T0ACME').installation?.botId;
    const calls = {
      'users.list': {},
      'conversations.list': {},
      'usergroups.list': {},
      'usergroups.users.list': { usergroup: 'S0' },
      'bots.info': { bot },
    };
    for (const [method, args] of Object.entries(calls)) {
      expect([method, (await refusalOf(client.apiCall(method, args))).error]).toEqual([
        method,
        'missing_argument',
      ]);
    }
    expect(await client.apiCall('users.list', { team_id: 'T0ACME' })).toMatchObject({ ok: true });
    expect(await client.apiCall('bots.info', { bot, team_id: 'T0ACME' })).toMatchObject({ ok: true });
    expect(await client.apiCall('users.info', { user: 'U0ANNA' })).toMatchObject({ ok: true });
  });
});
