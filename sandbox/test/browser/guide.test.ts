import { afterAll, beforeAll, expect, it } from 'vitest';
import { createManualClock } from '../../../test/support/manual-clock.ts';
import { CHANNEL, openTestWorld, TEAM, type TestWorld } from '../../../test/support/test-world.ts';
import { seriousFaults } from '../support/axe.ts';
import { describeInBrowser, takePicture, useBrowser } from '../support/browser.ts';
import { connectDemo, README_SIZE, visit } from './workspace.ts';

const BILLING = 'C0BILLING';
const SITE = { name: 'shop', subdomain: 'shop-front' };

describeInBrowser('what the guide shows', () => {
  const browser = useBrowser();
  let world: TestWorld;
  beforeAll(async () => {
    world = await openTestWorld({
      seed: 'demo',
      page: true,
      speed: 100,
      env: { NOTICE_INTERVAL_MS: '40' },
    });
    for (const channel of [CHANNEL, BILLING]) world.slack.invite(TEAM, channel, 'bot');
    await connectDemo(world);
  });
  afterAll(() => world.stop());

  it('follows an order to its address, and says what failed to the channel', async () => {
    const { page, type, dialog, messages, thread } = await visit(
      browser,
      world,
      'admin',
      CHANNEL,
      README_SIZE,
    );
    await type('/deckhand watch all failures');
    await messages.getByText(/now hears/).waitFor();
    world.service.world.addDeployment({
      account: 'acme',
      project: 'storefront',
      succeeded: false,
      user: 'Kim',
    });
    await messages.getByText(/Kim/).waitFor();

    await type('/deckhand server add storefront');
    const form = dialog('Add a managed server');
    await form.getByLabel('Name').fill(SITE.name);
    await form.getByLabel('Subdomain').fill(SITE.subdomain);
    await form.getByRole('button', { name: 'Continue' }).click();
    await form.getByRole('button', { name: 'Create' }).click();
    await form.getByRole('button', { name: 'Close' }).last().click();
    await messages.getByText(/: active/).waitFor();
    await messages.getByRole('button', { name: /repl(y|ies)/ }).click();
    await thread
      .getByText(/shop-front/)
      .last()
      .waitFor();
    expect(await seriousFaults(page)).toEqual([]);
    await takePicture(page, 'server-add');
  });

  it('announces invoices in their channel', async () => {
    const { page, type, messages } = await visit(browser, world, 'admin', BILLING, README_SIZE);
    await type('/deckhand invoices notify here');
    await messages
      .getByText(/invoice notices|paid invoices/)
      .first()
      .waitFor();
    await type('/deckhand invoices');
    await messages.getByRole('table').first().waitFor();
    await takePicture(page, 'invoices');
  });

  it('gives roles in a form', async () => {
    const { page, type, dialog } = await visit(browser, world, 'admin', CHANNEL, README_SIZE);
    await type('/deckhand roles');
    await dialog('Roles').getByText('At least one person').waitFor();
    await takePicture(page, 'roles');
  });
});

describeInBrowser('what a guard found', () => {
  const browser = useBrowser();
  const time = createManualClock(Date.now());
  let world: TestWorld;
  beforeAll(async () => {
    world = await openTestWorld({ time, connected: true, page: true });
    world.slack.invite(TEAM, CHANNEL, 'bot');
  });
  afterAll(() => world.stop());

  it('is one message, once a second test has confirmed it', async () => {
    const { page, type, messages } = await visit(browser, world, 'admin', CHANNEL, README_SIZE);
    await type('/deckhand guard add storefront hourly');
    await messages.getByText(/is checked/).waitFor();
    const broken = { account: 'acme', project: 'storefront', server: 'web-2', status: 'error' } as const;
    world.service.world.setOutcome({ ...broken, message: 'Connection refused' });
    const isFound = () =>
      world.slack.messages(TEAM, CHANNEL).some(({ text }) => text.includes('is unreachable since'));
    while (!isFound()) {
      const runs = await world.app.workspaces.open(TEAM).runs.newest(100);
      await time.advance(runs.some(({ status }) => status === 'running') ? 500 : 10_000);
      for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    }
    await messages.getByText('Connection refused').waitFor();
    expect(await seriousFaults(page)).toEqual([]);
    await takePicture(page, 'guard');
  });
});
