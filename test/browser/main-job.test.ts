import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DEMO_USERS } from '../../sandbox/service/seed/demo-facts.ts';
import { describeInBrowser, takePicture, useBrowser } from '../support/browser.ts';
import { CHANNEL, type House, openHouse, PEOPLE, TEAM } from '../support/house.ts';

describeInBrowser('the main job, as a person does it', () => {
  const browser = useBrowser();
  let house: House;
  beforeAll(async () => {
    house = await openHouse({ seed: 'demo', page: true });
  });
  afterAll(() => house.stop());

  async function type(page: Page, line: string): Promise<void> {
    const composer = page.getByRole('textbox', { name: 'Message #deploys' });
    await composer.fill(line);
    await page.getByRole('button', { name: 'Send' }).first().click();
  }

  it('connects, tests, and shows the outcome with its thread', async () => {
    const page = await browser.open(`${house.slack.origin}/#/${TEAM}/${PEOPLE.admin}/${CHANNEL}`);
    await type(page, '/deckhand connect');
    const form = page.getByRole('dialog', { name: 'Connect an account' });
    await form.getByLabel('Account').fill(DEMO_USERS.admin.account);
    await form.getByLabel('E-mail address').fill(DEMO_USERS.admin.email);
    await form.getByLabel('API key').fill('not-the-key');
    await form.getByRole('button', { name: 'Connect' }).click();
    await form.getByText('do not match').first().waitFor();
    await takePicture(page, 'connect-refused');
    await form.getByLabel('API key').fill(DEMO_USERS.admin.apiKey);
    await form.getByRole('button', { name: 'Connect' }).click();
    const messages = page.getByRole('region', { name: 'Messages in #deploys' });
    await messages.getByText('Connected').waitFor();

    await type(page, '/deckhand test storefront');
    await messages.getByText('6 of 7 reachable').waitFor();
    await page.getByRole('button', { name: /replies/ }).click();
    const thread = page.getByRole('complementary', { name: 'Thread' });
    await thread.getByRole('article').filter({ hasText: 'completed: 6 of 7' }).last().waitFor();
    for (const server of ['web-1', 'web-2', 'web-3', 'worker-1', 'worker-2', 'assets', 'staging'])
      expect(await thread.getByText(server).count(), server).toBeGreaterThan(0);
    await takePicture(page, 'test-run');
  });
});
