import { describe, expect, it } from 'vitest';
import { clientOf, startSetting } from './setting.ts';

const plain = (text: string) => ({ type: 'plain_text', text }) as const;
const buttons = [
  { type: 'actions', elements: [{ type: 'button', action_id: 'go', text: plain('Go') }] },
] as const;
const SCOPES = ['commands', 'chat:write', 'users:read', 'channels:read', 'app_mentions:read'];

const modal = {
  type: 'modal',
  callback_id: 'ask',
  title: plain('Ask'),
  submit: plain('Send'),
  notify_on_close: true,
  blocks: [
    {
      type: 'input',
      block_id: 'word',
      label: plain('Word'),
      element: { type: 'plain_text_input', action_id: 'word' },
    },
  ],
} as const;

/** Acme, where the app is installed, shares #deploys with a partner, where it is not. */
async function withPartner(
  { installed = false, orgs = false } = {},
  enterprise?: { id: string; name: string },
) {
  const setting = await startSetting({ app: { botScopes: SCOPES } }, enterprise ? { enterprise } : {});
  const { slack, token } = setting;
  slack.addWorkspace({
    id: 'T0PARTNER',
    name: 'Partner',
    domain: 'partner',
    installed,
    ...(orgs && enterprise ? { enterprise } : { enterprise: { id: 'E0THEIRS', name: 'Theirs' } }),
    users: [{ id: 'U0PIA', name: 'pia', is_admin: true }],
    channels: [{ id: 'C0LOUNGE', name: 'lounge' }],
  });
  slack.shareChannel('T0ACME', 'deploys', 'T0PARTNER', { name: 'acme-deploys' });
  const client = clientOf(slack, token);
  const { ts = '' } = await client.chat.postMessage({
    channel: 'C0DEPLOY',
    text: 'x',
    blocks: [...buttons],
  });
  return { ...setting, client, pia: slack.as('T0PARTNER', 'U0PIA'), at: { channel: 'C0DEPLOY', ts } };
}

describe('a channel shared with another company', () => {
  it('has one id, its own name there, and the same messages for both', async () => {
    const { slack, client, pia } = await withPartner();
    await pia.postMessage('acme-deploys', 'hello from us');
    expect(slack.messages('T0ACME', 'deploys')).toMatchObject([
      { text: 'x', team: 'T0ACME' },
      { text: 'hello from us', team: 'T0PARTNER', user: 'U0PIA' },
    ]);
    expect(slack.messages('T0PARTNER', 'acme-deploys')).toEqual(slack.messages('T0ACME', 'deploys'));
    const { channel } = await client.conversations.info({ channel: 'C0DEPLOY' });
    expect(channel).toMatchObject({
      is_ext_shared: true,
      is_shared: true,
      shared_team_ids: ['T0ACME', 'T0PARTNER'],
      context_team_id: 'T0ACME',
    });
  });

  it('brings a click with the team of the installation and the person’s own', async () => {
    const { slack, app, pia, at } = await withPartner();
    await pia.click(at, { actionId: 'go' });
    const { payload } = app.received.at(-1) ?? {};
    expect(payload).toMatchObject({
      type: 'block_actions',
      team: { id: 'T0ACME' },
      user: { id: 'U0PIA', team_id: 'T0PARTNER' },
      enterprise: null,
      response_url: expect.stringContaining('/actions/T0ACME/'),
    });
    await fetch(payload.response_url, { method: 'POST', body: JSON.stringify({ text: 'only for you' }) });
    expect(slack.ephemerals('T0PARTNER', 'U0PIA')).toMatchObject([{ text: 'only for you' }]);
    const { user } = await clientOf(slack, slack.install('T0ACME')).users.info({ user: 'U0PIA' });
    expect(user).toMatchObject({ team_id: 'T0PARTNER', is_stranger: false });
    expect(user).not.toHaveProperty('is_admin');
  });

  it('brings a modal with the team of the person, and the installation beside it', async () => {
    const { app, client, pia, at } = await withPartner();
    await pia.click(at, { actionId: 'go' });
    const opened = await client.views.open({
      trigger_id: app.received.at(-1)?.payload.trigger_id,
      view: { ...modal, blocks: [...modal.blocks] },
    });
    expect(opened.view).toMatchObject({ team_id: 'T0PARTNER', app_installed_team_id: 'T0ACME' });
    expect(pia.openView()?.content.callback_id).toBe('ask');
    await client.views.update({
      view_id: opened.view?.id ?? '',
      view: { ...modal, title: plain('Again'), blocks: [...modal.blocks] },
    });
    expect(pia.openView()?.content.title).toEqual(plain('Again'));
    await pia.submit('ask', { word: 'yes' });
    expect(app.received.at(-1)?.payload).toMatchObject({
      type: 'view_submission',
      team: { id: 'T0PARTNER', domain: 'partner', enterprise_id: 'E0THEIRS' },
      enterprise: { id: 'E0THEIRS' },
      user: { id: 'U0PIA', team_id: 'T0PARTNER' },
      view: {
        team_id: 'T0PARTNER',
        app_installed_team_id: 'T0ACME',
        state: { values: { word: { word: { value: 'yes' } } } },
      },
    });
  });

  it('loses the modal with the installation that opened it', async () => {
    const { slack, app, client, pia, at } = await withPartner();
    await pia.click(at, { actionId: 'go' });
    const { trigger_id } = app.received.at(-1)?.payload ?? {};
    await client.views.open({ trigger_id, view: { ...modal, blocks: [...modal.blocks] } });
    expect(pia.openViews()).toHaveLength(1);
    slack.uninstall('T0ACME');
    expect(pia.openViews()).toEqual([]);
  });

  it('shows the page the people who meet there, as people of elsewhere', async () => {
    const { slack, bot } = await withPartner();
    const answer = await (await fetch(`${slack.origin}/page/workspace`)).json();
    const { teams } = answer as { teams: { id: string; users: { id: string; elsewhere?: boolean }[] }[] };
    const met = (team: string) =>
      teams.find(({ id }) => id === team)?.users.flatMap(({ id, elsewhere }) => (elsewhere ? [id] : []));
    expect(met('T0ACME')).toEqual(['U0PIA']);
    expect(met('T0PARTNER')).toEqual(['U0ANNA', 'U0MAX', bot]);
  });

  it('tells the app of a mention by its own team and names the other', async () => {
    const { slack, app, bot, pia } = await withPartner();
    await pia.postMessage('acme-deploys', '@deckhand help');
    await slack.until(() => app.received.length === 1);
    expect(app.received[0]?.payload).toMatchObject({
      team_id: 'T0ACME',
      context_team_id: 'T0ACME',
      is_ext_shared_channel: true,
      authorizations: [{ team_id: 'T0ACME' }],
      event: {
        type: 'app_mention',
        text: `<@${bot}> help`,
        user: 'U0PIA',
        team: 'T0ACME',
        user_team: 'T0PARTNER',
        source_team: 'T0PARTNER',
      },
    });
  });

  it('has the app’s commands only for those whose own workspace has it', async () => {
    const { app, slack, pia } = await withPartner();
    expect((await pia.command('acme-deploys', '/deckhand help')).outcome).toBe('invalid_command');
    expect(app.received).toEqual([]);
    slack.install('T0PARTNER');
    expect((await pia.command('acme-deploys', '/deckhand help')).outcome).toBe('ok');
    expect(app.received.at(-1)?.payload).toMatchObject({ team_id: 'T0PARTNER', channel_id: 'C0DEPLOY' });
  });
});

describe('somebody of a workspace that is not simulated', () => {
  it('clicks, and sends a modal, under the team that they come from', async () => {
    const { slack, app, token } = await startSetting();
    slack.addPerson('T0ACME', { id: 'U0EXT', team_id: 'T0FAR' });
    slack.invite('T0ACME', 'deploys', 'U0EXT');
    const client = clientOf(slack, token);
    const { ts = '' } = await client.chat.postMessage({
      channel: 'C0DEPLOY',
      text: 'x',
      blocks: [...buttons],
    });
    const ext = slack.as('T0ACME', 'U0EXT');
    await ext.click({ channel: 'C0DEPLOY', ts }, { actionId: 'go' });
    const { payload } = app.received.at(-1) ?? {};
    expect(payload).toMatchObject({ team: { id: 'T0ACME' }, user: { id: 'U0EXT', team_id: 'T0FAR' } });
    await client.views.open({
      trigger_id: payload.trigger_id,
      view: { ...modal, blocks: [...modal.blocks] },
    });
    await ext.close('ask');
    expect(app.received.at(-1)?.payload).toMatchObject({
      type: 'view_closed',
      team: { id: 'T0FAR' },
      view: { team_id: 'T0FAR', app_installed_team_id: 'T0ACME' },
    });
    expect((await ext.command('deploys', '/deckhand')).outcome).toBe('invalid_command');
  });
});

describe('two workspaces of one organisation', () => {
  const enterprise = { id: 'E0ORG', name: 'Acme Group' };

  it('share a channel without being strangers', async () => {
    const { slack, app, client, pia, at } = await withPartner({ orgs: true }, enterprise);
    await pia.click(at, { actionId: 'go' });
    expect(app.received.at(-1)?.payload).toMatchObject({
      team: { id: 'T0ACME' },
      enterprise,
      user: { team_id: 'T0PARTNER' },
    });
    const { user } = await client.users.info({ user: 'U0PIA' });
    expect(user).toMatchObject({ team_id: 'T0PARTNER', is_admin: true });
    expect(user).not.toHaveProperty('is_stranger');
    const { channel } = await client.conversations.info({ channel: 'C0DEPLOY' });
    expect(channel).toMatchObject({ is_org_shared: true, is_ext_shared: false });
    expect(slack.deliveries.at(-1)?.team).toBe('T0ACME');
  });

  it('send no team where the app is installed for all of it', async () => {
    const { slack, app } = await startSetting({}, { enterprise, installed: false });
    const client = clientOf(slack, slack.installOrganisation('E0ORG'));
    const { ts = '' } = await client.chat.postMessage({
      channel: 'C0DEPLOY',
      text: 'x',
      blocks: [...buttons],
    });
    await slack.as('T0ACME', 'U0ANNA').click({ channel: 'C0DEPLOY', ts }, { actionId: 'go' });
    expect(app.received.at(-1)?.payload).toMatchObject({
      team: null,
      enterprise,
      is_enterprise_install: true,
      user: { id: 'U0ANNA', team_id: 'T0ACME' },
    });
  });
});
