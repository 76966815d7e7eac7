import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { HOOK_TYPES, propertiesOf } from '../../../src/service/integrations.ts';
import { CHANNEL, openTestWorld, type TestWorld } from '../../../test/support/test-world.ts';
import { describeInBrowser, takePicture, useBrowser } from '../support/browser.ts';
import { connectDemo, README_SIZE, visit } from './workspace.ts';

describeInBrowser('forms, as a person fills them', () => {
  const browser = useBrowser();
  let world: TestWorld;
  beforeAll(async () => {
    world = await openTestWorld({ seed: 'demo', page: true });
    await connectDemo(world);
  });
  afterAll(() => world.stop());

  it('asks for exactly what each type of integration needs, and says under a field what is wrong with it', async () => {
    const { page, type, dialog, messages } = await visit(browser, world, 'admin', CHANNEL, README_SIZE);
    await type('/deckhand integration add storefront');
    const form = dialog('Add an integration');
    const menu = form.getByRole('combobox', { name: 'Type' });
    for (const hook of HOOK_TYPES) {
      await menu.fill(`(${hook.label})`);
      await page.keyboard.press('Enter');
      const version = hook.versions.length > 0 ? ['properties.hook_version'] : [];
      const wanted = [...version, ...propertiesOf(hook).map(({ key }) => `properties.${key}`)];
      await expect.poll(() => asked(page), { message: hook.label }).toEqual(wanted.toSorted());
    }
    await form.getByLabel('Name', { exact: true }).fill('Deployments to the team');
    await form.getByLabel('Bot token').fill('100:made-up-token');
    await form.getByLabel('Chat ID').fill('deployments');
    await form.getByRole('checkbox', { name: /fail/i }).check();
    await form.getByRole('button', { name: 'Add', exact: true }).click();
    await form.getByText(/@/).last().waitFor();
    await takePicture(page, 'integration-add');
    await form.getByLabel('Chat ID').fill('@deployments');
    await form.getByRole('button', { name: 'Add', exact: true }).click();
    await messages
      .getByText(/Deployments to the team/)
      .first()
      .waitFor();
  });

  /** The fields for the type's own settings, as the page has them. */
  const asked = async (page: Page) => (await page.evaluate<string[]>(ASKED)).toSorted();
  const ASKED =
    "Array.from(document.querySelectorAll('[data-block-id^=properties]'), (one) => one.dataset.blockId)";

  it('signs up, and shows what to do with what came of it', async () => {
    const { page, type, dialog, messages } = await visit(browser, world, 'admin');
    await type('/deckhand signup');
    const form = dialog('Create an account');
    await form.getByLabel('E-mail address').fill('new@shop.example.com');
    await form.getByLabel('Password').fill('correct horse battery staple');
    await form.getByLabel(/Account name/).fill('new-shop');
    await form.getByRole('checkbox', { name: /terms/i }).check();
    await form.getByRole('button', { name: 'Sign up' }).click();
    await messages.getByText('ssh-').first().waitFor();
    await messages
      .getByText(/Verify your e-mail/)
      .first()
      .waitFor();
    expect(await page.content()).not.toContain('correct horse');
  });

  it('refuses a member politely, for their eyes only', async () => {
    const { type, messages } = await visit(browser, world, 'member');
    await type('/deckhand integration add storefront');
    await messages.getByText(/can give you access/).waitFor();
    const others = await visit(browser, world, 'billing');
    await others.messages.waitFor();
    expect(await others.messages.getByText(/can give you access/).count()).toBe(0);
  });

  it('lists invoices as a table and sends a PDF where only the asker sees it', async () => {
    const { page, type, messages, dialog } = await visit(browser, world, 'admin', 'C0BILLING');
    await type('/deckhand invoices');
    await messages.getByRole('table').waitFor();
    await messages.getByRole('button', { name: /PDF/ }).first().click();
    await page
      .getByRole('button', { name: /^Deckhand(,|$)/ })
      .first()
      .click();
    await page
      .getByRole('link', { name: /Open .*invoice/i })
      .first()
      .waitFor();
    const loaded = page.waitForResponse('**/page/files/*');
    await page.getByRole('button', { name: /Preview .*invoice/i }).click();
    expect((await loaded).headers()).toMatchObject({ 'content-type': 'application/pdf' });
    const preview = dialog(/invoice/i);
    // The viewer's dark ground alone is a picture of next to nothing; a page with words is not.
    const drawn = async () => (await preview.locator('iframe').screenshot()).length;
    // Each is drawn anew, which costs more than to wait.
    await expect.poll(drawn, { interval: 300 }).toBeGreaterThan(10_000);
    await takePicture(page, 'invoice-pdf');
    await preview.getByRole('button', { name: 'Close preview' }).click();
    await preview.waitFor({ state: 'detached' });
  });
});
