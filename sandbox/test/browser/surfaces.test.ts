import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { linkQuestionPage, pageOf } from '../../../src/views/public/pages.ts';
import { byLength } from '../../../test/support/length.ts';
import { CHANNEL, openTestWorld, PEOPLE, TEAM, type TestWorld } from '../../../test/support/test-world.ts';
import { seriousFaults } from '../support/axe.ts';
import { describeInBrowser, useBrowser } from '../support/browser.ts';
import { connectDemo, visit, walkTo } from './workspace.ts';

/** Without the messages that were scanned before: a scan takes as long as there are elements. */
const EMPTY = 'C0BILLING';

/** In light at a usual width, and in dark at a narrow one. */
async function expectAccessibleInEveryLook(page: Page): Promise<void> {
  expect(await seriousFaults(page)).toEqual([]);
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.setViewportSize({ width: 400, height: 900 });
  expect(await seriousFaults(page)).toEqual([]);
  await page.setViewportSize({ width: 1180, height: 900 });
  await page.emulateMedia({ colorScheme: 'light' });
}

/** The same; the short form leaves the second look to the first test, whose messages have all that these have. */
const expectAccessible = byLength(
  async (page: Page) => expect(await seriousFaults(page)).toEqual([]),
  expectAccessibleInEveryLook,
);

describeInBrowser('what Deckhand says, to assistive technology and by keyboard', () => {
  const browser = useBrowser();
  let world: TestWorld;
  beforeAll(async () => {
    world = await openTestWorld({ seed: 'demo', page: true });
    for (const channel of [CHANNEL, EMPTY]) world.slack.invite(TEAM, channel, 'bot');
    await connectDemo(world);
  });
  afterAll(() => world.stop());

  it('messages with buttons, menus, tables and charts have no serious fault', async () => {
    const { page, messages, ...at } = await visit(browser, world, 'admin', CHANNEL);
    const asked: ReadonlyArray<readonly [line: string, seen: Locator]> = [
      ['/deckhand help', messages.getByRole('button', { name: 'Administer' })],
      ['/deckhand tets storefront', messages.getByRole('button', { name: 'test storefront' })],
      ['/deckhand hosting', messages.getByPlaceholder('Show one')],
      ['/deckhand server show', messages.getByPlaceholder('Choose a project')],
      ['/deckhand projects', messages.getByRole('button', { name: 'Test access' }).first()],
      ['/deckhand activity stats', messages.getByText('Deployments per day').first()],
    ];
    for (const [line, seen] of asked) {
      await at.type(line);
      await seen.waitFor();
    }
    await at.type('@deckhand what was deployed last week');
    await messages.getByText('Which of these did you mean?').waitFor();
    await expectAccessibleInEveryLook(page);
  });

  it('a watch is edited, stopped and brought back by keyboard alone', async () => {
    await world.as('admin').command(EMPTY, '/deckhand watch storefront failures');
    const { page, messages, dialog } = await visit(browser, world, 'admin', EMPTY);
    const press = pressing(page, messages);
    await press('Edit');
    const form = dialog('Edit a watch');
    await form.waitFor();
    await expectAccessible(page);
    await walkTo(page, 'Tab', form.getByRole('textbox', { name: 'Working hours' }));
    await page.keyboard.type('9-18');
    await walkTo(page, 'Tab', form.getByRole('button', { name: 'Save' }));
    await page.keyboard.press('Enter');
    await form.waitFor({ state: 'detached' });
    await press('Remove');
    await walkTo(page, 'Tab', page.getByRole('alertdialog').getByRole('button', { name: 'Remove' }));
    await page.keyboard.press('Enter');
    await messages.getByRole('button', { name: 'Undo' }).last().waitFor();
    await press('Undo');
    await messages.getByText('restored the watch').waitFor();
    await expectAccessible(page);
  });

  it('access is asked for and given by keyboard alone', async () => {
    await world.as('member').command(CHANNEL, '/deckhand use storefront');
    const requester = await visit(browser, world, 'member', CHANNEL);
    await pressing(requester.page, requester.messages)('Ask for access');
    await requester.messages.getByText('The answer comes by direct message').waitFor();
    await expectAccessible(requester.page);
    const [wish] = world.slack.dms(TEAM, PEOPLE.admin).slice(-1);
    const admin = await visit(browser, world, 'admin', wish?.channel ?? '');
    await expectAccessible(admin.page);
    const wishes = admin.page.getByRole('region', { name: /^Messages/ });
    await pressing(admin.page, wishes)('Allow');
    await wishes.getByText('gave').waitFor();
  });

  it('the page that asks before linking is gone through by keyboard', async () => {
    const page = await browser.open(`${world.origin}/privacy`);
    const asked = { name: 'Ben Member', email: 'ben@house.example', workspace: 'House' };
    const form = { action: '/service/oauth/start', fields: { state: 's' } };
    await page.setContent(pageOf(linkQuestionPage(asked, form, '/deckhand')));
    await expectAccessibleInEveryLook(page);
    await walkTo(page, 'Tab', page.getByRole('button', { name: 'Continue to the service' }));
  });

  it.for(['/', '/privacy'])('the public page %s has no serious fault', async (path) => {
    const page = await browser.open(`${world.origin}${path}`);
    await page.getByRole('heading').first().waitFor();
    await expectAccessibleInEveryLook(page);
  });
});

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
