import { afterAll, beforeAll, expect, it } from 'vitest';
import { createProduct } from '../../../test/support/program.ts';
import { startSlack } from '../../../test/support/start-slack.ts';
import { temporaryFolder } from '../../../test/support/temporary.ts';
import {
  addTestAccount,
  CHANNEL,
  connectAccount,
  environment,
  furnish,
  TEAM,
} from '../../../test/support/test-world.ts';
import { demoControls } from '../../demo/controls.ts';
import type { Product } from '../../demo/product.ts';
import { type SimulatedService, startSimulatedService } from '../../service/server.ts';
import type { LocalSlack } from '../../slack/local-slack.ts';
import { buildPage } from '../../slack/web/build.ts';
import { describeInBrowser, useBrowser } from '../support/browser.ts';
import { visit } from './workspace.ts';

describeInBrowser('a kill in the middle of a run, from the page’s own side panel', () => {
  const browser = useBrowser();
  let slack: LocalSlack;
  let service: SimulatedService;
  let product: Product;
  let botToken: string;
  beforeAll(async () => {
    service = await startSimulatedService();
    slack = await startSlack({ pageDir: await buildPage() });
    botToken = furnish(slack).botToken;
    addTestAccount(service, undefined);
  });
  afterAll(async () => {
    await product.stop();
    await Promise.all([slack.stop(), service.stop()]);
  });

  it('is recovered from: the run goes on where it was', async () => {
    const env = environment(slack, service, botToken, await temporaryFolder());
    product = createProduct(env, () => undefined);
    const followed: Product = { ...product, start: async () => deliver(await product.start()) };
    slack.setControls(demoControls(slack, service, followed));
    await followed.start();
    await connectAccount(slack);
    service.world.setRunOutcome({ account: 'acme', project: 'storefront', durationMs: 600_000 });

    const { page, type, messages } = await visit(browser, { slack }, 'member');
    await type('/deckhand test storefront');
    await messages.getByText(/Storefront: running/).waitFor();
    await page.getByRole('button', { name: 'Inspector', exact: true }).click();
    await page.getByRole('tab', { name: 'Faults' }).click();
    await page.getByRole('button', { name: /Kill Deckhand/ }).click();
    await type('/deckhand help');
    await messages
      .getByText(/failed|did not respond|timeout/i)
      .first()
      .waitFor();
    await page.getByRole('button', { name: 'Start Deckhand again' }).click();
    service.clock.advance(600_000);
    await messages.getByText(/all 2 servers are reachable/).waitFor();
    expect(slack.messages(TEAM, CHANNEL)).toHaveLength(1);
  });

  function deliver(port: number): number {
    slack.deliverTo(`http://127.0.0.1:${port}/slack/events`);
    return port;
  }
});
