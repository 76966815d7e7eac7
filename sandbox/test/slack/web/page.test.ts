import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { portOfPages } from '../../../../test/support/free-port.ts';
import type { LocalSlack } from '../../../slack/local-slack.ts';
import { startLocalSlack } from '../../../slack/server.ts';
import { buildPage } from '../../../slack/web/build.ts';
import { seriousColourFaults, seriousFaults } from '../../support/axe.ts';
import { describeInBrowser, useBrowser } from '../../support/browser.ts';
import { clientOf } from '../setting.ts';
import { startTinyApp, type TinyApp } from '../tiny-app.ts';
import { CHART, CHOICES, DATA_TABLE, FORM, HOSTILE, hostile, OPTIONS, plain, RUN } from './blocks.ts';

const TEAM = 'T0ACME';

describeInBrowser('the page of the local Slack', () => {
  const browser = useBrowser();
  let slack: LocalSlack;
  let app: TinyApp;
  let client: ReturnType<typeof clientOf>;
  beforeAll(async () => {
    slack = await startLocalSlack({ port: await portOfPages(), pageDir: await buildPage() });
    app = await startTinyApp(() => slack.app.signingSecret);
    slack.deliverTo(app.url);
    const users = [
      { id: 'U0ANNA', name: 'anna', real_name: 'Anna Berg', is_admin: true },
      { id: 'U0MAX', name: 'max', real_name: 'Max Okafor' },
    ];
    const channels = ['deploys', 'forms', 'blocks', 'faults'].map((name) => ({ id: `C0${name}`, name }));
    client = clientOf(slack, slack.addWorkspace({ id: TEAM, users, channels }).botToken);
  });
  afterAll(async () => {
    await app.stop();
    await slack.stop();
  });

  async function visit(channel: string, options = {}): Promise<Page> {
    app.reply(() => ({}));
    const page = await browser.openWorkspace(`${slack.origin}/#/${TEAM}/U0ANNA/C0${channel}`, options);
    await page.getByRole('textbox', { name: `Message #${channel}` }).waitFor();
    return page;
  }

  async function post(channel: string, args: object): Promise<string> {
    return (await client.chat.postMessage({ channel: `C0${channel}`, text: 'x', ...args })).ts ?? '';
  }

  /** The next interaction of this type; the app answers it with `body`. */
  function next(type: string, body: unknown = ''): Promise<Record<string, unknown>> {
    return new Promise((resolve) => {
      app.reply(({ payload }) => {
        if (payload.type === 'block_suggestion') return { body: OPTIONS };
        if (payload.type !== type) return {};
        resolve(payload);
        return { body };
      });
    });
  }

  async function expectAccessible(page: Page): Promise<void> {
    expect(await seriousFaults(page)).toEqual([]);
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await seriousColourFaults(page)).toEqual([]);
    await page.emulateMedia({ colorScheme: 'light' });
  }

  it('follows a message over edits to its thread and back, and presses its buttons once', async () => {
    const page = await visit('deploys');
    const channel = 'C0deploys';
    const ts = await post('deploys', { blocks: RUN('*running*') });
    const root = page.getByRole('article').filter({ has: page.getByRole('button', { name: 'Test again' }) });
    await root.getByText('running').waitFor();
    await post('deploys', { thread_ts: ts, text: 'web-1 is reachable' });
    const blocks = RUN('*7 of 7 reachable*');
    await client.apiCall('chat.update', { channel, ts, text: 'done', blocks });
    await root.getByText('7 of 7 reachable').waitFor();
    await root.getByText('(edited)').waitFor();
    await root.getByRole('button', { name: /1 reply/ }).click();
    const thread = page.getByRole('complementary', { name: 'Thread' });
    await thread.getByText('web-1 is reachable').waitFor();
    await expectAccessible(page);
    await thread.getByRole('textbox').fill('Thanks');
    await page.keyboard.press('Enter');
    await thread.getByText('Thanks').waitFor();
    await page.keyboard.press('Escape');
    await thread.waitFor({ state: 'detached' });
    const summary = root.getByRole('button', { name: /2 replies/ });
    await summary.and(page.locator(':focus')).waitFor();

    const before = app.received.length;
    const actions = () => app.received.at(-1)?.payload.actions;
    const both = Promise.withResolvers<object>();
    app.reply(() => both.promise);
    await root.getByRole('button', { name: 'Test again' }).dblclick();
    both.resolve({});
    await expect.poll(actions).toMatchObject([{ value: 'run-1', type: 'button' }]);
    const dialog = page.getByRole('alertdialog', { name: 'Disconnect acme?' });
    const disconnect = root.getByRole('button', { name: 'Disconnect' });
    await disconnect.click();
    await dialog.getByRole('button', { name: 'Keep it' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(app.received).toHaveLength(before + 1);
    await disconnect.click();
    await dialog.getByRole('button', { name: 'Disconnect' }).click();
    await expect.poll(actions).toMatchObject([{ action_id: 'disconnect' }]);
    await client.chat.delete({ channel, ts });
    await root.waitFor({ state: 'detached' });
  });

  it('sends what is chosen in lists, boxes and menus', async () => {
    const ts = await post('deploys', { blocks: CHOICES });
    const page = await visit('deploys');
    const chosen = async (act: () => Promise<void>) => {
      const payload = next('block_actions');
      await act();
      return ((await payload).actions as object[])[0];
    };
    const option = (name: string) => () => page.getByRole('option', { name }).click();
    const choose = async (name: string, choice: string) => {
      await page.getByRole('combobox', { name }).click();
      return chosen(option(choice));
    };
    expect(await choose('Choose a project', 'API')).toMatchObject({ selected_option: { value: 'api' } });
    expect(await choose('Choose a person', 'Max')).toMatchObject({ selected_user: 'U0MAX' });
    expect(await choose('Choose a channel', 'forms')).toMatchObject({ selected_channel: 'C0forms' });
    const tick = () => page.getByRole('checkbox', { name: 'on start' }).check();
    const both = [{ value: 'start' }, { value: 'failure' }];
    expect(await chosen(tick)).toMatchObject({ selected_options: both });
    const more = page.getByRole('button', { name: 'More actions' }).last();
    await more.focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Escape');
    await more.and(page.locator(':focus')).waitFor();
    await more.click();
    const edited = [RUN('It is edited meanwhile.')[1], ...CHOICES];
    await client.apiCall('chat.update', { channel: 'C0deploys', ts, text: 'x', blocks: edited });
    await page.getByText('It is edited meanwhile.').waitFor();
    const mute = () => page.getByRole('menuitem', { name: 'Mute this run' }).click();
    expect(await chosen(mute)).toMatchObject({ type: 'overflow', selected_option: { value: 'mute' } });
    app.reply(() => ({ body: OPTIONS }));
    await page.getByRole('combobox', { name: 'Find a server' }).fill('web');
    expect(await chosen(option('web-1'))).toMatchObject({ selected_option: { value: 's1' } });
  });

  it('opens a form, keeps what was typed over updates, puts faults under fields, and sends all of it', async () => {
    const page = await visit('forms');
    app.reply(async ({ payload }) => {
      if (payload.command) await client.apiCall('views.open', { trigger_id: payload.trigger_id, view: FORM });
      return {};
    });
    const composer = page.getByRole('textbox', { name: 'Message #forms' });
    await composer.fill('/deckhand add');
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Add a server' });
    const name = dialog.getByRole('textbox', { name: 'Name' });
    await name.and(page.locator(':focus')).waitFor();
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Shift+Tab');
    await dialog.getByRole('button', { name: 'Add server' }).and(page.locator(':focus')).waitFor();
    await name.fill('web-8');
    await dialog.getByRole('combobox', { name: 'Regions' }).click();
    await expectAccessible(page);
    for (const region of ['Lisbon', 'Osaka']) await page.getByRole('option', { name: region }).click();
    await page.keyboard.press('Escape');
    const dispatched = next('block_actions');
    await dialog.getByRole('combobox', { name: 'Kind' }).fill('static');
    await page.keyboard.press('Enter');
    const { view } = (await dispatched) as { view: { id: string } };
    const title = plain('Add a site');
    await client.apiCall('views.update', { view_id: view.id, view: { ...FORM, title } });
    const site = page.getByRole('dialog', { name: 'Add a site' });
    const field = site.getByRole('textbox', { name: 'Name' });
    expect(await field.inputValue()).toBe('web-8');
    expect(await site.getByRole('combobox', { name: 'Kind' }).inputValue()).toBe('Static hosting');
    await site.getByRole('checkbox', { name: 'When it fails' }).check();
    await site.getByRole('radio', { name: 'Large' }).check();
    const faulty = next('view_submission', { response_action: 'errors', errors: { name: 'web-8 is taken' } });
    const add = site.getByRole('button', { name: 'Add server' });
    await add.click();
    expect(((await faulty).view as { state: object }).state).toMatchObject({
      values: {
        name: { name: { value: 'web-8' } },
        kind: { kind: { selected_option: { value: 'static' } } },
        port: { port: { value: '22' } },
        region: { region: { selected_options: [{ value: 'lis' }, { value: 'osa' }] } },
        flags: { flags: { selected_options: [{ value: 'failure' }] } },
        plan: { plan: { selected_option: { value: 'large' } } },
        day: { day: { selected_date: '2026-03-02' } },
        hour: { hour: { selected_time: '09:30' } },
        notes: { notes: { value: null } },
      },
    });
    await site.getByText('web-8 is taken').waitFor();
    expect(await field.getAttribute('aria-invalid')).toBe('true');
    await field.fill('web-9');
    await site.getByText('web-8 is taken').waitFor({ state: 'detached' });
    app.reply(() => ({ status: 500 }));
    await add.click();
    await page.getByRole('alert').getByText('We had some trouble connecting. Try again?').waitFor();
    await page.keyboard.press('Escape');
    await composer.and(page.locator(':focus')).waitFor();
  });

  it('draws charts, tables and pictures with their words, and takes foreign text for text', async () => {
    const page = await visit('blocks', { viewport: { width: 1200, height: 2000 } });
    const requests: string[] = [];
    page.on('request', (request) => requests.push(request.url()));
    await post('blocks', { blocks: [CHART('bar'), CHART('line')] });
    await post('blocks', { blocks: [DATA_TABLE] });
    await post('blocks', { text: hostile, username: hostile, blocks: HOSTILE });
    const file = await readFile(join(import.meta.dirname, 'chart.png'));
    const { files } = await client.filesUploadV2({ file, filename: 'chart.png' });
    const id = files[0]?.files?.[0]?.id;
    await post('blocks', { blocks: [{ type: 'image', alt_text: 'Bars: 5, 8', slack_file: { id } }] });
    const bars = page.getByRole('img', { name: 'Deployments, bar, bar chart' });
    await bars.waitFor();
    expect(await bars.locator('rect title').allTextContents()).toContain('Succeeded, Mon: 12');
    const numbers = page.getByRole('table', { name: 'Deployments, bar' });
    expect(await numbers.getByRole('row', { name: /^Tue/ }).innerText()).toMatch(/18\s+-9/);
    const table = page.getByRole('region', { name: 'Invoices of this year' });
    await table.getByRole('rowheader', { name: 'INV-5', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Next' }).click();
    await table.getByRole('rowheader', { name: 'INV-6', exact: true }).waitFor();
    await page.getByText('2 of 3').waitFor();
    await page.getByRole('img', { name: 'Bars: 5, 8' }).waitFor();
    const message = page.getByRole('article').filter({ hasText: 'press me' });
    expect(await message.innerText()).toContain('<img src=x onerror="window.hacked=1">');
    expect(await page.locator('.image-missing, article script, article iframe, [onerror]').count()).toBe(0);
    await message.getByText('press me').click();
    expect(await page.evaluate("'hacked' in window")).toBe(false);
    expect(requests.filter((url) => !url.startsWith(slack.origin))).toEqual([]);

    // A telephone, names without end, and a language that is read from right to left.
    const arabic = 'مشروع المتجر الإلكتروني';
    const texts = ['Extraordinarilylongname'.repeat(100), `${arabic}: web-1`];
    const sections = texts.map((text) => ({ type: 'section', text: { type: 'mrkdwn', text } }));
    await post('blocks', { blocks: sections });
    await page.setViewportSize({ width: 390, height: 844 });
    const list = page.getByRole('region', { name: 'Messages in #blocks' });
    await list.getByText(`${arabic}: web-1`).and(page.locator(':dir(rtl)')).waitFor();
    const wide = '[...document.querySelectorAll(".message-list, .message-main, body")]';
    expect(await page.evaluate(`${wide}.filter((box) => box.scrollWidth > box.clientWidth).length`)).toBe(0);
    await page.getByRole('button', { name: 'Open side bar' }).click();
    await page.getByRole('button', { name: 'Close side bar' }).waitFor();
    await expectAccessible(page);
  });

  it('says what is new, and what the app did not take, to the person alone and in the side panel', async () => {
    slack.setControls([{ id: 'slow', label: 'Slack is slow', kind: 'switch', run: () => undefined }]);
    const page = await visit('faults');
    await slack.as(TEAM, 'U0MAX').postMessage('deploys', 'An invoice is in');
    await page.getByRole('button', { name: 'deploys, unread' }).waitFor();
    await slack.as(TEAM, 'U0MAX').postMessage('deploys', '@anna look');
    await page.getByRole('button', { name: 'deploys, 1 unread' }).waitFor();
    await slack.as(TEAM, 'U0MAX').postMessage('faults', '@anna, trying *again*');
    const announcer = page.getByTestId('announcer');
    await announcer.getByText('New message from Max Okafor: @Anna Berg, trying again').waitFor();
    app.reply(() => ({ status: 500 }));
    const field = page.getByRole('textbox', { name: 'Message #faults' });
    await field.fill('/nothing here');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('/nothing is not a valid command.').waitFor();
    expect(await field.inputValue()).toBe('/nothing here');
    await field.fill('/deckhand boom');
    await page.keyboard.press('Enter');
    const notice = page.getByRole('article').filter({ hasText: 'Slackbot' });
    await notice.getByText('/deckhand failed with the error').waitFor();
    expect(await notice.innerText()).toContain('Only visible to you');
    await page.reload();
    await page.getByRole('article').getByText('trying again').waitFor();
    expect(await notice.count()).toBe(0);
    await page.getByRole('button', { name: 'Inspector', exact: true }).click();
    const deliveries = page.getByRole('list', { name: 'Deliveries' });
    await deliveries.getByRole('button', { name: /deckhand boom/ }).click();
    await page.getByText('"text": "boom"').waitFor();
    await page.getByRole('tab', { name: 'API calls' }).click();
    await page.getByRole('list', { name: 'API calls' }).getByText('chat.postMessage').first().waitFor();
    await page.getByRole('tab', { name: 'Faults' }).click();
    await page.getByRole('switch', { name: 'Slack is slow' }).click();
    await page.getByRole('switch', { name: 'Slack is slow', checked: true }).waitFor();
    await page.getByRole('button', { name: /Switch user, now Anna Berg/ }).click();
    await expectAccessible(page);
    await page.getByRole('menuitemradio', { name: /Max Okafor/ }).click();
    await page.getByRole('button', { name: /Switch user, now Max Okafor/ }).waitFor();
  });
});
