import { afterAll, beforeAll, expect, it } from 'vitest';
import { HOOK_TYPES, listProperties } from '../../../src/service/integrations.ts';
import { CHANNEL, openTestWorld, PEOPLE, TEAM, type TestWorld } from '../../../test/support/test-world.ts';
import { describeInBrowser, useBrowser } from '../support/browser.ts';
import { connectDemo, README_SIZE, takePictures, visit } from './workspace.ts';

const BILLING = 'C0BILLING';

describeInBrowser('forms, as a person fills them', () => {
  const browser = useBrowser();
  let world: TestWorld;
  beforeAll(async () => {
    world = await openTestWorld({ seed: 'demo', page: true, speed: 100 });
    world.slack.invite(TEAM, CHANNEL, 'bot');
    await connectDemo(world);
  });
  afterAll(() => world.stop());

  it('asks for exactly what each type of integration needs, and says under a field what is wrong', async () => {
    const { page, type, dialog, messages } = await visit(browser, world, 'admin', CHANNEL, README_SIZE);
    await type('/deckhand integration add storefront');
    const form = dialog('Add an integration');
    const menu = form.getByRole('combobox', { name: 'Type' });
    const ids =
      "Array.from(document.querySelectorAll('[data-block-id^=properties]'), (one) => one.dataset.blockId)";
    for (const [at, hook] of HOOK_TYPES.entries()) {
      await menu.click();
      await page.getByRole('option').nth(at).click();
      const version = hook.versions.length > 0 ? ['properties.hook_version'] : [];
      const wanted = [...version, ...listProperties(hook).map(({ key }) => `properties.${key}`)];
      const shown = async () => (await page.evaluate<string[]>(ids)).toSorted();
      await expect.poll(shown, { message: hook.label }).toEqual(wanted.toSorted());
    }
    await form.getByLabel('Name', { exact: true }).fill('Deployments to the team');
    await form.getByLabel('Bot token').fill('100:made-up-token');
    await form.getByLabel('Chat ID').fill('deployments');
    await form.getByRole('checkbox', { name: 'When a deployment fails' }).check();
    await form.getByRole('button', { name: 'Add', exact: true }).click();
    await form.getByText(/@/).last().waitFor();
    await takePictures(page, 'integration-add');
    await form.getByLabel('Chat ID').fill('@deployments');
    await form.getByRole('button', { name: 'Add', exact: true }).click();
    const added = messages.getByText(/Deployments to the team/).first();
    await added.waitFor();
  });

  it('follows an order of a site to its address', async () => {
    const { page, type, dialog, messages, thread } = await visit(
      browser,
      world,
      'admin',
      CHANNEL,
      README_SIZE,
    );
    await type('/deckhand server add storefront');
    const form = dialog('Add a managed server');
    await form.getByLabel('Name').fill('shop');
    await form.getByLabel('Subdomain').fill('shop-front');
    await form.getByRole('button', { name: 'Continue' }).click();
    await form.getByRole('button', { name: 'Create' }).click();
    await form.getByRole('button', { name: 'Close' }).last().click();
    await messages.getByText(/shop in Storefront is active/).waitFor();
    await messages.getByRole('button', { name: /repl(y|ies)/ }).click();
    const address = thread.getByText(/shop-front/).last();
    await address.waitFor();
    await takePictures(page, 'server-add');
  });

  it('gives roles in a form, and refuses a member politely, for their eyes only', async () => {
    const { page, type, dialog } = await visit(browser, world, 'admin', CHANNEL, README_SIZE);
    await type('/deckhand roles');
    await dialog('Roles').getByText('At least one person').waitFor();
    await takePictures(page, 'roles');
    await page.keyboard.press('Escape');
    await dialog('Roles').waitFor({ state: 'detached' });
    const member = await visit(browser, world, 'member');
    await member.type('/deckhand integration add storefront');
    await member.messages.getByText(/can give you access/).waitFor();
    const others = await visit(browser, world, 'billing');
    await others.messages.waitFor();
    expect(await others.messages.getByText(/can give you access/).count()).toBe(0);
  });

  it('lists invoices as a table, and sends a PDF by direct message where it is not in the channel', async () => {
    const { page, type, messages } = await visit(browser, world, 'admin', BILLING, README_SIZE);
    await type('/deckhand invoices');
    await messages.getByRole('table').first().waitFor();
    await takePictures(page, 'invoices');
    await messages.getByRole('button', { name: /PDF/ }).first().click();
    const pdf = await world.slack.until(
      () => world.slack.dms(TEAM, PEOPLE.admin).find(({ files }) => (files ?? []).length > 0),
      { what: 'the PDF in the direct messages' },
    );
    const dm = await visit(browser, world, 'admin', pdf.channel, README_SIZE);
    const loaded = dm.page.waitForResponse('**/page/files/*');
    await dm.page.getByRole('button', { name: /Preview .*invoice/i }).click();
    expect((await loaded).headers()).toMatchObject({ 'content-type': 'application/pdf' });
    const preview = dm.dialog(/invoice/i);
    // The viewer's dark ground alone is a picture of next to nothing; a page with words is not.
    const drawn = async () => (await preview.locator('iframe').screenshot()).length;
    await expect.poll(drawn, { interval: 300 }).toBeGreaterThan(10_000);
    await preview.getByRole('button', { name: 'Close preview' }).click();
    await preview.waitFor({ state: 'detached' });
  });
});
