import { afterAll, beforeAll, expect, it } from 'vitest';
import { HOOK_TYPES } from '../../src/service/hook-types.ts';
import { seriousFaults } from '../support/axe.ts';
import { describeInBrowser, takePicture, useBrowser } from '../support/browser.ts';
import { type House, openHouse, PEOPLE, TEAM } from '../support/house.ts';
import { connectDemo, visit } from './workspace.ts';

describeInBrowser('forms, as a person fills them', () => {
  const browser = useBrowser();
  let house: House;
  beforeAll(async () => {
    house = await openHouse({ seed: 'demo', page: true });
    await connectDemo(house);
  });
  afterAll(() => house.stop());

  it('asks for exactly what each type of integration needs', async () => {
    const { page, type, dialog } = await visit(browser, house, 'admin');
    await type('/deckhand integration add storefront');
    const form = dialog('Add an integration');
    const menu = form.getByRole('combobox', { name: 'Type' });
    for (const { label, properties } of HOOK_TYPES) {
      await menu.click();
      await page.getByRole('option', { name: `(${label})` }).click();
      const first = `properties.${properties[0]?.key}`;
      const blocks = () => house.slack.modals(TEAM, PEOPLE.admin).at(-1)?.content.blocks ?? [];
      if (properties.length === 0) continue;
      const field = await house.slack.until(() => blocks().find((block) => block.block_id === first));
      await form.getByText(labelOf(field), { exact: true }).first().waitFor();
    }
    await takePicture(page, 'integration-add');
    await form.getByRole('button', { name: 'Cancel' }).click();
  });

  const labelOf = (block: Record<string, unknown>) => (block.label as { text: string }).text;

  it('signs up, and shows what to do with what came of it', async () => {
    const { page, type, dialog, messages } = await visit(browser, house, 'admin');
    await type('/deckhand signup');
    const form = dialog('Create an account');
    await form.getByLabel('E-mail address').fill('new@shop.example.com');
    await form.getByLabel('Password').fill('correct horse battery staple');
    await form.getByLabel(/Account name/).fill('new-shop');
    await takePicture(page, 'signup');
    await form.getByRole('checkbox', { name: /terms/i }).check();
    await form.getByRole('button', { name: 'Sign up' }).click();
    await messages.getByText('ssh-').first().waitFor();
    await messages
      .getByText(/Verify your e-mail/)
      .first()
      .waitFor();
    await takePicture(page, 'signup-done');
    expect(await page.content()).not.toContain('correct horse');
  });

  it('refuses a member politely, for their eyes only', async () => {
    const { type, messages } = await visit(browser, house, 'member');
    await type('/deckhand integration add storefront');
    await messages.getByText(/needs the role/).waitFor();
    const others = await visit(browser, house, 'billing');
    await others.messages.waitFor();
    expect(await others.messages.getByText(/needs the role/).count()).toBe(0);
  });

  it('lists invoices as a table and sends a PDF where only the asker sees it', async () => {
    const { page, type, messages } = await visit(browser, house, 'admin', 'C0BILLING');
    await type('/deckhand invoices');
    await messages.getByRole('table').waitFor();
    await takePicture(page, 'invoices');
    await messages.getByRole('button', { name: /PDF/ }).first().click();
    await page
      .getByRole('button', { name: /^Deckhand(,|$)/ })
      .first()
      .click();
    await page
      .getByRole('link', { name: /Open .*invoice/i })
      .first()
      .waitFor();
    await takePicture(page, 'invoice-pdf');
  });

  it('can be used by the keyboard alone, and axe finds nothing serious', async () => {
    const { page } = await visit(browser, house, 'admin');
    await page.getByRole('textbox', { name: 'Message #deploys' }).focus();
    await page.keyboard.type('/deckhand activity 30d stats');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Enter');
    await page
      .getByText(/Success rate/i)
      .first()
      .waitFor();
    await takePicture(page, 'activity');
    const open = await browser.open(page.url(), { bypassCSP: true });
    await open
      .getByText(/Success rate/i)
      .first()
      .waitFor();
    expect(await seriousFaults(open)).toEqual([]);
  });
});
