import type { ModalView } from '@slack/types';
import { describe, expect, it } from 'vitest';
import { lastSent, startSetting } from './setting.ts';

const plain = (text: string) => ({ type: 'plain_text', text });
const enterprise = { id: 'E0ORG', name: 'Acme Group' };
const botScopes = ['commands', 'chat:write', 'users:read', 'channels:read', 'app_mentions:read'];

const element = { type: 'plain_text_input', action_id: 'word' };
const modal = {
  ...{ type: 'modal', callback_id: 'ask', title: plain('Ask'), submit: plain('Send'), notify_on_close: true },
  blocks: [{ type: 'input', block_id: 'word', label: plain('Word'), element }],
};
const buttons = [{ type: 'actions', elements: [{ type: 'button', action_id: 'go', text: plain('Go') }] }];

/** Acme, where the app is installed, shares #deploys with a partner, where it is not. */
async function withPartner(theirs = { id: 'E0THEIRS', name: 'Theirs' }, ours = {}) {
  const setting = await startSetting({ app: { botScopes } }, ours);
  const { slack, client, app } = setting;
  const place = { id: 'T0PARTNER', name: 'Partner', domain: 'partner', installed: false, enterprise: theirs };
  const users = [{ id: 'U0PIA', name: 'pia', is_admin: true }];
  slack.addWorkspace({ ...place, users, channels: [{ id: 'C0LOUNGE', name: 'lounge' }] });
  slack.shareChannel('T0ACME', 'deploys', 'T0PARTNER', { name: 'acme-deploys' });
  const pia = slack.as('T0PARTNER', 'U0PIA');
  const channel = 'C0DEPLOY';
  /** The app posts a button, and Pia presses it; the answer is what the app got. */
  async function press() {
    const { ts = '' } = await client.chat.postMessage({ channel, text: 'x', ...{ blocks: buttons } });
    await pia.click({ channel, ts }, { actionId: 'go' });
    return lastSent({ app });
  }
  async function openModal() {
    const { trigger_id } = await press();
    return (await client.views.open({ trigger_id, view: modal as ModalView })).view;
  }
  const userInfo = async () => (await client.users.info({ user: 'U0PIA' })).user;
  return { ...setting, pia, press, openModal, userInfo };
}

describe('a channel shared with another company', () => {
  it('brings a click with the team of the installation and the person’s own', async () => {
    const { slack, press, userInfo } = await withPartner();
    const payload = await press();
    expect(payload).toMatchObject({
      type: 'block_actions',
      team: { id: 'T0ACME' },
      user: { id: 'U0PIA', team_id: 'T0PARTNER' },
      enterprise: null,
    });
    await fetch(payload.response_url, { method: 'POST', body: JSON.stringify({ text: 'only for you' }) });
    expect(slack.ephemerals('T0PARTNER', 'U0PIA')).toMatchObject([{ text: 'only for you' }]);
    const user = await userInfo();
    expect(user).toMatchObject({ team_id: 'T0PARTNER', is_stranger: false });
    expect(user).not.toHaveProperty('is_admin');
  });

  it('brings a modal with the team of the person, and loses it with the installation', async () => {
    const { slack, app, client, pia, openModal } = await withPartner();
    const view = await openModal();
    const teams = { team_id: 'T0PARTNER', app_installed_team_id: 'T0ACME' };
    expect(view).toMatchObject(teams);
    const again = { ...modal, title: plain('Again') };
    await client.apiCall('views.update', { view_id: view?.id, view: again });
    expect(pia.openView()?.content.title).toEqual(plain('Again'));
    await pia.submit('ask', { word: 'yes' });
    expect(lastSent({ app })).toMatchObject({
      type: 'view_submission',
      team: { id: 'T0PARTNER', domain: 'partner', enterprise_id: 'E0THEIRS' },
      enterprise: { id: 'E0THEIRS' },
      user: { id: 'U0PIA', team_id: 'T0PARTNER' },
      view: { ...teams, state: { values: { word: { word: { value: 'yes' } } } } },
    });
    await openModal();
    slack.uninstall('T0ACME');
    expect(pia.openViews()).toEqual([]);
  });

  it('tells the app of a mention by its own team and names the other', async () => {
    const { slack, app, bot, pia } = await withPartner();
    await pia.postMessage('acme-deploys', '@deckhand help');
    await slack.until(() => app.received.length === 1);
    const mention = { type: 'app_mention', text: `<@${bot}> help`, user: 'U0PIA', team: 'T0ACME' };
    expect(app.received[0]?.payload).toMatchObject({
      team_id: 'T0ACME',
      context_team_id: 'T0ACME',
      is_ext_shared_channel: true,
      authorizations: [{ team_id: 'T0ACME' }],
      event: { ...mention, user_team: 'T0PARTNER', source_team: 'T0PARTNER' },
    });
  });
});

it('two workspaces of one organisation share a channel without being strangers', async () => {
  const { client, press, userInfo } = await withPartner(enterprise, { enterprise });
  const user = { team_id: 'T0PARTNER' };
  expect(await press()).toMatchObject({ team: { id: 'T0ACME' }, enterprise, user });
  expect(await userInfo()).toMatchObject({ ...user, is_admin: true });
  expect(await userInfo()).not.toHaveProperty('is_stranger');
  const { channel } = await client.conversations.info({ channel: 'C0DEPLOY' });
  expect(channel).toMatchObject({ is_org_shared: true, is_ext_shared: false });
});
