import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeInBrowser, useBrowser } from '../../support/browser.ts';
import {
  deployMessages,
  elements,
  type Fixture,
  fewMessages,
  hostileMessages,
  onlyYou,
  pictures,
  replies,
  rootTs,
  testRun,
} from './fixture-messages.ts';
import { homeView } from './fixture-views.ts';
import { appId, channels, people, workspace } from './fixture-workspace.ts';
import { hostFurnishedPage } from './furnished-page.ts';
import type { PageHost } from './page-host.ts';

describeInBrowser('messages on the page', () => {
  const browser = useBrowser();
  let host: PageHost;
  beforeAll(async () => {
    host = await hostFurnishedPage();
  });
  afterAll(() => host.stop());

  /** The page, with these messages in the channel that it opens. */
  function openWith(messages: readonly Fixture[], options: BrowserContextOptions = {}): Promise<Page> {
    host.answer('messages', { messages });
    return browser.openWorkspace(host.url, options);
  }

  it('draws a run as people know it: fields, table, buttons, edited mark and thread line', async () => {
    const page = await openWith([testRun, ...replies]);
    const run = page.getByRole('article').filter({ hasText: 'Test access: Storefront' });
    await run.getByRole('heading', { name: 'Test access: Storefront' }).waitFor();
    expect(await run.getByRole('columnheader').allTextContents()).toEqual(['Server', 'Result', 'Took']);
    expect(await run.getByRole('row').last().innerText()).toMatch(/web-2\s+.*Connection refused.*10\.0 s/s);
    expect(await run.getByRole('link', { name: 'Open project' }).getAttribute('rel')).toContain('noopener');
    expect(await run.getByText('(edited)').isVisible()).toBe(true);
    expect(await run.getByRole('button', { name: /4 replies/ }).isVisible()).toBe(true);
  });

  it('opens the thread beside the channel, and Escape closes it', async () => {
    const page = await openWith([testRun, ...replies]);
    await page.getByRole('button', { name: /4 replies/ }).click();
    const thread = page.getByRole('complementary', { name: 'Thread' });
    await thread.getByText('On it — the firewall again.').waitFor();
    expect(await thread.getByRole('article').allInnerTexts()).toHaveLength(5);
    await page.keyboard.press('Escape');
    await thread.waitFor({ state: 'detached' });
  });

  it('shows dates in the reader’s own zone', async () => {
    const page = await openWith(fewMessages);
    await page.getByText('Only visible to you').waitFor();
    // Until the session ends. A page of its own, as Playwright has it, costs more than most tests.
    const session = await page.context().newCDPSession(page);
    await session.send('Emulation.setTimezoneOverride', { timezoneId: 'Asia/Tokyo' });
    host.push({ type: 'message', channel: channels.deploys, message: { ...testRun } });
    await page.getByText('Mar 2, 2026 at 6:32 PM').waitFor();
    await session.detach();
  });

  it('marks what only one person sees, previews pictures and offers files', async () => {
    const page = await openWith([pictures, onlyYou]);
    const only = page.getByRole('article').filter({ hasText: 'key ends in' });
    expect(await only.innerText()).toContain('Only visible to you');
    const chart = page.getByRole('img', { name: /Bars: 5, 8/ });
    await chart.waitFor();
    // A picture that does not load gives way to its description.
    expect(await page.locator('.image-missing').count()).toBe(0);
    expect(await page.getByRole('link', { name: 'Download Invoice 2026-031' }).getAttribute('download')).toBe(
      'invoice-2026-031.pdf',
    );
  });

  it('follows what happens: new, changed and deleted messages, and says who wrote', async () => {
    const page = await openWith(fewMessages);
    const messages = page.getByRole('region', { name: 'Messages in #deploys' });
    await messages.getByText('Only visible to you').waitFor();
    const ts = '1772450000.000100';
    const said = { ts, user: people.member, text: 'Trying *again*' };
    host.push({ type: 'message', channel: channels.deploys, message: said });
    await messages.getByText('Trying again').waitFor();
    expect(await page.getByTestId('announcer').innerText()).toBe(
      'New message from Tomas Okafor: Trying again',
    );
    host.push({ type: 'message', channel: channels.deploys, message: { ...said, text: 'All well' } });
    await messages.getByText('All well').waitFor();
    host.push({ type: 'message_deleted', channel: channels.deploys, ts });
    await messages.getByText('All well').waitFor({ state: 'detached' });
  });

  it('stays quick in a long channel: the latest are drawn, earlier ones when asked for', async () => {
    const many = Array.from({ length: 160 }, (_, index) => ({
      ts: `${1_772_000_000 + index}.000100`,
      user: people.member,
      text: `Message ${index}.`,
    }));
    const page = await openWith(many);
    await page.getByText('Message 159.').waitFor();
    expect(await page.getByRole('article').count()).toBe(150);
    await page.getByRole('button', { name: 'Show earlier messages' }).click();
    await page.getByText('Message 0.').waitFor();
  });

  it('keeps to the end while what stands there grows, until one scrolls up', async () => {
    const page = await openWith(deployMessages, { viewport: { width: 1200, height: 500 } });
    await page.getByText('Only visible to you').waitFor();
    const list = "document.querySelector('.message-list')";
    const left = () =>
      page.evaluate<number>(`${list}.scrollHeight - ${list}.scrollTop - ${list}.clientHeight`);
    // A picture may come between a move to the end and the event that tells of the move.
    const grow = (pixels: number) =>
      page.evaluate(
        `${list}.querySelector('.message-slot:last-child').style.paddingBottom = '${pixels}px'; ${list}.dispatchEvent(new Event('scroll'))`,
      );
    await expect.poll(left).toBeLessThan(2);
    await grow(400);
    await expect.poll(left).toBeLessThan(2);
    await page.getByRole('region', { name: 'Messages in #deploys' }).hover();
    await page.mouse.wheel(0, -300);
    await expect.poll(left).toBeGreaterThan(200);
    const before = await left();
    await grow(800);
    await expect.poll(left).toBe(before + 400);
  });

  it('counts what is unread elsewhere', async () => {
    const page = await openWith(fewMessages);
    await page.getByText('Only visible to you').waitFor();
    const message = { ts: '1772450000.000100', user: people.billing, text: 'Invoice is in' };
    host.push({ type: 'message', channel: channels.billing, message });
    await page.getByRole('button', { name: 'billing, 1 unread' }).click();
    await page.getByRole('button', { name: 'billing', exact: true }).waitFor();
  });

  it('reads everything again after the stream was cut', async () => {
    const page = await openWith(fewMessages);
    await page.getByText('Only visible to you').waitFor();
    host.cutStreams();
    await page.getByText('Reconnecting…').waitFor();
    const late = { ts: '1772450001.000100', user: people.member, text: 'Said meanwhile' };
    host.answer('messages', { messages: [...fewMessages, late] });
    host.allowStreams();
    await page.getByText('Said meanwhile').waitFor();
  });

  it('switches between people and workspaces', async () => {
    const page = await openWith(fewMessages);
    await page.getByRole('button', { name: /Switch user, now Mira Lindqvist/ }).click();
    await page.getByRole('menuitemradio', { name: /Tomas Okafor/ }).click();
    await page.getByRole('button', { name: /Switch user, now Tomas Okafor/ }).waitFor();
    expect(await page.getByRole('button', { name: 'billing', exact: true }).count()).toBe(0);
    await page.getByRole('button', { name: 'North Harbour' }).click();
    await page.getByRole('heading', { name: 'general', exact: true }).waitFor();
  });

  it('sends a button once however often it is pressed, with Slack’s own payload', async () => {
    const answered = Promise.withResolvers<Record<string, unknown>>();
    host.answer('actions', () => answered.promise);
    const page = await openWith([testRun]);
    const sent = host.nextPost('actions');
    await page.getByRole('button', { name: 'Run again' }).dblclick();
    expect(await sent).toMatchObject({
      team: workspace.teams[0]?.id,
      user: people.admin,
      container: { type: 'message', channel: channels.deploys, ts: rootTs },
      action: { type: 'button', block_id: 'a', action_id: 'again', value: 'run-7', style: 'primary' },
    });
    answered.resolve({ ok: true });
    await page.locator('[aria-busy=true]').waitFor({ state: 'detached' });
    expect(host.posts.filter(({ path }) => path === 'actions')).toHaveLength(1);
  });

  it('asks before a dangerous press', async () => {
    host.answer('actions', { ok: true });
    const page = await openWith([testRun]);
    await page.getByRole('button', { name: 'Disconnect' }).click();
    const dialog = page.getByRole('alertdialog', { name: 'Disconnect acme?' });
    await dialog.getByRole('button', { name: 'Keep it' }).click();
    await dialog.waitFor({ state: 'detached' });
    const before = host.posts.length;
    await page.getByRole('button', { name: 'Disconnect' }).click();
    const sent = host.nextPost('actions');
    await dialog.getByRole('button', { name: 'Disconnect' }).click();
    expect(await sent).toMatchObject({ action: { action_id: 'disconnect' } });
    expect(host.posts).toHaveLength(before + 1);
  });

  it('sends what is chosen in selects, boxes and menus', async () => {
    host.answer('options', ({ value }) => ({
      options: [{ text: { type: 'plain_text', text: `${value}-1` }, value: 's1' }],
    }));
    const page = await openWith([testRun, elements]);
    const choose = async (name: string, option: string): Promise<unknown> => {
      const sent = host.nextPost('actions');
      await page.getByRole('combobox', { name }).click();
      await page.getByRole('option', { name: option }).click();
      return (await sent).action;
    };
    expect(await choose('Choose a project', 'API')).toMatchObject({
      type: 'static_select',
      action_id: 'project',
      selected_option: { value: 'api' },
    });
    expect(await choose('Choose a person', 'Tomas')).toMatchObject({ selected_user: people.member });
    expect(await choose('Choose a channel', 'deploys')).toMatchObject({ selected_channel: channels.deploys });
    const found = host.nextPost('actions');
    await page.getByRole('combobox', { name: 'Find a server' }).fill('web');
    await page.getByRole('option', { name: 'web-1' }).click();
    expect((await found).action).toMatchObject({ type: 'external_select', selected_option: { value: 's1' } });
    const ticked = host.nextPost('actions');
    await page.getByRole('checkbox', { name: 'on start' }).check();
    expect((await ticked).action).toMatchObject({
      selected_options: [{ value: 'start' }, { value: 'failure' }],
    });
    const muted = host.nextPost('actions');
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Mute this run' }).click();
    expect((await muted).action).toMatchObject({ type: 'overflow', selected_option: { value: 'mute' } });
  });

  it('offers what apps do with a message, to the mouse', async () => {
    const page = await openWith([testRun]);
    const message = page.getByRole('article').filter({ hasText: 'Test access: Storefront' });
    await message.hover();
    await message.getByRole('button', { name: 'More message actions' }).click();
    const sent = host.nextPost('shortcuts');
    const item = page.getByRole('menuitem', { name: 'Test project in message' });
    // As a hand moves: onto the item first, and then it presses.
    await item.hover();
    await item.click();
    expect(await sent).toMatchObject({ channel: channels.deploys, ts: rootTs });
  });

  it('keeps a Home that the app published while it was asked for', async () => {
    const asked = Promise.withResolvers<{ view: null }>();
    host.answer('home', () => asked.promise);
    const page = await openWith(fewMessages);
    await page.getByText('Only visible to you').waitFor();
    // Before the press, or the answer could come before Chromium is asked to tell of it.
    const answered = page.waitForResponse('**/page/home');
    await page.getByRole('button', { name: 'Deckhand Home' }).click();
    await page.getByText('Loading…').waitFor();
    host.push({ type: 'home', app: appId, view: homeView });
    const home = page.getByRole('region', { name: 'Deckhand Home' });
    await home.getByText('Your deployments').waitFor();
    asked.resolve({ view: null });
    await (await answered).finished();
    await page.getByRole('button', { name: 'Inspector', exact: true }).click();
    expect(await home.getByText('Your deployments').isVisible()).toBe(true);
    host.answer('home', { view: homeView });
  });

  it('holds its shape whatever the length of names, and reads right to left what is written so', async () => {
    const long = 'Extraordinarilylongname'.repeat(435);
    const arabic = 'مشروع المتجر الإلكتروني';
    const raw = (text: string) => ({ type: 'raw_text', text });
    const blocks = [
      { type: 'section', text: { type: 'mrkdwn', text: `*${long.slice(0, 2900)}*` } },
      { type: 'section', text: { type: 'mrkdwn', text: `${arabic}: web-1` } },
      {
        type: 'table',
        rows: [
          [raw('Server'), raw('Result')],
          [raw(long), raw(arabic)],
        ],
      },
    ];
    const messages = [{ ts: '1772444000.000100', user: people.bot, username: long, text: long, blocks }];
    const page = await openWith(messages, { viewport: { width: 390, height: 844 } });
    const list = page.getByRole('region', { name: 'Messages in #deploys' });
    await list.getByText(`${arabic}: web-1`).waitFor();
    const wide = '[...document.querySelectorAll(".message-list, .message-main, body")]';
    expect(await page.evaluate(`${wide}.filter((box) => box.scrollWidth > box.clientWidth).length`)).toBe(0);
    const reversed = (text: string) => list.getByText(text, { exact: true }).and(page.locator(':dir(rtl)'));
    expect(await reversed(`${arabic}: web-1`).count()).toBe(1);
    expect(await reversed('Server').count()).toBe(0);
  });

  it('keeps foreign text text, follows no script address and loads nothing from elsewhere', async () => {
    const page = await openWith(hostileMessages);
    const requests: string[] = [];
    page.on('request', (request) => requests.push(request.url()));
    const message = page.getByRole('article');
    await message.getByText('This page does not draw blocks of type “from_the_future”.').waitFor();
    expect(await page.evaluate("'hacked' in window")).toBe(false);
    expect(await message.locator('script, iframe, object, [onerror]').count()).toBe(0);
    const links = await page.getByRole('link').all();
    const addresses = await Promise.all(links.map((link) => link.getAttribute('href')));
    expect(addresses.filter((href) => !/^(?:https?:|\/page\/files\/[^/]+$)/.test(href ?? ''))).toEqual([]);
    await message.getByText('press me').click();
    expect(requests.filter((url) => !url.startsWith(host.url))).toEqual([]);
    expect(await message.innerText()).toContain('<img src=x onerror="window.hacked=1">');
  });
});
