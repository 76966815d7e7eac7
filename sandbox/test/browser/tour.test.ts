import { afterAll, beforeAll, expect, it } from 'vitest';
import { createProduct } from '../../../test/support/program.ts';
import { startSlack } from '../../../test/support/start-slack.ts';
import { temporaryFolder } from '../../../test/support/temporary.ts';
import { environment } from '../../../test/support/test-world.ts';
import type { Product } from '../../demo/product.ts';
import { giveTour } from '../../demo/tour.ts';
import { addDemoWorkspaces } from '../../demo/workspaces.ts';
import { type SimulatedService, startSimulatedService } from '../../service/server.ts';
import type { LocalSlack } from '../../slack/local-slack.ts';
import { appFromManifestFile } from '../../slack/registered-app.ts';
import { buildPage } from '../../slack/web/build.ts';
import { describeInBrowser, useBrowser } from '../support/browser.ts';

/** In place of the time that a reader gets. */
const HASTE_MS = 10;

describeInBrowser('the tour of the demo', () => {
  const browser = useBrowser();
  let slack: LocalSlack;
  let service: SimulatedService;
  let product: Product;
  beforeAll(async () => {
    service = await startSimulatedService({ seed: 'demo', speed: 20 });
    slack = await startSlack({
      pageDir: await buildPage(),
      app: appFromManifestFile(`${import.meta.dirname}/../../../manifest.yml`),
    });
  });
  afterAll(async () => {
    await product.stop();
    await Promise.all([slack.stop(), service.stop()]);
  });

  it('comes to its end, and leaves whoever watched at App Home with what it set up', async () => {
    addDemoWorkspaces(slack);
    const env = {
      ...environment(slack, service, slack.install('T0ACME'), await temporaryFolder()),
      NOTICE_INTERVAL_MS: '200',
    };
    product = createProduct(env, () => undefined);
    slack.deliverTo(`http://127.0.0.1:${await product.start()}/slack/events`);
    const page = await browser.openWorkspace(`${slack.origin}/#/T0ACME/U0ADA/C0GENERAL`);
    await page.getByRole('textbox', { name: 'Message #general' }).waitFor();
    const said: string[] = [];
    await giveTour({ slack, service }, (line) => said.push(line), HASTE_MS);
    const home = page.getByRole('region', { name: 'Deckhand Home' });
    await home.getByText(/Digest of/).waitFor();
    await home.getByText(/Watch of/).waitFor();
    await home.getByText(/Guard of/).waitFor();
    await home.getByText('1 of 7 servers is unreachable').waitFor();
    const outage = slack
      .messages('T0ACME', 'C0DEPLOYS')
      .find(({ text }) => text.startsWith('Storefront recovered'));
    expect(JSON.stringify(outage?.edits)).toContain('<@U0ADA> is on it');
    expect(said.at(-1)).toContain('That was the tour');
  });
});
