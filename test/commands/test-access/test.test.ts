import { describe, expect } from 'vitest';
import { ask } from '../../support/asking.ts';
import { BRISK } from '../../support/faults.ts';
import { test } from '../../support/fixtures.ts';
import { ACCOUNT, CHANNEL, PEOPLE, TEAM, type TestWorld } from '../../support/test-world.ts';

describe('test access from a channel', () => {
  test.override({ worldOptions: BRISK, connected: true });

  const roots = (world: TestWorld) => world.slack.messages(TEAM, CHANNEL);
  const root = (world: TestWorld) => roots(world).at(-1);
  const thread = (world: TestWorld, ts = root(world)?.ts ?? '') =>
    world.slack.thread(TEAM, CHANNEL, ts).map(({ text }) => text);
  const privately = (world: TestWorld, who: keyof typeof PEOPLE) =>
    world.slack.ephemerals(TEAM, PEOPLE[who]).map(({ text }) => text);
  const run = (world: TestWorld, text: string) => world.as('member').command(CHANNEL, `/deckhand ${text}`);
  const rootSays = (world: TestWorld, words: string) =>
    world.slack.until(() => root(world)?.text.includes(words), { what: `"${words}" in the root message` });

  test('goes from the command to the summary, in a root message and its thread, whose button tests one server again', async ({
    world,
  }) => {
    const { setOutcome } = world.service.world;
    const server = { account: ACCOUNT, project: 'storefront', server: 'web-2' };
    setOutcome({ ...server, status: 'error', message: 'Connection <refused> & closed' });
    await run(world, 'test storefront');
    await rootSays(world, '1 of 2 servers is unreachable');
    await world.slack.until(() => /took \d+ s/.test(thread(world)[0] ?? ''));
    expect(roots(world)).toHaveLength(1);
    expect(thread(world)).toEqual([
      expect.stringMatching(/^1 of 2 servers is unreachable. The test took \d+ s\.$/),
      'web-2 is unreachable. Connection &lt;refused&gt; &amp; closed.',
    ]);
    expect(root(world)?.text).toMatch(
      /^Storefront: 1 of 2 servers is unreachable\. web-2: Connection &lt;refused&gt; &amp; closed\. Done: Repository, web-1\. Storefront in acme, asked by <@U0BEN>, started .+, took \d+ s\.$/,
    );
    expect(root(world)?.blocks?.find(({ type }) => type === 'plan')).toMatchObject({
      title: 'Repository and 2 servers',
      tasks: [
        { title: 'web-2', status: 'error' },
        { title: 'Repository', status: 'complete' },
        { title: 'web-1', status: 'complete' },
      ],
    });
    expect(JSON.stringify(root(world)?.blocks)).toMatch(/Connection <refused> & closed.*Test web-2 again/);
    const posted = world.slack.calls.find(({ method }) => method === 'chat.postMessage');
    expect(JSON.stringify(posted)).toContain('running');

    setOutcome({ ...server, status: 'ok' });
    const failing = world.slack
      .thread(TEAM, CHANNEL, root(world)?.ts ?? '')
      .find(({ text }) => text.includes('refused'));
    await world.as('member').click({ channel: CHANNEL, ts: failing?.ts ?? '' }, { actionId: 'test:server' });
    await world.slack.until(() => roots(world).length === 2);
    await rootSays(world, 'web-2 in Storefront: reachable');
    expect(JSON.stringify(root(world)?.blocks)).not.toContain('Repository');
  });

  test('knows a project that was added a moment ago', async ({ world }) => {
    await run(world, 'test storefront');
    await rootSays(world, 'both servers are reachable');
    world.service.world.addProject({ account: ACCOUNT, name: 'Newcomer', servers: [{ name: 'web-9' }] });
    await run(world, 'test newcomer');
    await rootSays(world, 'the server is reachable');
  });

  test('takes a word for a server’s identifier where the service lists none, and names it by its results', async ({
    world,
  }) => {
    world.service.faults.add({ path: `/${ACCOUNT}/projects/storefront/servers`, status: 404 });
    const [server] = world.service.world.state.accounts.get(ACCOUNT)?.projects[0]?.servers ?? [];
    await world.as('admin').command(CHANNEL, '/deckhand use storefront');
    await rootSays(world, 'bound this channel');
    await run(world, `test ${server?.identifier}`);
    await rootSays(world, 'web-1 in Storefront: reachable');
    const [kept] = await world.app.workspaces.open(TEAM).runs.newest(100);
    expect(kept?.target.server?.name).toBe('web-1');
    expect(await ask(world, '/deckhand test nowhere-1')).toContain(
      'There is no project or server `nowhere-1`',
    );
  });

  test('points to the run that goes on instead of starting a second, from a row of the projects too', async ({
    world,
  }) => {
    world.service.world.setRunOutcome({ account: ACCOUNT, project: 'storefront', durationMs: 60_000 });
    await run(world, 'test storefront');
    await rootSays(world, 'running');
    await ask(world, '/deckhand projects', 'admin');
    const { ts = '' } = world.slack.ephemerals(TEAM, PEOPLE.admin).at(-1) ?? {};
    await world.as('admin').click({ channel: CHANNEL, ts }, { actionId: 'test:project#1' });
    await world.slack.until(() => privately(world, 'admin').some((text) => text.includes('running already')));
    expect(roots(world)).toHaveLength(1);
    expect(world.slack.ephemerals(TEAM, PEOPLE.admin).at(-1)?.text).toMatch(/See it here/);
    // Only the one that began a run is a change.
    const { audit } = world.app.workspaces.open(TEAM);
    const changes = (await audit.latest(10)).map(({ entry }) => entry).filter(({ what }) => what === 'test');
    expect(changes).toMatchObject([{ requestedBy: PEOPLE.member, target: `${ACCOUNT}/storefront` }]);
  });

  test('stops when the message is gone, and says so in the log', async ({ world }) => {
    world.service.world.setRunOutcome({ account: ACCOUNT, project: 'storefront', durationMs: 10_000 });
    world.slack.fault({ method: 'chat.update', error: 'message_not_found' });
    await run(world, 'test storefront');
    await world.logged('follow_abandoned');
    expect(roots(world)).toHaveLength(1);
  });

  test('from a direct message of two people says where else to run it, for it cannot be invited there', async ({
    world,
  }) => {
    const members = [PEOPLE.member, PEOPLE.admin];
    world.slack.addChannel(TEAM, { id: 'D0PAIR', name: 'pair', members, bot_is_member: false });
    world.slack.fault({ method: 'chat.postMessage', error: 'channel_not_found', times: 1 });
    await world.as('member').command('D0PAIR', '/deckhand test storefront');
    await world.slack.until(() => privately(world, 'member').length > 0);
    const [said = ''] = privately(world, 'member');
    expect(said).toContain('cannot post in a direct message between people');
    expect(said).toContain('in a channel that Deckhand is in');
    expect(said).not.toContain('/invite');
  });
});
