import { afterAll, beforeAll, expect, it } from 'vitest';
import { CHANNEL, openTestWorld, type TestWorld } from '../../../test/support/test-world.ts';
import { DEMO_USERS } from '../../service/seed/demo-facts.ts';
import { describeInBrowser, takePicture, useBrowser } from '../support/browser.ts';
import { README_SIZE, visit } from './workspace.ts';

describeInBrowser('the main job, as a person does it', () => {
  const browser = useBrowser();
  let world: TestWorld;
  beforeAll(async () => {
    world = await openTestWorld({ seed: 'demo', page: true });
  });
  afterAll(() => world.stop());

  it('connects, tests, and shows the outcome with its thread', async () => {
    const { page, type, dialog, messages, thread } = await visit(
      browser,
      world,
      'admin',
      CHANNEL,
      README_SIZE,
    );
    await type('/deckhand connect');
    const form = dialog('Connect an account');
    await form.getByLabel('Account').fill(DEMO_USERS.admin.account);
    await form.getByLabel('E-mail address').fill(DEMO_USERS.admin.email);
    await form.getByLabel('API key').fill('not-the-key');
    await form.getByRole('button', { name: 'Connect' }).click();
    await form.getByText('Copy it again').first().waitFor();
    await form.getByLabel('API key').fill(DEMO_USERS.admin.apiKey);
    await form.getByRole('button', { name: 'Connect' }).click();
    await messages.getByText('Connected').waitFor();

    await type('/deckhand test storefront');
    await messages.getByText('1 of 7 servers is unreachable').waitFor();
    await page.getByRole('button', { name: /replies/ }).click();
    await thread.getByRole('article').filter({ hasText: 'The test took' }).last().waitFor();
    for (const server of ['web-1', 'web-2', 'web-3', 'worker-1', 'worker-2', 'assets', 'staging'])
      expect(await page.getByText(server).count(), server).toBeGreaterThan(0);
    await takePicture(page, 'test-run');
  });
});
