import { afterAll, beforeAll, expect, it } from 'vitest';
import { CHANNEL, openTestWorld, TEAM, type TestWorld } from '../../../test/support/test-world.ts';
import { DEMO_USERS } from '../../service/seed/demo-facts.ts';
import { seriousFaults } from '../support/axe.ts';
import { describeInBrowser, takePicture, useBrowser } from '../support/browser.ts';
import { README_SIZE, visit } from './workspace.ts';

describeInBrowser('App Home, as a person opens it', () => {
  const browser = useBrowser();
  let world: TestWorld;
  beforeAll(async () => {
    world = await openTestWorld({ seed: 'demo', page: true });
    world.slack.invite(TEAM, CHANNEL, 'bot');
    // On a Monday morning the demo's account has none in its week, and Home no chart.
    const { account } = DEMO_USERS.admin;
    world.service.world.addDeployment({
      account,
      project: 'storefront',
      succeeded: true,
      endedAt: Date.now(),
    });
  });
  afterAll(() => world.stop());

  it('leads from the first steps to what goes on, and pauses and resumes what is planned', async () => {
    const { page, dialog } = await visit(browser, world, 'admin', CHANNEL, {
      ...README_SIZE,
    });
    await page.getByRole('button', { name: 'Deckhand Home' }).click();
    const home = page.getByRole('region', { name: 'Deckhand Home' });
    await home.getByText('Welcome aboard').waitFor();
    expect(await seriousFaults(page)).toEqual([]);
    await home.getByRole('button', { name: 'Connect an account' }).click();
    const form = dialog('Connect an account');
    await form.getByLabel('Account').fill(DEMO_USERS.admin.account);
    await form.getByLabel('E-mail address').fill(DEMO_USERS.admin.email);
    await form.getByLabel('API key').fill(DEMO_USERS.admin.apiKey);
    await form.getByRole('button', { name: 'Connect' }).click();
    await home.getByText('works').waitFor();
    await home.getByText('Success rate').waitFor();

    await world.as('admin').command(CHANNEL, '/deckhand digest add weekly:mon 09:00 Europe/Lisbon');
    await world.as('admin').command(CHANNEL, '/deckhand invoices notify here');
    await world.as('admin').command(CHANNEL, '/deckhand test storefront');
    await home.getByText('1 of 7 servers is unreachable').waitFor();
    await home.getByText(/Digest of .*every Monday at 09:00, Europe\/Lisbon/).waitFor();
    await home.getByText(/Invoice notices of/).waitFor();
    await home.getByRole('img', { name: /Deployments per day/ }).waitFor();
    await page.setViewportSize({ width: 1180, height: 1250 });
    await takePicture(page, 'home');
    await page.setViewportSize(README_SIZE.viewport);
    expect(await seriousFaults(page)).toEqual([]);

    await home.getByRole('button', { name: 'Pause' }).first().click();
    await home.getByText('Paused by @Ann Admin').waitFor();
    await home.getByRole('button', { name: 'Resume' }).click();
    await home.getByText('Paused by @Ann Admin').waitFor({ state: 'detached' });
  });

  it('shows a member no button that a member may not press, and lets nobody write to the app', async () => {
    const { page } = await visit(browser, world, 'member');
    await page.getByRole('button', { name: 'Deckhand Home' }).click();
    const home = page.getByRole('region', { name: 'Deckhand Home' });
    await home.getByText('Admins give roles with').waitFor();
    await home.getByText(/Digest of/).waitFor();
    expect(await home.getByRole('button', { name: /Pause|Connect/ }).count()).toBe(0);
    await page
      .getByRole('navigation', { name: 'Deckhand pages' })
      .getByRole('button', { name: 'Messages' })
      .click();
    await page.getByText('Sending messages to this app has been turned off.').waitFor();
    expect(await page.getByRole('textbox').count()).toBe(0);
  });
});
