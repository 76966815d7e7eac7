import { afterAll, beforeAll, expect, it } from 'vitest';
import { createProduct, type Product } from '../../sandbox/demo/product.ts';
import { giveTour } from '../../sandbox/demo/tour.ts';
import { addDemoWorkspace } from '../../sandbox/demo/workspaces.ts';
import { type SimulatedService, startSimulatedService } from '../../sandbox/service/server.ts';
import { appFromManifestFile } from '../../sandbox/slack/registered-app.ts';
import { type LocalSlack, startLocalSlack } from '../../sandbox/slack/server.ts';
import { buildPage } from '../../sandbox/slack/web/build.ts';
import { describeInBrowser, useBrowser } from '../support/browser.ts';
import { environment } from '../support/house.ts';
import { temporaryFolder } from '../support/temporary.ts';

/** Hurried: a reader gets twenty times as long. */
const READ_MS = 180;

describeInBrowser('the tour of the demo', () => {
  const browser = useBrowser();
  let slack: LocalSlack;
  let service: SimulatedService;
  let product: Product;
  beforeAll(async () => {
    service = await startSimulatedService({ seed: 'demo', speed: 20 });
    slack = await startLocalSlack({
      pageDir: await buildPage(),
      app: appFromManifestFile(`${import.meta.dirname}/../../manifest.yml`),
    });
  });
  afterAll(async () => {
    await product.stop();
    await Promise.all([slack.stop(), service.stop()]);
  });

  it('leads whoever watches through forms, a thread and files to App Home, and types for them', async () => {
    const { botToken } = addDemoWorkspace(slack);
    const env = environment(slack, service, botToken, await temporaryFolder());
    product = createProduct(env, () => undefined);
    slack.deliverTo(`http://127.0.0.1:${await product.start()}/slack/events`);
    const page = await browser.open(`${slack.origin}/#/T0ACME/U0ADA/C0GENERAL`);
    await page.getByRole('textbox', { name: 'Message #general' }).waitFor();
    const account = page.getByRole('dialog', { name: 'Connect an account' }).getByLabel('Account');
    const filled = expect.poll(() => account.inputValue({ timeout: 50 }), { interval: 10 }).toBe('acme');
    const thread = page.getByRole('complementary', { name: 'Thread' }).waitFor();
    const field = page.getByRole('dialog', { name: 'Add an integration' }).getByLabel('Bot token').waitFor();
    const said: string[] = [];
    const tour = giveTour(slack, (line) => said.push(line), READ_MS);
    await Promise.all([tour, filled, thread, field]);
    const home = page.getByRole('region', { name: 'Deckhand Home' });
    await home.getByText('The digest').waitFor();
    await home.getByText('The watch').waitFor();
    await home.getByText('6 of 7 reachable').waitFor();
    expect(said.at(-1)).toContain('That was the tour');
  });
});
