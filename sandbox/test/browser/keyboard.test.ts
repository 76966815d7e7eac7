import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, it } from 'vitest';
import { openTestWorld, type TestWorld } from '../../../test/support/test-world.ts';
import { describeInBrowser, useBrowser } from '../support/browser.ts';
import { connectDemo, visit, walkTo } from './workspace.ts';

describeInBrowser('a day’s work by keyboard alone', () => {
  const browser = useBrowser();
  let world: TestWorld;
  beforeAll(async () => {
    world = await openTestWorld({ seed: 'demo', page: true });
    await connectDemo(world);
  });
  afterAll(() => world.stop());

  it('opens a channel, completes a command, and presses a button in a message', async () => {
    const { page } = await visit(browser, world, 'admin', 'C0BILLING');
    await focused(page.getByRole('textbox', { name: 'Message #billing' }));
    await walkTo(page, 'Shift+Tab', page.getByRole('button', { name: 'deploys', exact: true }));
    await page.keyboard.press('Enter');
    await focused(page.getByRole('textbox', { name: 'Message #deploys' }));
    await page.keyboard.type('/deck');
    await page.keyboard.press('Tab');
    await page.keyboard.type('te');
    await page.keyboard.press('Tab');
    await page.keyboard.type('billing-api');
    await page.keyboard.press('Enter');

    const messages = page.getByRole('region', { name: 'Messages in #deploys' });
    const again = messages.getByRole('button', { name: 'Run again' });
    await again.waitFor();
    await walkTo(page, 'Shift+Tab', messages);
    await page.keyboard.press('ArrowUp');
    await walkTo(page, 'Tab', again);
    await page.keyboard.press('Enter');
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
    await page.keyboard.type('by five');
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
    await form
      .getByText(/five fields/)
      .first()
      .waitFor();
    await walkTo(page, 'Tab', form.getByLabel('Cron fields'));
    await page.keyboard.press('End');
    await page.keyboard.type(' *');
    await page.keyboard.press('Enter');
    await form.getByText(/Next, in your own time/).waitFor();
    await walkTo(page, 'Tab', form.getByRole('button', { name: 'Add', exact: true }));
    await page.keyboard.press('Enter');
    await messages.getByText(/set up the digest .*today/).waitFor();
    await focused(composer);
  });
});

function focused(where: Locator): Promise<void> {
  return where.and(where.page().locator(':focus')).waitFor();
}
