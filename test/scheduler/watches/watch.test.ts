import { describe, expect, onTestFinished } from 'vitest';
import { resumeSchedule } from '../../../src/scheduler/schedules/start-schedule.ts';
import { confirmSite, POST, shows } from '../../commands/servers/ordering.ts';
import { answerTo, ask, openList } from '../../support/asking.ts';
import { choose } from '../../support/failure-menu.ts';
import { ACCOUNT, CHANNEL, EMAIL, PEOPLE, TEAM, type TestWorld } from '../../support/test-world.ts';
import { deploy, dms, news, OTHER, polls, press, say, shown, test, texts, untilShown } from '../channel.ts';
import { openDigestWorld } from '../digests/digest-world.ts';

/** Sets a watch up, and gives its id. */
async function watch(world: TestWorld, words: string, channel = CHANNEL): Promise<string> {
  await say(world, `watch ${words}`, channel);
  return (await world.app.workspaces.open(TEAM).schedules.list('watch')).at(-1)?.id ?? '';
}

const until = (world: TestWorld, check: () => boolean, what: string) => world.slack.until(check, { what });
const countPolls = ({ service }: TestWorld) =>
  service.requests.all.filter(({ path }) => path.endsWith('/activity')).length;

describe('a watch', () => {
  test('in a channel that is full is changed, and none is added to it', async ({ world }) => {
    await watch(world, 'storefront');
    const { schedules } = world.app.workspaces.open(TEAM);
    const [first] = await schedules.list('watch');
    if (first === undefined) throw new Error('there is no watch');
    for (let at = 1; at < 50; at += 1)
      await schedules.put({
        ...first,
        id: `w${at}`,
        requestId: `r${at}`,
        project: { permalink: `p${at}`, name: `P${at}` },
      });
    expect(await ask(world, '/deckhand watch billing-api', 'admin')).toContain(
      'This channel has 50 schedules',
    );
    await watch(world, 'storefront failures');
    expect(await schedules.get('watch', first.id)).toMatchObject({ mode: 'failures' });
    expect(await schedules.list('watch')).toHaveLength(50);
  });

  test('tells each channel each event once, with one request for all, and nothing of what was before', async ({
    world,
  }) => {
    deploy(world, 'before0');
    await watch(world, 'all');
    expect(shown(world)).toContain('This channel follows all projects of acme: all events.');
    await watch(world, 'billing-api failures');
    await watch(world, 'all failures', OTHER);
    world.service.requests.clear();
    await polls(world, 5);
    expect(countPolls(world)).toBeLessThanOrEqual(6);
    deploy(world, 'after01');
    await untilShown(world, 'after01');
    deploy(world, 'after02', { project: 'billing-api', succeeded: false });
    await untilShown(world, 'after02');
    await untilShown(world, 'after02', OTHER);
    await polls(world);
    expect(news(world)).toHaveLength(2);
    expect(news(world, OTHER)).toHaveLength(1);
    expect(shown(world)).not.toContain('before0');
    expect(news(world)[1]?.text).toContain('Billing API: the deployment');
    // What stayed pending would be posted again once Deckhand forgets that it posted it.
    const { feeds } = world.app.workspaces.open(TEAM);
    await expect.poll(async () => (await feeds.list('watch')).flatMap(({ pending }) => pending)).toEqual([]);
  });

  test('tells of a server that somebody else makes after an order was refused, and not of one ordered in its channel', async ({
    world,
  }) => {
    await watch(world, 'storefront all');
    await confirmSite(world);
    const body = { errors: { name: ['is not allowed'] } };
    const refusal = world.service.faults.add({ ...POST, status: 422, body });
    await world.as('admin').submit('server.add');
    await shows(world, 'is not allowed');
    refusal.remove();
    const [project] = world.service.world.state.accounts.get(ACCOUNT)?.projects ?? [];
    const made = { project: project?.identifier ?? '', properties: { servers: ['shop'] }, user: 'Kim' };
    world.service.world.addEvent({ account: ACCOUNT, event: 'server_created', ...made });
    await untilShown(world, 'server created');

    await watch(world, 'all', OTHER);
    await confirmSite(world);
    await world.as('admin').submit('server.add');
    await untilShown(world, 'shop', OTHER);
    deploy(world, 'after01');
    await untilShown(world, 'after01');
    expect(news(world).map(({ text }) => text)).toEqual([
      expect.stringContaining('server created'),
      expect.stringContaining('shop in Storefront'),
      expect.stringContaining('after01'),
    ]);
  });

  test('says once that an event cannot be read, and again only where there are more', async ({ world }) => {
    await watch(world, 'all failures');
    const odd = { event: null, created_at: 'soon' };
    const answer = (body: unknown[]) =>
      world.service.faults.add({ path: '/acme/activity', status: 200, body });
    const first = answer([odd]);
    await until(world, () => news(world).length > 0, 'the note');
    await polls(world);
    expect(shown(world)).toMatch(/1 entry could not be read\. Reference `[0-9a-f]{8}`/);
    first.remove();
    await polls(world);
    answer([odd, odd]);
    await untilShown(world, '2 entries could not be read');
    await polls(world);
    expect(news(world)).toHaveLength(2);
  });

  test('finds the events of a project that the service lists without its identifier', async ({ world }) => {
    const body = [{ name: 'Storefront', permalink: 'storefront' }];
    world.service.faults.add({ path: `/${ACCOUNT}/projects`, status: 200, body });
    await watch(world, 'storefront all');
    deploy(world, 'failed1', { project: 'billing-api', succeeded: false });
    deploy(world, 'passed1');
    await untilShown(world, 'passed1');
    await polls(world);
    expect(shown(world)).not.toContain('failed1');
  });

  test('makes one message of many, whose thread or else whose channel holds them', async ({ world }) => {
    const deployMany = (from: number) => {
      world.service.faults.add({ path: '/acme/activity', delayMs: 100, times: 1 });
      for (let at = 0; at < 45; at += 1) deploy(world, `ref00${from + at}`);
    };
    await watch(world, 'all');
    deployMany(10);
    const told = () =>
      news(world)
        .map((root) => JSON.stringify([root, world.slack.thread(TEAM, CHANNEL, root.ts)]))
        .join();
    const missing = () =>
      Array.from({ length: 45 }, (_, at) => `ref00${at + 10}`).filter((ref) => !told().includes(ref));
    await until(world, () => missing().length === 0, 'all in the thread');
    await polls(world);
    expect(news(world).length).toBeLessThanOrEqual(2);

    await world.app.workspaces.open(TEAM).channels.change(CHANNEL, () => ({ threads: false }));
    const before = texts(world).length;
    deployMany(55);
    await untilShown(world, 'ref0099');
    const added = world.slack.messages(TEAM, CHANNEL).slice(before);
    expect(added.flatMap(({ ts }) => world.slack.thread(TEAM, CHANNEL, ts))).toEqual([]);
  });

  test('is of the channel’s project or the only one, changes its mode, and is refused where it cannot speak', async ({
    world,
  }) => {
    const refused = (words: string) => ask(world, `/deckhand watch ${words}`, 'admin');
    expect(await refused('failures')).toContain('Billing API');
    await say(world, 'use storefront');
    await watch(world, 'failures');
    expect(shown(world)).toContain('This channel follows Storefront: failures.');
    await watch(world, 'storefront transitions');
    expect(shown(world)).toContain(
      'edited the watch of Storefront in acme (changes between failing and passing)',
    );
    expect(await refused('storefront transitions')).not.toContain('tells all events');
    expect(await refused('storefront')).toContain('/deckhand watch storefront all` tells all events');
    expect(await refused('storefront fails')).toContain(
      '`fails` is not a server of `storefront`, nor `all`, `failures` or `transitions`.',
    );
    expect(await refused('list everywhere')).toContain('`watch list` takes `[here|all]`, not `everywhere`.');
    expect(await refused('shop failures')).toContain('There is no project or server `shop`');
    expect(await refused('web shop')).toContain('There is no project or server `web shop`');
    world.slack.kick(TEAM, CHANNEL, 'bot');
    expect(await refused('all')).toContain('Invite it');
    expect(await ask(world, '/deckhand watch list', 'admin')).toContain('1 watch of this channel');
  });

  test.for([
    ['watch', 'watch storefront failures'],
    ['digest', 'digest add daily 09:00 UTC'],
    ['guard', 'guard add storefront hourly UTC'],
  ] as const)('such as a %s is listed for members without its buttons', async ([kind, line], { world }) => {
    expect(await ask(world, `/deckhand ${kind} list`)).toContain(`has no ${kind} yet. Operators set one up`);
    await say(world, line);
    deploy(world, 'mine001');
    await ask(world, '/deckhand me Kim', 'billing');
    await ask(world, '/deckhand watch mine', 'billing');
    // `watch list all` is the table of all channels.
    for (const scope of kind === 'watch' ? ['here'] : ['here', 'all']) {
      const list = await ask(world, `/deckhand ${kind} list ${scope}`);
      expect(list).toContain(`1 ${kind} of this`);
      expect(list).not.toMatch(/"button"|your own deployments|adds one/);
      expect(await ask(world, `/deckhand ${kind} list ${scope}`, 'admin')).toContain(`${kind}:pause`);
    }
  });

  test('is listed with what came of it, and paused, resumed, removed and restored by the menu of its row', async ({
    world,
  }) => {
    const id = await watch(world, 'storefront');
    await watch(world, 'all failures');
    deploy(world, 'after01');
    await untilShown(world, 'after01');
    await polls(world);
    const { ts } = await openList(world, 'watch list');
    const list = () => world.slack.ephemerals(TEAM, PEOPLE.admin).find((one) => one.ts === ts);
    const listed = () => JSON.stringify(list()?.blocks);
    expect(listed()).toContain(`Set up by <@${PEOPLE.admin}>`);
    expect(listed()).toContain('Last: 1 event');
    expect(listed()).toContain('Nothing posted yet');
    const row = (verb: string) => choose(world, `watch:${verb} {"id":"${id}"`, list() ?? {});
    expect(listed()).not.toMatch(/"style":"danger"|Remove this/);
    await row('pause');
    await until(world, () => listed().includes(`Paused by <@${PEOPLE.admin}>`), 'the pause');
    deploy(world, 'paused1');
    await polls(world);
    await row('resume');
    await until(world, () => !listed().includes('Paused'), 'the resumption');
    deploy(world, 'after02');
    await untilShown(world, 'after02');
    expect(shown(world)).not.toContain('paused1');
    await row('ask');
    await until(
      world,
      () => world.as('admin').openView()?.content.callback_id === 'watch.remove',
      'the question',
    );
    const removed = await answerTo(world, 'admin', () => world.as('admin').submit('watch.remove', {}));
    expect(removed).toContain('Removed: the watch');
    deploy(world, 'stopped');
    await polls(world);
    expect(shown(world)).not.toContain('stopped');
    await press(world, 'watch:undo');
    await until(
      world,
      () => JSON.stringify(world.slack.ephemerals(TEAM, PEOPLE.admin)).includes('Restored: the watch'),
      'the watch',
    );
    expect(await ask(world, '/deckhand watch list', 'admin')).toContain('2 watches of this channel');
  });

  test('is resumed from another channel, removed by id, project or all, and restored with what it missed', async ({
    world,
  }) => {
    const first = await watch(world, 'storefront');
    await watch(world, 'billing-api');
    const third = await watch(world, 'all');
    expect(await say(world, `watch pause ${third}`)).toContain('Paused: the watch');
    const resume = () => world.as('admin').command(OTHER, `/deckhand watch resume ${third}`);
    const resumed = await answerTo(world, 'admin', resume);
    expect(resumed).toContain('Resumed: the watch of all projects');
    expect(shown(world)).toContain(`<@${PEOPLE.admin}> resumed the watch`);
    expect(await ask(world, '/deckhand unwatch', 'admin')).toContain('Which watch should be removed?');
    for (const [words, removed] of [
      [first.toUpperCase(), '*Storefront*'],
      ['billing-api', '*Billing API*'],
      ['all', 'all projects'],
    ] as const) {
      const said = await say(world, `unwatch ${words}`);
      expect(said).toContain('Removed: the watch');
      expect(said).toContain(removed);
    }
    expect(await ask(world, '/deckhand unwatch', 'admin')).toContain('has no watch yet');
    expect(await ask(world, '/deckhand unwatch wxyz', 'admin')).toContain('There is no watch `wxyz`');
    deploy(world, 'between');
    await press(world, 'watch:undo');
    await untilShown(world, 'between');
  });

  test('goes on being polled where it is resumed while its last poll ends', async ({ world }) => {
    await watch(world, 'all');
    world.service.faults.add({ path: '/acme/activity', delayMs: 1_500, times: 1 });
    await world.service.requests.nextArrival();
    await say(world, 'watch pause');
    const workspace = world.app.workspaces.open(TEAM);
    const [schedule] = await workspace.schedules.list('watch');
    if (schedule === undefined) throw new Error('there is no watch');
    const polling = async () => (await world.app.parts.engine.stats())['watch-activity'];
    expect(await polling(), 'the last poll').toMatchObject({ running: 1 });
    await resumeSchedule(workspace, schedule, {
      // It ends after the watch was begun again, and before the watch is stored as active.
      prepared: () => expect.poll(polling).toMatchObject({ waiting: 0, running: 0 }),
    });
    deploy(world, 'after01');
    await untilShown(world, 'after01');
  });

  test('whose channel is archived pauses with one message, and tells what was missed once it is resumed', async ({
    world,
  }) => {
    const id = await watch(world, 'all');
    await watch(world, 'storefront failures');
    world.slack.archiveChannel(TEAM, CHANNEL);
    deploy(world, 'failed1', { succeeded: false });
    await until(world, () => dms(world).length > 0, 'the message');
    expect(dms(world)[0]).toContain('the channel is archived');
    expect(dms(world)[0]).toContain('press “Resume”');
    world.slack.unarchiveChannel(TEAM, CHANNEL);
    world.slack.invite(TEAM, CHANNEL, 'bot');
    await say(world, `watch resume ${id}`);
    await untilShown(world, 'failed1');
    deploy(world, 'after01');
    await untilShown(world, 'Storefront recovered');
    const failures = news(world).filter(({ blocks: one }) => JSON.stringify(one).includes('failed1'));
    expect(failures).toHaveLength(1);
    expect(dms(world)).toHaveLength(1);
  });

  test('pauses with all others of an account that refuses, once, and is not resumed before it allows them', async ({
    world,
  }) => {
    await watch(world, 'all');
    await watch(world, 'all', OTHER);
    const body = { error_code: 'api_access_restricted' };
    const fault = world.service.faults.add({ path: '/acme/activity', status: 403, body });
    await until(world, () => dms(world).length > 0, 'the message');
    expect(dms(world)[0]).toContain('the plan of the account acme has no API access');
    expect(await ask(world, '/deckhand watch resume', 'admin')).toContain('has no API access');
    fault.remove();
    deploy(world, 'after01');
    await say(world, 'watch resume');
    await untilShown(world, 'after01');
    expect(dms(world)).toHaveLength(1);
  });

  test('goes on where the feed is not found twice, and pauses once it is not found three times in a row', async ({
    world,
  }) => {
    await watch(world, 'all');
    const body = { error_code: 'record_not_found', hint: 'The feed is being moved.' };
    const missing = { path: '/acme/activity', status: 404, body };
    for (let time = 0; time < 2; time += 1) {
      world.service.faults.add({ ...missing, times: 2 });
      deploy(world, `after0${time}`);
      await until(world, () => shown(world).includes(`after0${time}`), 'what comes');
    }
    expect(dms(world)).toHaveLength(0);
    world.service.faults.add({ ...missing, times: 3 });
    await until(world, () => dms(world).length > 0, 'the message');
    expect(dms(world)[0]).toContain('did not find the activity of the account acme');
    expect(dms(world)[0]).toContain('The feed is being moved');
    expect(dms(world)[0]).not.toContain('no account named');
  });
});

test('of two accounts with a project of one name, each message and list names the account', async ({
  world,
}) => {
  const apiKey = 'OtherKey00OtherKey00OtherKey00OtherKey00';
  const users = [{ email: EMAIL, apiKey, role: 'admin' as const }];
  world.service.world.addAccount({
    name: 'beacon',
    users,
    projects: [{ name: 'Storefront', permalink: 'storefront', servers: [{ name: 'web-1' }] }],
  });
  const ann = world.as('admin');
  await ann.command(CHANNEL, '/deckhand connect beacon');
  await world.slack.until(() => ann.openView() !== undefined);
  await ann.submit('connect', { account: 'beacon', email: EMAIL, api_key: apiKey });
  await until(world, () => world.slack.ephemerals(TEAM, PEOPLE.admin).length > 0, 'the connection');
  const both = ['acme', 'beacon'];
  for (const account of both) {
    await watch(world, `storefront failures --account ${account}`);
    await watch(world, `storefront all --account ${account}`, OTHER);
  }
  let deployments = 0;
  const deployIn = (account: string, succeeded: boolean) => {
    deployments += 1;
    const endRef = `abc123${deployments}`;
    const more = { project: 'storefront', endRef, user: 'Kim', succeeded };
    world.service.world.addDeployment({ account, ...more });
  };
  const headlines = (channel: string, words: string) =>
    both.map((account) =>
      texts(world, channel).some((text) => text.includes(`Storefront in ${account}${words}`)),
    );
  const isTold = (channel: string, words: string) => () => headlines(channel, words).every(Boolean);
  for (const account of both) deployIn(account, false);
  await until(world, isTold(CHANNEL, ': the deployment'), 'both failures');
  const listed = await ask(world, '/deckhand failing');
  await ann.openHome();
  const home = () => JSON.stringify(world.slack.home(TEAM, PEOPLE.admin)?.content.blocks ?? []);
  await until(world, () => home().includes('Failing now'), 'Home');
  for (const place of [listed, home()])
    for (const account of both) expect(place).toContain(`|Storefront> in ${account}: the deployment`);
  for (const account of both) deployIn(account, true);
  await until(world, isTold(CHANNEL, ' recovered after'), 'both recoveries');
  for (const account of both) deployIn(account, true);
  const isNamed = (account: string) =>
    texts(world, OTHER).some((text) => text.includes(` succeeded in ${account}. `));
  await until(world, () => both.every(isNamed), 'both successes');
});

test('the feed is polled once a minute, later if a busy service asks, and ever later while it fails', async () => {
  const world = await openDigestWorld();
  onTestFinished(() => world.stop());
  await world.say('watch all');
  /** Seconds that pass until the feed was asked for so often more. */
  async function secondsUntil(amount: number): Promise<number> {
    const [from, before] = [world.time.now(), countPolls(world)];
    await world.passUntil(() => countPolls(world) >= before + amount);
    return (world.time.now() - from) / 1000;
  }
  // The account was read more rarely before.
  await world.pass(15 * 60_000);
  await secondsUntil(1);
  const minute = await secondsUntil(1);
  expect(minute).toBeGreaterThan(50);
  expect(minute).toBeLessThan(70);

  world.service.faults.add({ path: '/acme/activity', status: 429, retryAfter: '600', times: 1 });
  await secondsUntil(1);
  expect(await secondsUntil(1)).toBeGreaterThan(595);

  const fault = world.service.faults.add({ path: '/acme/activity', status: 500 });
  await secondsUntil(1);
  const longer = await secondsUntil(1);
  expect(longer).toBeGreaterThan(100);
  expect(longer).toBeLessThan(150);
  expect(await secondsUntil(1)).toBeGreaterThan(200);
  expect(await ask(world, '/deckhand watch list', 'admin')).toContain('The service does not answer');
  fault.remove();
  expect(await secondsUntil(2)).toBeLessThan(700);
});
