import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { linkQuestionPage, renderPage } from '../../../src/views/public/pages.ts';
import { CHANNEL, openTestWorld, TEAM, type TestWorld } from '../../../test/support/test-world.ts';
import { seriousColourFaults, seriousFaults } from '../support/axe.ts';
import { describeInBrowser, useBrowser } from '../support/browser.ts';
import { closeSent, connectDemo, visit, walkTo } from './workspace.ts';

/** Without the messages that were scanned before: a scan takes as long as there are elements. */
const EMPTY = 'C0BILLING';

/** In light at a usual width, and in dark at a narrow one. */
async function expectAccessible(page: Page): Promise<void> {
  expect(await seriousFaults(page)).toEqual([]);
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.setViewportSize({ width: 400, height: 900 });
  expect(await seriousColourFaults(page)).toEqual([]);
  await page.setViewportSize({ width: 1180, height: 900 });
  await page.emulateMedia({ colorScheme: 'light' });
}

describeInBrowser('a day’s work by keyboard and with assistive technology', () => {
  const browser = useBrowser();
  let world: TestWorld;
  beforeAll(async () => {
    world = await openTestWorld({ seed: 'demo', page: true });
    for (const channel of [CHANNEL, EMPTY]) world.slack.invite(TEAM, channel, 'bot');
    await connectDemo(world);
  });
  afterAll(() => world.stop());

  it('opens a channel, completes a command, and presses a button in a message', async () => {
    const { page } = await visit(browser, world, 'admin', EMPTY);
    await focused(page.getByRole('textbox', { name: 'Message #billing' }));
    await walkTo(page, 'Shift+Tab', page.getByRole('button', { name: 'deploys', exact: true }));
    await page.keyboard.press('Enter');
    await focused(page.getByRole('textbox', { name: 'Message #deploys' }));
    for (const words of ['/deck', 'te']) {
      await page.keyboard.type(words);
      await page.keyboard.press('Tab');
    }
    await page.keyboard.type('billing-api');
    await page.keyboard.press('Enter');
    const messages = page.getByRole('region', { name: 'Messages in #deploys' });
    await messages.getByRole('button', { name: 'Test again' }).waitFor();
    await pressing(page, messages)('Test again');
    await messages
      .getByText(/Billing API: /)
      .nth(1)
      .waitFor();
  });

  it('fills a form of lists, a time and a box, refuses it with Escape, and is back where it was', async () => {
    const { page, dialog, messages } = await visit(browser, world, 'admin');
    const composer = page.getByRole('textbox', { name: 'Message #deploys' });
    const form = dialog('Add a digest');
    const open = async (): Promise<void> => {
      await page.keyboard.type('/deckhand digest add');
      await page.keyboard.press('Enter');
      await focused(form.getByRole('combobox', { name: 'How often' }));
    };
    await focused(composer);
    await open();
    await page.keyboard.press('Escape');
    await form.waitFor({ state: 'detached' });
    await focused(composer);

    await open();
    await page.keyboard.type('by a cron');
    await page.keyboard.press('Enter');
    await form.getByLabel('Cron fields').waitFor();
    await walkTo(page, 'Tab', form.getByLabel('Cron fields'));
    await page.keyboard.type('*/5 * * *');
    await walkTo(page, 'Tab', form.getByRole('combobox', { name: 'What it covers' }));
    await page.keyboard.type('today');
    await page.keyboard.press('Enter');
    await walkTo(page, 'Tab', form.getByRole('checkbox'));
    await page.keyboard.press('Space');
    await walkTo(page, 'Tab', form.getByRole('button', { name: 'Add', exact: true }));
    await page.keyboard.press('Enter');
    // On a loaded machine the refusal replaces the form after two seconds, and then Slack moves no focus.
    const fault = form.getByText(/five fields/).first();
    await fault.waitFor();
    await walkTo(page, 'Tab', form.getByLabel('Cron fields'));
    await page.keyboard.press('End');
    await page.keyboard.type(' *');
    await page.keyboard.press('Enter');
    await form.getByText(/Next, in your own time/).waitFor();
    await walkTo(page, 'Tab', form.getByRole('button', { name: 'Add', exact: true }));
    await page.keyboard.press('Enter');
    await messages.getByText(/Set up: the digest .*today/).waitFor();
    await closeSent(form);
    await focused(composer);
  });

  it('reads messages with buttons, menus, tables and charts', async () => {
    const { page, messages, ...at } = await visit(browser, world, 'admin', CHANNEL);
    const asked: [line: string, seen: Locator][] = [
      ['/deckhand help', messages.getByRole('button', { name: 'Administer' })],
      ['/deckhand hosting', messages.getByPlaceholder('Show one')],
      ['/deckhand server show', messages.getByPlaceholder('Choose a project')],
      ['/deckhand projects', messages.getByRole('button', { name: 'Test access' }).first()],
      ['/deckhand activity stats', messages.getByText('Deployments per day').first()],
      ['we should let @deckhand test storefront', messages.getByText('Which of these did you mean?')],
    ];
    for (const [line, seen] of asked) {
      await at.type(line);
      await seen.waitFor();
    }
    await expectAccessible(page);
  });

  it('edits a watch, stops it, and brings it back', async () => {
    await world.as('admin').command(EMPTY, '/deckhand watch storefront failures');
    const { page, messages, dialog, type } = await visit(browser, world, 'admin', EMPTY);
    const press = pressing(page, messages);
    await type('/deckhand watch edit');
    const form = dialog('Edit a watch');
    await form.waitFor();
    await expectAccessible(page);
    await walkTo(page, 'Tab', form.getByRole('textbox', { name: 'Working hours' }));
    await page.keyboard.type('9-18');
    await walkTo(page, 'Tab', form.getByRole('button', { name: 'Save' }));
    await page.keyboard.press('Enter');
    await messages.getByText('Edited: the watch').waitFor();
    await closeSent(form);
    await type('/deckhand unwatch');
    await messages.getByRole('button', { name: 'Undo' }).last().waitFor();
    await press('Undo');
    await messages.getByText('Restored: the watch').waitFor();
    await expectAccessible(page);
  });

  it('goes through the public pages, and the page that asks before linking', async () => {
    for (const path of ['/', '/privacy']) {
      const page = await browser.open(`${world.origin}${path}`);
      await page.getByRole('heading').first().waitFor();
      await expectAccessible(page);
    }
    const page = await browser.open(`${world.origin}/privacy`);
    const person = { name: 'Ben Member', email: 'ben@house.example', workspace: 'House' };
    const form = { action: '/service/oauth/start', fields: { state: 's' } };
    await page.setContent(renderPage(linkQuestionPage(person, form, '/deckhand')));
    await expectAccessible(page);
    await walkTo(page, 'Tab', page.getByRole('button', { name: 'Continue to the service' }));
  });
});

function focused(where: Locator): Promise<void> {
  return where.and(where.page().locator(':focus')).waitFor();
}

/** Walks up to the last button of this name, and presses Enter. */
function pressing(page: Page, messages: Locator): (name: string) => Promise<void> {
  return async (name) => {
    const button = messages.getByRole('button', { name, exact: true }).last();
    await button.waitFor();
    await walkTo(page, 'Shift+Tab', messages);
    await page.keyboard.press('End');
    await walkTo(page, 'Tab', button);
    await page.keyboard.press('Enter');
  };
}
