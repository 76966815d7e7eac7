import { afterAll, beforeAll, expect, it } from 'vitest';
import { CHANNEL, openTestWorld, TEAM, type TestWorld } from '../../../test/support/test-world.ts';
import { DEMO_USERS } from '../../service/seed/demo-facts.ts';
import { seriousFaults } from '../support/axe.ts';
import { describeInBrowser, useBrowser } from '../support/browser.ts';
import { closeSent, README_SIZE, takePictures, visit } from './workspace.ts';

describeInBrowser('the first day: connect an account, test a project, look at App Home', () => {
  const browser = useBrowser();
  let world: TestWorld;
  beforeAll(async () => {
    world = await openTestWorld({ seed: 'demo', page: true });
    world.slack.invite(TEAM, CHANNEL, 'bot');
    // On a Monday morning the demo's account has none in its week, and Home no chart.
    const { account } = DEMO_USERS.admin;
    const deployment = { account, project: 'storefront', succeeded: true, endedAt: Date.now() };
    world.service.world.addDeployment(deployment);
  });
  afterAll(() => world.stop());

  it('connects after a wrong key, tests, and shows the outcome with its thread', async () => {
    const visitor = await visit(browser, world, 'admin', CHANNEL, README_SIZE);
    const { page, type, dialog, messages, thread } = visitor;
    await page.getByRole('button', { name: 'Deckhand Home' }).click();
    const home = page.getByRole('region', { name: 'Deckhand Home' });
    await home.getByText('Welcome aboard').waitFor();
    expect(await seriousFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'deploys', exact: true }).click();
    await type('/deckhand connect');
    const form = dialog('Connect an account');
    await form.getByText(DEMO_USERS.admin.apiKey).waitFor();
    await takePictures(page, 'connect');
    await form.getByLabel('Account').fill(DEMO_USERS.admin.account);
    await form.getByLabel('E-mail address').fill(DEMO_USERS.admin.email);
    await form.getByLabel('API key').fill('not-the-key');
    await form.getByRole('button', { name: 'Connect' }).click();
    await form.getByText('Copy it again').first().waitFor();
    await form.getByLabel('API key').fill(DEMO_USERS.admin.apiKey);
    await form.getByRole('button', { name: 'Connect' }).click();
    await messages.getByText('Connected').waitFor();
    await closeSent(form);

    await type('/deckhand test storefront');
    await messages.getByText('1 of 7 servers is unreachable').waitFor();
    await page.getByRole('button', { name: /replies/ }).click();
    await thread.getByRole('article').filter({ hasText: 'The test took' }).last().waitFor();
    for (const server of ['web-1', 'web-2', 'web-3', 'worker-1', 'worker-2', 'assets', 'staging'])
      expect(await page.getByText(server).count(), server).toBeGreaterThan(0);
    await takePictures(page, 'test-run');
  });

  it('shows on App Home what goes on, and pauses and resumes what is planned', async () => {
    await world.as('admin').command(CHANNEL, '/deckhand digest add weekly:mon 09:00 Europe/Lisbon');
    await world.as('admin').command(CHANNEL, '/deckhand invoices notify here');
    const { page } = await visit(browser, world, 'admin', CHANNEL, README_SIZE);
    await page.getByRole('button', { name: 'Deckhand Home' }).click();
    const home = page.getByRole('region', { name: 'Deckhand Home' });
    await home.getByText('1 of 7 servers is unreachable').waitFor();
    await home.getByText(/Digest of .*every Monday at 09:00, Europe\/Lisbon/).waitFor();
    await home.getByText(/Invoice notices of/).waitFor();
    await home.getByRole('img', { name: /Deployments per day/ }).waitFor();
    await page.setViewportSize({ width: 1180, height: 1250 });
    await takePictures(page, 'home');
    const choose = async (name: string): Promise<void> => {
      await home.getByRole('button', { name: 'More actions' }).first().click();
      await page.getByRole('menuitem', { name }).click();
    };
    await choose('Pause');
    await home.getByText('Paused by @Ann Admin').waitFor();
    await choose('Resume');
    await home.getByText('Paused by @Ann Admin').waitFor({ state: 'detached' });
  });
});
