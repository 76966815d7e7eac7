import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { describeInBrowser, useBrowser } from '../../support/browser.ts';
import { fewMessages, replies, testRun } from './fixture-messages.ts';
import { formView } from './fixture-views.ts';
import { channels } from './fixture-workspace.ts';
import { hostFurnishedPage } from './furnished-page.ts';
import type { PageHost } from './page-host.ts';

describeInBrowser('the page by keyboard alone', () => {
  const browser = useBrowser();
  let host: PageHost;
  beforeAll(async () => {
    host = await hostFurnishedPage();
  });
  beforeEach(() => host.answer('messages', { messages: fewMessages }));
  afterAll(() => host.stop());

  it('writes, completes and sends commands', async () => {
    const page = await browser.openWorkspace(host.url);
    const field = page.getByRole('textbox', { name: 'Message #deploys' });
    await field.waitFor();
    await page.keyboard.type('/deck');
    await page.keyboard.press('Tab');
    expect(await field.inputValue()).toBe('/deckhand ');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    expect(await activeOption(page)).toContain('/deckhand test');
    await page.keyboard.press('Enter');
    await page.keyboard.type('storefront web-2');
    await page.keyboard.press('Tab');
    expect(await focusedLabel(page), 'with nothing to complete, Tab moves on').toBe('Start a command');
    await field.focus();
    const sent = host.nextPost('commands');
    await page.keyboard.press('Enter');
    expect(await sent).toMatchObject({
      channel: channels.deploys,
      command: '/deckhand',
      text: 'test storefront web-2',
    });
    await page.keyboard.press('ArrowUp');
    expect(await field.inputValue()).toBe('/deckhand test storefront web-2');
  });

  it('sends messages as they were typed, over several lines', async () => {
    const page = await browser.openWorkspace(host.url);
    await page.getByRole('textbox', { name: 'Message #deploys' }).waitFor();
    await page.keyboard.type('a < b & @tomas in #deploys');
    await page.keyboard.press('Shift+Enter');
    await page.keyboard.type('mail a@tomas.example');
    const sent = host.nextPost('messages');
    await page.keyboard.press('Enter');
    expect(await sent).toMatchObject({ text: 'a < b & @tomas in #deploys\nmail a@tomas.example' });
  });

  it('gives the text back when it could not be sent', async () => {
    const page = await browser.openWorkspace(host.url);
    const field = page.getByRole('textbox', { name: 'Message #deploys' });
    await field.fill('/nothing here');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('/nothing is not a valid command.').waitFor();
    expect(await field.inputValue()).toBe('/nothing here');
  });

  it('walks from message to message and into one', async () => {
    const page = await browser.openWorkspace(host.url);
    const messages = page.getByRole('region', { name: 'Messages in #deploys' });
    await messages.getByText('Only visible to you').waitFor();
    await messages.focus();
    await page.keyboard.press('ArrowUp');
    expect(await focusedText(page)).toContain('key ends in');
    await page.keyboard.press('Tab');
    expect(await focusedText(page)).toBe('Share');
    await page.keyboard.press('Tab');
    expect(await focusedLabel(page)).toBe('Inspect message');
    await page.keyboard.press('Enter');
    await page.getByRole('tab', { name: 'Message', selected: true }).waitFor();
    expect(await page.getByRole('tabpanel').innerText()).toContain('"ephemeral": true');
  });

  it('opens a thread, writes in it, and comes back to where it was', async () => {
    host.answer('messages', { messages: [testRun, ...replies] });
    const page = await browser.openWorkspace(host.url);
    const summary = page.getByRole('button', { name: /4 replies/ });
    await summary.focus();
    await page.keyboard.press('Enter');
    const reply = page.getByRole('textbox', { name: 'Reply in thread' });
    await reply.waitFor();
    const sent = host.nextPost('messages');
    await page.keyboard.type('Thanks');
    await page.keyboard.press('Enter');
    expect(await sent).toMatchObject({ text: 'Thanks', thread_ts: expect.any(String) });
    await page.keyboard.press('Escape');
    await reply.waitFor({ state: 'detached' });
    expect(await focusedText(page)).toContain('4 replies');
  });

  it('moves in menus and takes the focus back from them', async () => {
    host.answer('messages', { messages: [testRun] });
    const page = await browser.openWorkspace(host.url);
    const more = page.getByRole('button', { name: 'More actions' });
    await more.focus();
    await page.keyboard.press('Enter');
    expect(await focusedText(page)).toContain('Mute this run');
    await page.keyboard.press('ArrowDown');
    expect(await focusedText(page)).toContain('Explain the result');
    await page.keyboard.press('Escape');
    expect(await focusedLabel(page)).toBe('More actions');
  });

  it('keeps the focus inside a modal, and Escape closes a list first and the modal then', async () => {
    const page = await browser.openWorkspace(host.url);
    await page.getByText('Only visible to you').waitFor();
    host.push({ type: 'views', views: [formView] });
    const dialog = page.getByRole('dialog', { name: 'Add a server' });
    await dialog.waitFor();
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Shift+Tab');
    expect(await focusedText(page)).toBe('Add server');
    await page.keyboard.press('Tab');
    expect(await focusedLabel(page)).toBe('Close');
    const kind = dialog.getByRole('combobox', { name: 'Kind' });
    await kind.focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    expect(await activeOption(page)).toContain('Static hosting');
    await page.keyboard.press('Escape');
    expect(await kind.getAttribute('aria-expanded')).toBe('false');
    expect(await dialog.isVisible()).toBe(true);
    const closed = host.nextPost('views/close');
    await page.keyboard.press('Escape');
    expect(await closed).toMatchObject({ view_id: formView.id });
  });

  it('fills fields, lists, boxes and radios, and sends them', async () => {
    const page = await browser.openWorkspace(host.url);
    await page.getByText('Only visible to you').waitFor();
    host.push({ type: 'views', views: [formView] });
    await page.getByRole('dialog', { name: 'Add a server' }).waitFor();
    const press = async (...keys: string[]) => {
      for (const key of keys) await page.keyboard.press(key);
    };
    await page.keyboard.type('web-8');
    await press('Tab', 'ArrowDown', 'ArrowDown', 'Enter');
    await page.getByLabel('Regions').focus();
    await press('Enter', 'Enter', 'Escape', 'Tab');
    await page.getByRole('checkbox').first().focus();
    await press('Space', 'Tab', 'Space');
    await page.getByRole('radio', { name: 'Small' }).focus();
    await press('ArrowDown');
    const sent = host.nextPost('views/submit');
    await page.getByRole('textbox', { name: 'Name' }).focus();
    await press('Enter');
    expect((await sent).state).toMatchObject({
      values: {
        name: { name: { value: 'web-8' } },
        protocol_type: { protocol_type: { selected_option: { value: 'static' } } },
        plan: { plan: { selected_option: { value: 'large' } } },
        region: { region: { selected_options: [expect.anything()] } },
        flags: { flags: { selected_options: [expect.anything(), expect.anything()] } },
      },
    });
  });
});

function focusedText(page: Page): Promise<string | null> {
  return page.locator(':focus').textContent();
}

function focusedLabel(page: Page): Promise<string | null> {
  return page.locator(':focus').getAttribute('aria-label');
}

/** The option that the focused field points at. */
async function activeOption(page: Page): Promise<string | null> {
  const id = await page.locator(':focus').getAttribute('aria-activedescendant');
  return page.locator(`[id="${id}"]`).textContent();
}
