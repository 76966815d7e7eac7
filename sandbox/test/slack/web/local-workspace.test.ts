import { afterAll, beforeAll, expect, it } from 'vitest';
import { portOfPages } from '../../../../test/support/free-port.ts';
import type { LocalSlack } from '../../../slack/local-slack.ts';
import { startLocalSlack } from '../../../slack/server.ts';
import { buildPage } from '../../../slack/web/build.ts';
import { describeInBrowser, useBrowser } from '../../support/browser.ts';
import { clientOf } from '../setting.ts';
import { startTinyApp, type TinyApp } from '../tiny-app.ts';

const plain = (text: string) => ({ type: 'plain_text' as const, text });

describeInBrowser('the page on the local workspace', () => {
  const browser = useBrowser();
  let slack: LocalSlack;
  let app: TinyApp;
  let token: string;
  let url: string;
  beforeAll(async () => {
    slack = await startLocalSlack({ port: await portOfPages(), pageDir: await buildPage() });
    app = await startTinyApp(() => slack.app.signingSecret);
    slack.deliverTo(app.url);
    const users = [{ id: 'U0ANNA', name: 'anna', real_name: 'Anna Berg', is_admin: true }];
    const channels = [{ id: 'C0DEPLOY', name: 'deploys' }];
    token = slack.addWorkspace({ id: 'T0ACME', users, channels }).botToken;
    url = `${slack.origin}/#/T0ACME/U0ANNA/C0DEPLOY`;
  });
  afterAll(async () => {
    await app.stop();
    await slack.stop();
  });

  it('carries a command to the app, its modal to the person, and the submission back', async () => {
    const client = clientOf(slack, token);
    const input = { type: 'plain_text_input' as const, action_id: 'account' };
    const view = {
      type: 'modal' as const,
      callback_id: 'connect',
      title: plain('Connect'),
      submit: plain('Connect'),
      blocks: [{ type: 'input' as const, block_id: 'account', label: plain('Account'), element: input }],
    };
    app.reply(async ({ payload }) => {
      if (payload.command) await client.views.open({ trigger_id: payload.trigger_id, view });
      if (payload.type !== 'view_submission') return {};
      const { value } = payload.view.state.values.account.account;
      if (value === 'taken')
        return { body: { response_action: 'errors', errors: { account: 'No such account' } } };
      await client.chat.postMessage({ channel: 'C0DEPLOY', text: `Connected *${value}*` });
      return {};
    });
    const page = await browser.openWorkspace(url);
    await page.getByRole('textbox', { name: 'Message #deploys' }).fill('/deckhand connect');
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Connect' });
    await dialog.waitFor();
    slack.as('T0ACME', 'U0ANNA').fill('connect', { account: 'filled elsewhere' });
    await expect.poll(() => dialog.getByLabel('Account').inputValue()).toBe('filled elsewhere');
    await dialog.getByLabel('Account').fill('taken');
    await dialog.getByRole('button', { name: 'Connect' }).click();
    await dialog.getByText('No such account').waitFor();
    await dialog.getByLabel('Account').fill('acme');
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('article').getByText('Connected acme').waitFor();
  });

  it('follows a message from posting over edits to its thread, and sends presses back', async () => {
    const client = clientOf(slack, token);
    const page = await browser.openWorkspace(url);
    await page.getByRole('textbox', { name: 'Message #deploys' }).waitFor();
    const button = { type: 'button' as const, action_id: 'again', text: plain('Run again'), value: 'run-1' };
    const blocks = (text: string) => [
      { type: 'section' as const, text: { type: 'mrkdwn' as const, text } },
      { type: 'actions' as const, elements: [button] },
    ];
    const channel = 'C0DEPLOY';
    const { ts = '' } = await client.chat.postMessage({
      channel,
      text: 'running',
      blocks: blocks('*running*'),
    });
    const root = page.getByRole('article').filter({ has: page.getByRole('button', { name: 'Run again' }) });
    await root.getByText('running').waitFor();
    await client.chat.postMessage({ channel, thread_ts: ts, text: 'web-1 is reachable' });
    await client.chat.update({ channel, ts, text: 'done', blocks: blocks('*7 of 7 reachable*') });
    await root.getByText('7 of 7 reachable').waitFor();
    await root.getByRole('button', { name: /1 reply/ }).click();
    await page.getByRole('complementary', { name: 'Thread' }).getByText('web-1 is reachable').waitFor();
    const pressed = Promise.withResolvers<unknown>();
    app.reply(({ payload }) => {
      pressed.resolve(payload.actions[0]);
      return {};
    });
    await root.getByRole('button', { name: 'Run again' }).first().click();
    expect(await pressed.promise).toMatchObject({ action_id: 'again', value: 'run-1', type: 'button' });
  });

  it('says through Slackbot what the app did not take', async () => {
    app.reply(() => ({ status: 500 }));
    const page = await browser.openWorkspace(url);
    await page.getByRole('textbox', { name: 'Message #deploys' }).fill('/deckhand boom');
    await page.keyboard.press('Enter');
    const notice = page.getByRole('article').filter({ hasText: 'Slackbot' });
    await notice.getByText('/deckhand failed with the error').waitFor();
    expect(await notice.innerText()).toContain('Only visible to you');
  });

  it('opens the app’s Home as the app publishes it', async () => {
    const client = clientOf(slack, token);
    app.reply(async ({ payload }) => {
      if (payload.event?.type !== 'app_home_opened') return {};
      const blocks = [{ type: 'header' as const, text: plain('Your deployments') }];
      await client.views.publish({ user_id: payload.event.user, view: { type: 'home', blocks } });
      return {};
    });
    const page = await browser.openWorkspace(url);
    await page.getByRole('button', { name: 'Deckhand Home' }).click();
    await page.getByRole('region', { name: 'Deckhand Home' }).getByText('Your deployments').waitFor();
  });

  it('is led about by whoever gives a tour', async () => {
    const client = clientOf(slack, token);
    const { ts: root = '' } = await client.chat.postMessage({ channel: 'C0DEPLOY', text: 'A root' });
    await client.chat.postMessage({ channel: 'C0DEPLOY', thread_ts: root, text: 'A reply' });
    const page = await browser.openWorkspace(`${slack.origin}/#/T0ACME/U0ANNA/home/${slack.app.appId}`);
    await page.getByText('Connected', { exact: true }).waitFor({ state: 'attached' });
    slack.lead('T0ACME', 'U0ANNA', { channel: 'C0DEPLOY', thread: root });
    await page.getByRole('complementary', { name: 'Thread' }).getByText('A reply').waitFor();
    slack.lead('T0ACME', 'U0ANNA', 'home');
    await page.getByRole('region', { name: 'Deckhand Home' }).waitFor();
  });
});
