import { afterAll, beforeAll, it } from 'vitest';
import { createManualClock } from '../../../test/support/manual-clock.ts';
import { CHANNEL, openTestWorld, TEAM, type TestWorld } from '../../../test/support/test-world.ts';
import { describeInBrowser, useBrowser } from '../support/browser.ts';
import { closeSent, connectDemo, README_SIZE, takePictures, visit } from './workspace.ts';

describeInBrowser('a failure, from the first message to the end', () => {
  const browser = useBrowser();
  let world: TestWorld;
  beforeAll(async () => {
    world = await openTestWorld({ seed: 'demo', page: true, env: { NOTICE_INTERVAL_MS: '40' } });
    world.slack.invite(TEAM, CHANNEL, 'bot');
    await connectDemo(world);
  });
  afterAll(() => world.stop());

  it('is one message with who is on it, stands first on App Home, and is closed after a question', async () => {
    const deploy = (project: string, succeeded: boolean) =>
      world.service.world.addDeployment({ account: 'acme', project, succeeded, user: 'Ben Sommer' });
    const visitor = await visit(browser, world, 'member', CHANNEL, README_SIZE);
    const { page, messages, thread } = visitor;
    await world.as('admin').command(CHANNEL, '/deckhand test storefront');
    await messages.getByText(/timed out after 20 seconds/).waitFor();
    const server = { account: 'acme', project: 'storefront', server: 'web-3' };
    world.service.world.setOutcome({ ...server, status: 'ok' });
    await messages.getByRole('button', { name: 'Test web-3 again' }).click();
    await messages.getByText('web-3 in Storefront: reachable').waitFor();

    await world.as('admin').command(CHANNEL, '/deckhand watch all failures');
    await messages.getByText('This channel follows').waitFor();
    deploy('storefront', false);
    await messages.getByText('the deployment').waitFor();
    await messages.getByRole('button', { name: 'I’m on it' }).click();
    await messages.getByText('is on it').waitFor();
    deploy('storefront', false);
    await messages.getByText('2 deployments failed').waitFor();
    const failing = messages.getByRole('article').filter({ hasText: '2 deployments failed' });
    await failing.getByRole('button', { name: /repl(y|ies)/ }).click();
    await thread.getByText('Another deployment failed, 2 so far').waitFor();
    await takePictures(page, 'episode-claimed');
    const { page: other, ...admin } = await visit(browser, world, 'admin', CHANNEL, README_SIZE);
    await other.getByRole('button', { name: 'Deckhand Home' }).click();
    await other.getByRole('region', { name: 'Deckhand Home' }).getByText('is on it').waitFor();
    deploy('billing-api', false);
    await other.getByRole('button', { name: 'deploys', exact: true }).click();
    const second = admin.messages.getByRole('article').filter({ hasText: 'Billing API: the deployment' });
    await second.getByRole('button', { name: 'More actions' }).click();
    await other.getByRole('menuitem', { name: 'Close', exact: true }).click();
    const question = admin.dialog('Close this failure?');
    await question.getByText('The next failure starts a new message').waitFor();
    await question.getByRole('button', { name: 'Close', exact: true }).last().click();
    await messages.getByText('Billing API closed by').waitFor();
    await closeSent(question);
    await admin.type('/deckhand failing');
    const list = admin.messages.getByRole('article').filter({ hasText: 'Only visible to you' });
    await list.getByText('Storefront has been failing').waitFor();
    deploy('storefront', true);
    await messages.getByText('recovered after').waitFor();
    await thread.getByText('deploy completed').waitFor();
  });
});

describeInBrowser('a failure that explains itself', () => {
  const browser = useBrowser();
  let world: TestWorld;
  beforeAll(async () => {
    world = await openTestWorld({ connected: true, page: true, env: { NOTICE_INTERVAL_MS: '40' } });
    world.slack.invite(TEAM, CHANNEL, 'bot');
  });
  afterAll(() => world.stop());

  it('says in which step and why, and shows the last lines of the log', async () => {
    const { page, type, messages } = await visit(browser, world, 'admin', CHANNEL, README_SIZE);
    await type('/deckhand watch storefront failures');
    await messages.getByText('now hears').waitFor();
    const commit = { author: 'Ben Sommer', message: 'Fix cart rounding' };
    const failed = { account: 'acme', project: 'storefront', user: 'Marta Reis', succeeded: false, commit };
    world.service.world.addDeployment({ ...failed, failure: { cause: 'build' } });
    await messages.getByText('Missing script').first().waitFor();
    await messages.getByRole('button', { name: 'Last lines' }).click();
    await messages.getByRole('button', { name: 'Share in the thread' }).waitFor();
    await takePictures(page, 'failure-explained');
  });
});

describeInBrowser('a server that a guard finds unreachable', () => {
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
    }
    await messages.getByText('Connection refused').waitFor();
    await takePictures(page, 'guard');
  });
});
