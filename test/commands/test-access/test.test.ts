import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ACCOUNT, CHANNEL, openTestWorld, PEOPLE, TEAM, type TestWorld } from '../../support/test-world.ts';

const STATUS = '/acme/projects/*/test_access/*';

describe('test access from a channel', () => {
  let house: TestWorld;
  beforeEach(async () => {
    house = await openTestWorld();
    await house.connect();
  });
  afterEach(() => house.stop());

  const roots = () => house.slack.messages(TEAM, CHANNEL);
  const root = () => roots().at(-1);
  const thread = (ts = root()?.ts ?? '') => house.slack.thread(TEAM, CHANNEL, ts).map(({ text }) => text);
  const privately = (who: keyof typeof PEOPLE) =>
    house.slack.ephemerals(TEAM, PEOPLE[who]).map(({ text }) => text);
  const run = (text: string) => house.as('member').command(CHANNEL, `/deckhand ${text}`);
  const rootSays = (words: string) =>
    house.slack.until(() => root()?.text.includes(words), { what: `"${words}" in the root message` });
  const threadHas = (count: number) => house.slack.until(() => thread().length >= count);

  it('goes from the command to the summary, in a root message and its thread', async () => {
    house.service.world.setOutcome({
      account: ACCOUNT,
      project: 'storefront',
      server: 'web-2',
      status: 'error',
      message: 'Connection <refused> & closed',
    });
    await run('test storefront');
    await rootSays('1 of 2 reachable');
    await threadHas(5);
    expect(roots()).toHaveLength(1);
    expect(thread()).toEqual([
      expect.stringContaining('running'),
      ':white_check_mark: Repository reachable',
      ':white_check_mark: *web-1* reachable',
      ':x: *web-2* not reachable: Connection &lt;refused&gt; &amp; closed',
      expect.stringContaining('1 of 2 reachable'),
    ]);
    expect(JSON.stringify(root()?.blocks)).toContain('web-2');
    const posted = house.slack.calls.find(({ method }) => method === 'chat.postMessage');
    expect(JSON.stringify(posted)).toContain('running');
  });

  it('knows a project that was added a moment ago', async () => {
    await run('test storefront');
    await rootSays('2 of 2 reachable');
    house.service.world.addProject({ account: ACCOUNT, name: 'Newcomer', servers: [{ name: 'web-9' }] });
    await run('test newcomer');
    await rootSays('1 of 1 reachable');
  });

  it('takes a project by permalink, identifier or name in any case, and one server', async () => {
    await run('TEST “billing api” API-1');
    await rootSays('1 of 1 reachable');
    await threadHas(3);
    expect(thread().join()).not.toContain('Repository');
  });

  it('takes a name of two words without quotes for a project, before it takes the second for a server', async () => {
    await run('test billing api');
    await rootSays('1 of 1 reachable');
    await house.slack.until(() => thread().join().includes('Repository'));
  });

  it('asks with a menu where several projects are meant, and goes on with the choice', async () => {
    await run('test');
    const menu = await house.slack.until(() => house.slack.ephemerals(TEAM, PEOPLE.member).at(-1));
    expect(menu.text).toContain('Which project');
    const place = { channel: CHANNEL, ts: menu.ts };
    await house.as('member').click(place, { actionId: 'projects:choose', selected: 'billing-api' });
    await rootSays('1 of 1 reachable');
  });

  it('uses the project that the channel is bound to', async () => {
    await house.as('admin').command(CHANNEL, '/deckhand use storefront');
    await house.slack.until(() => root()?.text.includes('bound this channel'));
    await run('test');
    await rootSays('2 of 2 reachable');
  });

  it('points to the run that goes on instead of starting a second', async () => {
    house.service.world.setRunOutcome({ account: ACCOUNT, project: 'storefront', durationMs: 60_000 });
    await run('test storefront');
    await rootSays('running');
    await house.as('admin').command(CHANNEL, '/deckhand test Storefront');
    await house.slack.until(() => privately('admin').some((text) => text.includes('running already')));
    expect(roots()).toHaveLength(1);
    expect(house.slack.ephemerals(TEAM, PEOPLE.admin).at(-1)?.text).toMatch(/<http[^|]+\|See it here>/);
  });

  it('shows a failed run as failed, also without results', async () => {
    house.service.world.setRunOutcome({ account: ACCOUNT, project: 'storefront', status: 'failed' });
    await run('test storefront');
    await rootSays('failed');
    await house.slack.until(() => thread().at(-1)?.includes('failed'));
  });

  it('runs once however often the button is clicked', async () => {
    await run('test storefront');
    await rootSays('2 of 2 reachable');
    const place = { channel: CHANNEL, ts: root()?.ts ?? '' };
    const click = () => house.as('member').click(place, { actionId: 'test:again' });
    await Promise.all([click(), click()]);
    await house.slack.until(() => roots().length === 2);
    await rootSays('2 of 2 reachable');
    await house.slack.until(() => privately('member').some((text) => /already/.test(text)));
    expect(roots()).toHaveLength(2);
  });

  it('tests one server again from its own button', async () => {
    const { setOutcome } = house.service.world;
    const server = { account: ACCOUNT, project: 'storefront', server: 'web-1' };
    setOutcome({ ...server, status: 'error', message: 'refused' });
    await run('test storefront');
    await rootSays('1 of 2 reachable');
    await threadHas(5);
    setOutcome({ ...server, status: 'ok' });
    const failing = house.slack
      .thread(TEAM, CHANNEL, root()?.ts ?? '')
      .find(({ text }) => text.includes('refused'));
    await house.as('member').click({ channel: CHANNEL, ts: failing?.ts ?? '' }, { actionId: 'test:server' });
    await house.slack.until(() => roots().length === 2);
    await rootSays('1 of 1 reachable');
  });

  it.each([
    ['503 with Retry-After', { status: 503, retryAfter: '0' }],
    ['500', { status: 500 }],
    ['a dropped connection', { drop: true }],
    ['an answer that is no JSON', { badJson: true }],
  ])('goes on polling through %s', async (_, fault) => {
    const handle = house.service.faults.add({ path: STATUS, ...fault, times: 3 });
    await run('test storefront');
    await rootSays('2 of 2 reachable');
    expect(handle.hits()).toBe(3);
    await threadHas(5);
    expect(new Set(thread()).size).toBe(thread().length);
  });

  it.each([
    [401, {}, 'revoked or rotated'],
    [403, {}, 'lacks the permission'],
    [404, { error_code: 'record_not_found' }, 'no such test run in project `storefront`'],
  ])('ends with the reason when polling meets a %i', async (status, body, reason) => {
    house.service.faults.add({ path: STATUS, status, body });
    await run('test storefront');
    await rootSays('stopped');
    expect(JSON.stringify(root()?.blocks)).toContain(reason);
  });

  it('stops when the message is gone, and says so in the log', async () => {
    house.service.world.setRunOutcome({ account: ACCOUNT, project: 'storefront', durationMs: 10_000 });
    house.slack.fault({ method: 'chat.update', error: 'message_not_found' });
    await run('test storefront');
    await house.logged('follow_abandoned');
    expect(roots()).toHaveLength(1);
  });

  it('says where it must be invited when it may not post', async () => {
    house.slack.addChannel(TEAM, {
      id: 'C0ALONE',
      name: 'alone',
      members: [PEOPLE.member],
      bot_is_member: false,
    });
    await house.as('member').command('C0ALONE', '/deckhand test storefront');
    await house.slack.until(() => privately('member').some((text) => text.includes('/invite')));
    await run('test storefront');
    await rootSays('2 of 2 reachable');
  });

  it('names the nearest project where there is none of that name', async () => {
    await run('test storefrnt');
    await house.slack.until(() =>
      privately('member').some((text) => text.includes('Did you mean `storefront`')),
    );
    expect(roots()).toHaveLength(0);
  });
});

describe('a run that takes too long', () => {
  it('is followed no longer, says so, and is taken up again with a button', async () => {
    const house = await openTestWorld({ env: { FOLLOW_TIMEOUT_MINUTES: '0.01' } });
    try {
      await house.connect();
      house.service.world.setRunOutcome({ account: ACCOUNT, project: 'storefront', durationMs: 3_600_000 });
      await house.as('member').command(CHANNEL, '/deckhand test storefront');
      const root = () => house.slack.messages(TEAM, CHANNEL).at(-1);
      await house.slack.until(() => root()?.text.includes('no longer followed'));
      house.service.clock.advance(3_600_000);
      await house.as('member').click({ channel: CHANNEL, ts: root()?.ts ?? '' }, { actionId: 'test:check' });
      await house.slack.until(() => root()?.text.includes('2 of 2 reachable'));
      expect(house.slack.messages(TEAM, CHANNEL)).toHaveLength(1);
    } finally {
      await house.stop();
    }
  });
});
