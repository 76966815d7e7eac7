import { afterAll, beforeAll, expect, it } from 'vitest';
import { CHANNEL, openTestWorld, PEOPLE, TEAM, type TestWorld } from '../../../test/support/test-world.ts';
import { describeInBrowser, useBrowser } from '../support/browser.ts';
import { connectDemo, README_SIZE, takePictures, visit } from './workspace.ts';

describeInBrowser('what fails, as the people of a channel see it', () => {
  const browser = useBrowser();
  let world: TestWorld;
  beforeAll(async () => {
    world = await openTestWorld({ seed: 'demo', page: true, env: { NOTICE_INTERVAL_MS: '40' } });
    world.slack.invite(TEAM, CHANNEL, 'bot');
    await connectDemo(world);
  });
  afterAll(() => world.stop());

  const deploy = (project: string, succeeded: boolean) =>
    world.service.world.addDeployment({ account: 'acme', project, succeeded, user: 'Ben Sommer' });
  const root = (words: string) =>
    world.slack.until(() => world.slack.messages(TEAM, CHANNEL).find(({ text }) => text.includes(words)), {
      what: words,
    });

  it('says in two messages why a run failed, and tests again with one click', async () => {
    await world.as('admin').command(CHANNEL, '/deckhand test storefront');
    await root('1 of 7 servers is unreachable');
    const { page, messages } = await visit(browser, world, 'member', CHANNEL, README_SIZE);
    await messages.getByText(/timed out after 20 seconds/).waitFor();
    await takePictures(page, 'why-it-failed');
    const { account, project, server } = { account: 'acme', project: 'storefront', server: 'web-3' };
    world.service.world.setOutcome({ account, project, server, status: 'ok' });
    await messages.getByRole('button', { name: 'Test web-3 again' }).click();
    await root('web-3 in Storefront: reachable');
    await messages.getByText('web-3 in Storefront: reachable').waitFor();
    expect(world.slack.messages(TEAM, CHANNEL)).toHaveLength(2);
    await takePictures(page, 'tested-again');
  });

  it('is one message from the first failure to the end, with who is on it', async () => {
    await world.as('admin').command(CHANNEL, '/deckhand watch all failures');
    await root('now hears');
    const { page, messages, thread } = await visit(browser, world, 'member', CHANNEL, README_SIZE);
    deploy('storefront', false);
    await messages.getByText('deployments are failing since').waitFor();
    await takePictures(page, 'episode');
    await messages.getByRole('button', { name: 'I’m on it' }).click();
    await messages.getByText('is on it').waitFor();
    deploy('storefront', false);
    await messages.getByText('2 failures since').waitFor();
    // One says who is on it.
    const failing = messages.getByRole('article').filter({ hasText: '2 failures since' });
    await failing.getByRole('button', { name: /2 replies/ }).click();
    await thread.getByText('Failure 2').waitFor();
    await takePictures(page, 'episode-claimed');
    deploy('storefront', true);
    await messages.getByText('recovered after').waitFor();
    await thread.getByText('deploy completed').waitFor();
    await takePictures(page, 'episode-ended');
  });

  it('stands first on App Home, with who is on it', async () => {
    deploy('storefront', false);
    deploy('billing-api', false);
    const { ts } = await root('Billing API: deployments are failing');
    await root('Storefront: deployments are failing');
    await world.as('member').click({ channel: CHANNEL, ts }, { actionId: 'episode:claim' });
    const { page } = await visit(browser, world, 'admin', CHANNEL, README_SIZE);
    await page.getByRole('button', { name: 'Deckhand Home' }).click();
    const home = page.getByRole('region', { name: 'Deckhand Home' });
    await home.getByText('is on it').waitFor();
    await takePictures(page, 'home-failing');
  });

  it('is closed after a question, and `failing` lists what is left', async () => {
    const { page, messages } = await visit(browser, world, 'admin', CHANNEL, README_SIZE);
    const failing = messages.getByRole('article').filter({ hasText: 'Billing API: deployments are failing' });
    await failing.getByRole('button', { name: 'Close', exact: true }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Close' }).click();
    await messages.getByText('Billing API closed by').waitFor();
    await world.as('admin').command(CHANNEL, '/deckhand failing');
    const list = messages.getByRole('article').filter({ hasText: 'Only visible to you' });
    await list.getByText('Storefront: deployments are failing').waitFor();
    await takePictures(page, 'episode-closed');
  });

  it('comes by direct message to the one who deployed, and is muted there', async () => {
    const ben = world.as('member');
    await ben.command(CHANNEL, '/deckhand me Ben Sommer');
    await world.slack.until(() =>
      world.slack.ephemerals(TEAM, PEOPLE.member).some(({ text }) => /mention/.test(text)),
    );
    await ben.command(CHANNEL, '/deckhand watch mine failures');
    await world.slack.until(() =>
      world.slack.ephemerals(TEAM, PEOPLE.member).some(({ text }) => /by direct message/.test(text)),
    );
    deploy('docs-site', false);
    const [first] = await world.slack.until(() => {
      const dms = world.slack.dms(TEAM, PEOPLE.member);
      return dms.length > 0 && dms;
    });
    const { page } = await visit(browser, world, 'member', first?.channel, README_SIZE);
    const dm = page.getByRole('region', { name: /^Messages/ });
    await dm.getByText('deployments are failing since').waitFor();
    await takePictures(page, 'watch-mine');
    await dm.getByRole('button', { name: 'Mute for today' }).last().click();
    await dm
      .getByText(/muted|silent|until/i)
      .first()
      .waitFor();
  });
});
