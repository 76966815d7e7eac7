import { afterAll, beforeAll, expect, it } from 'vitest';
import { freePort } from '../../../test/support/free-port.ts';
import { openTestWorld, PEOPLE, TEAM, type TestWorld } from '../../../test/support/test-world.ts';
import { demoOauthClient } from '../../service/seed/demo-facts.ts';
import { seriousFaults } from '../support/axe.ts';
import { describeInBrowser, takePicture, useBrowser } from '../support/browser.ts';
import { connectDemo, README_SIZE, visit } from './workspace.ts';

describeInBrowser('linking, as the demo has it', () => {
  const browser = useBrowser();
  let world: TestWorld;
  beforeAll(async () => {
    const port = await freePort();
    const PUBLIC_URL = `http://127.0.0.1:${port}`;
    const client = demoOauthClient([`${PUBLIC_URL}/service/oauth/callback`]);
    world = await openTestWorld({
      seed: 'demo',
      page: true,
      oauthClients: [client],
      authorisation: { oauthEmail: true },
      env: {
        PORT: String(port),
        PUBLIC_URL,
        SERVICE_OAUTH_CLIENT_ID: client.id,
        SERVICE_OAUTH_CLIENT_SECRET: client.secret,
      },
    });
    await connectDemo(world);
  });
  afterAll(() => world.stop());

  it('goes from the command through both pages to who one is, and to a key of one’s own', async () => {
    const { page, type, messages } = await visit(browser, world, 'member', undefined, README_SIZE);
    await type('/deckhand link');
    const [way] = await Promise.all([
      page.context().waitForEvent('page'),
      messages.getByRole('link', { name: 'Link my user' }).click(),
    ]);
    await way.getByText('“Ben Member” (ben@house.example) of the workspace “House”').waitFor();
    expect(await seriousFaults(way)).toEqual([]);
    await way.getByRole('button', { name: 'Continue to the service' }).click();
    await way.getByLabel('Signed in as').selectOption('ben@acme.example.com');
    await way.getByRole('button', { name: 'Approve' }).click();
    await way.getByRole('heading', { name: 'You are linked' }).waitFor();
    await way.close();
    await type('/deckhand whoami');
    await messages.getByText('You are ben@acme.example.com at the service').waitFor();
    const [told] = await world.slack.until(() => {
      const dms = world.slack.dms(TEAM, PEOPLE.member);
      return dms.length > 0 && dms;
    });
    const dm = await visit(browser, world, 'member', told?.channel, README_SIZE);
    const said = dm.page.getByRole('region', { name: /^Messages/ });
    await said.getByText('Linked. You are ben@acme.example.com').waitFor();
    await said.getByRole('button', { name: 'Use my own key' }).click();
    await dm.dialog('Connect an account').getByLabel('E-mail address').waitFor();
    expect(await dm.dialog('Connect an account').getByLabel('E-mail address').inputValue()).toBe(
      'ben@acme.example.com',
    );
    await takePicture(dm.page, 'link');
  });
});
