import { afterEach, beforeEach, describe, expect } from 'vitest';
import { confirmSite, POST, shows } from '../../commands/servers/ordering.ts';
import { answerTo, ask, shareList } from '../../support/asking.ts';
import { test } from '../../support/fixtures.ts';
import { createManualClock, type ManualClock } from '../../support/manual-clock.ts';
import {
  ACCOUNT,
  CHANNEL,
  EMAIL,
  openTestWorld,
  PEOPLE,
  TEAM,
  type TestWorld,
} from '../../support/test-world.ts';

const OTHER = 'C0BILLING';

describe('watch', () => {
  test.override({ worldOptions: { env: { NOTICE_INTERVAL_MS: '40' } }, connected: true });
  test.beforeEach(async ({ world }) => {
    for (const channel of [CHANNEL, OTHER]) world.slack.invite(TEAM, channel, 'bot');
  });

  const texts = (world: TestWorld, channel = CHANNEL) =>
    world.slack.messages(TEAM, channel).map(({ text }) => text);
  const news = (world: TestWorld, channel = CHANNEL) =>
    world.slack.messages(TEAM, channel).filter(({ text }) => !/now hears|the watch of/.test(text));
  const blocks = (world: TestWorld, channel = CHANNEL) => JSON.stringify(world.slack.messages(TEAM, channel));
  const dms = (world: TestWorld) => world.slack.dms(TEAM, PEOPLE.admin).map(({ text }) => text);
  const until = (world: TestWorld, check: () => boolean, what: string) => world.slack.until(check, { what });
  const say = (world: TestWorld, line: string, channel = CHANNEL) =>
    world.as('admin').command(channel, `/deckhand ${line}`);

  async function watch(world: TestWorld, words: string, channel = CHANNEL): Promise<string> {
    const before = texts(world, channel).length;
    await say(world, `watch ${words}`, channel);
    await until(world, () => texts(world, channel).length > before, `an answer to watch ${words}`);
    return blocks(world, channel);
  }

  const idIn = (shown: string) => /.*watch:pause#(\w+)/.exec(shown)?.[1] ?? '';

  function deploy(world: TestWorld, ref: string, { project = 'storefront', succeeded = true } = {}): void {
    world.service.world.addDeployment({ account: ACCOUNT, project, succeeded, endRef: ref, user: 'Kim' });
  }

  /** Resolves when the feed was asked for anew, and the answer dealt with, so that nothing more is to come. */
  async function looks(world: TestWorld, amount = 3): Promise<void> {
    for (let look = 0; look < amount; look += 1)
      await world.service.requests.next(({ path }) => path.endsWith('/activity'));
  }

  test('watch tells the channel each event once, and nothing of what was before', async ({ world }) => {
    deploy(world, 'before0');
    expect(await watch(world, 'all')).toContain('any project of `acme`');
    await looks(world);
    deploy(world, 'after01');
    await until(world, () => blocks(world).includes('after01'), 'the first event');
    deploy(world, 'after02', { project: 'billing-api', succeeded: false });
    await until(world, () => blocks(world).includes('after02'), 'the second event');
    await looks(world);
    expect(news(world)).toHaveLength(2);
    expect(blocks(world)).not.toContain('before0');
    expect(news(world)[1]?.text).toContain('Billing API: deployments are failing since');
  });

  test('watch does not repeat the server that server add announced in its channel', async ({ world }) => {
    await watch(world, 'storefront all');
    await watch(world, 'all', OTHER);
    await confirmSite(world);
    await world.as('admin').submit('server.add');
    await until(world, () => blocks(world, OTHER).includes('shop'), 'the server in the other channel');
    deploy(world, 'after01');
    await until(world, () => blocks(world).includes('after01'), 'the deployment');
    expect(news(world).map(({ text }) => text)).toEqual([
      expect.stringContaining('*shop* in *Storefront*'),
      expect.stringContaining('after01'),
    ]);
  });

  test('watch tells of a server that somebody else makes, after the same order of Deckhand’s was refused', async ({
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
    await until(world, () => blocks(world).includes('server created'), 'the server of somebody else');
  });

  test('watch says once that an event cannot be read, and again only where there are more', async ({
    world,
  }) => {
    await watch(world, 'all failures');
    const odd = { event: null, created_at: 'soon' };
    const answer = (body: unknown[]) =>
      world.service.faults.add({ path: '/acme/activity', status: 200, body });
    const first = answer([odd]);
    await until(world, () => news(world).length > 0, 'the note');
    await looks(world);
    expect(blocks(world)).toMatch(/1 entry could not be read\. Reference `[0-9a-f]{8}`/);
    first.remove();
    await looks(world);
    answer([odd, odd]);
    await until(world, () => blocks(world).includes('2 entries could not be read'), 'the other');
    await looks(world);
    expect(news(world)).toHaveLength(2);
  });

  test('watch keeps to a project and to failures', async ({ world }) => {
    await watch(world, 'storefront failures');
    deploy(world, 'failed1', { project: 'billing-api', succeeded: false });
    deploy(world, 'passed1');
    deploy(world, 'failed2', { succeeded: false });
    await until(world, () => blocks(world).includes('failed2'), 'the failure');
    await looks(world);
    expect(blocks(world)).not.toContain('failed1');
    expect(blocks(world)).not.toContain('passed1');
  });

  test('watch finds the events of a project that the service lists without its identifier', async ({
    world,
  }) => {
    const body = [{ name: 'Storefront', permalink: 'storefront' }];
    world.service.faults.add({ path: `/${ACCOUNT}/projects`, status: 200, body });
    await watch(world, 'storefront all');
    deploy(world, 'failed1', { project: 'billing-api', succeeded: false });
    deploy(world, 'passed1');
    await until(world, () => blocks(world).includes('passed1'), 'the deployment');
    await looks(world);
    expect(blocks(world)).not.toContain('failed1');
  });

  test.for(['all', 'failures', 'transitions'])(
    'watch makes four messages of twelve failures in four episodes, with the mode %s',
    async (mode, { world }) => {
      const ended = () => news(world).filter(({ text }) => text.includes('recovered after')).length;
      await watch(world, `storefront ${mode}`);
      for (let episode = 0; episode < 4; episode += 1) {
        for (let at = 0; at < 3; at += 1) deploy(world, `failed${episode}${at}`, { succeeded: false });
        await until(world, () => news(world).at(-1)?.text.includes('3 failures since') === true, 'it');
        deploy(world, `passed${episode}`);
        await until(world, () => ended() === episode + 1, 'its end');
      }
      await looks(world);
      expect(news(world).map(({ text }) => text)).toEqual(
        Array.from({ length: 4 }, () =>
          expect.stringMatching(/^Storefront recovered after .* and 3 failures: `\w+` by Kim\.$/),
        ),
      );
      for (const { ts } of news(world)) expect(world.slack.thread(TEAM, CHANNEL, ts)).toHaveLength(3);
    },
  );

  test('watch asks once for all channels, and tells an event once where several watches fit', async ({
    world,
  }) => {
    await watch(world, 'all');
    await watch(world, 'storefront failures');
    await watch(world, 'all failures', OTHER);
    world.service.requests.clear();
    await looks(world, 5);
    const asked = world.service.requests.all.filter(({ path }) => path.endsWith('/activity')).length;
    expect(asked).toBeLessThanOrEqual(6);
    deploy(world, 'failed1', { succeeded: false });
    await until(
      world,
      () => blocks(world).includes('failed1') && blocks(world, OTHER).includes('failed1'),
      'both channels',
    );
    await looks(world);
    expect(news(world)).toHaveLength(1);
    expect(news(world, OTHER)).toHaveLength(1);
  });

  test('watch makes one message of more than ten, whose thread holds them', async ({ world }) => {
    await watch(world, 'all');
    world.service.faults.add({ path: '/acme/activity', delayMs: 100, times: 1 });
    for (let at = 10; at < 47; at += 1) deploy(world, `ref00${at}`);
    await until(
      world,
      () => news(world).some(({ text }) => text.includes('events in `acme`')),
      'the summary',
    );
    const told = () =>
      news(world)
        .map((root) => JSON.stringify([root, world.slack.thread(TEAM, CHANNEL, root.ts)]))
        .join();
    const missing = () =>
      Array.from({ length: 37 }, (_, at) => `ref00${at + 10}`).filter((ref) => !told().includes(ref));
    await until(world, () => missing().length === 0, 'all in the thread');
    await looks(world);
    expect(news(world).length).toBeLessThanOrEqual(2);
  });

  test('watch posts a long list in the channel where threads are off', async ({ world }) => {
    await watch(world, 'all');
    const ann = world.as('admin');
    await ann.command(CHANNEL, '/deckhand settings');
    await until(world, () => ann.openView() !== undefined, 'the settings');
    await ann.submit('settings', { threads: 'off' });
    const before = texts(world).length;
    world.service.faults.add({ path: '/acme/activity', delayMs: 100, times: 1 });
    for (let at = 10; at < 47; at += 1) deploy(world, `ref00${at}`);
    await until(world, () => texts(world).length > before + 1, 'the list');
    const added = world.slack.messages(TEAM, CHANNEL).slice(before);
    expect(JSON.stringify(added)).toContain('ref0046');
    expect(added.flatMap(({ ts }) => world.slack.thread(TEAM, CHANNEL, ts))).toEqual([]);
  });

  test('watch says that some may be missing after more than a page at once', async ({ world }) => {
    await watch(world, 'storefront failures');
    const fault = world.service.faults.add({ path: '/acme/activity', status: 503 });
    for (let at = 0; at < 120; at += 1) deploy(world, `ref${1000 + at}`, { project: 'billing-api' });
    fault.remove();
    await until(world, () => blocks(world).includes('some may be missing here'), 'the warning');
    await looks(world);
    expect(news(world)).toHaveLength(1);
  });

  test('watch changes the mode of what is watched, and says so of what it is told already', async ({
    world,
  }) => {
    await watch(world, 'storefront');
    expect(await watch(world, 'storefront transitions')).toContain(
      '*Storefront* in `acme`: changes between failing and passing',
    );
    expect(await ask(world, '/deckhand watch storefront transitions', 'admin')).toContain('Already watching');
  });

  test('watch means the channel’s project, the only one, or asks', async ({ world }) => {
    expect(await ask(world, '/deckhand watch failures', 'admin')).toContain('Billing API');
    await say(world, 'use storefront');
    await until(world, () => texts(world).length === 1, 'the binding');
    expect(await watch(world, 'failures')).toContain('when deployments of *Storefront* fail');
  });

  test('watch names the modes after a project and a word that is none', async ({ world }) => {
    const said = await ask(world, '/deckhand watch storefront fails', 'admin');
    expect(said).toContain('`fails` is not a mode. Use `all`, `failures` or `transitions`.');
    expect(await ask(world, '/deckhand watch web shop', 'admin')).toContain('There is no project `web shop`');
  });

  test('watch does not begin in a channel where it cannot speak', async ({ world }) => {
    world.slack.kick(TEAM, CHANNEL, 'bot');
    expect(await ask(world, '/deckhand watch all', 'admin')).toContain('Invite it');
    world.slack.invite(TEAM, CHANNEL, 'bot');
    expect(await ask(world, '/deckhand watch list', 'admin')).toContain('This channel has no watch yet');
  });

  describe('what is set up', () => {
    test.for([
      ['watch', 'watch storefront failures'],
      ['digest', 'digest add daily 09:00 UTC'],
      ['guard', 'guard add storefront hourly UTC'],
    ] as const)('a %s is listed for members without its buttons', async ([kind, line], { world }) => {
      expect(await ask(world, `/deckhand ${kind} list`)).toContain(
        `has no ${kind} yet. Operators set one up`,
      );
      await say(world, line);
      await until(world, () => texts(world).length > 0, 'the card');
      deploy(world, 'mine001');
      await ask(world, '/deckhand me Kim', 'billing');
      await ask(world, '/deckhand watch mine', 'billing');
      for (const scope of ['here', 'all']) {
        const list = await ask(world, `/deckhand ${kind} list ${scope}`);
        expect(list).toContain(`1 ${kind} of this`);
        expect(list).not.toMatch(/"button"|your own deployments|adds one/);
        expect(await ask(world, `/deckhand ${kind} list ${scope}`, 'admin')).toContain(`${kind}:pause`);
      }
    });

    test('watch what is set up is listed with who, when and what came of it, and paused, resumed and stopped by buttons', async ({
      world,
    }) => {
      const id = idIn(await watch(world, 'storefront'));
      await watch(world, 'all failures');
      deploy(world, 'after01');
      await until(world, () => blocks(world).includes('after01'), 'the event');
      await looks(world);
      await shareList(world, 'watch list');
      const list = () =>
        world.slack.messages(TEAM, CHANNEL).find(({ text }) => text.includes('of this channel'));
      const shown = () => JSON.stringify(list()?.blocks);
      expect(shown()).toContain(`Set up by <@${PEOPLE.admin}>`);
      expect(shown()).toContain('Last: 1 event');
      expect(shown()).toContain('Nothing was posted yet');
      const press = (verb: string) =>
        world
          .as('admin')
          .click({ channel: CHANNEL, ts: list()?.ts ?? '' }, { actionId: `watch:${verb}#${id}` });
      await press('pause');
      await until(world, () => shown().includes(`Paused by <@${PEOPLE.admin}>`), 'the pause');
      deploy(world, 'paused1');
      await looks(world);
      await press('resume');
      await until(world, () => !shown().includes('Paused'), 'the resumption');
      deploy(world, 'after02');
      await until(world, () => blocks(world).includes('after02'), 'the next event');
      expect(blocks(world)).not.toContain('paused1');
      await press('remove');
      await until(world, () => list()?.text === '1 watch of this channel', 'the end');
      deploy(world, 'stopped');
      await looks(world);
      expect(blocks(world)).not.toContain('stopped');
    });

    test('watch what is set up is stopped by id, project, or all at once, and asks where several would do', async ({
      world,
    }) => {
      const first = idIn(await watch(world, 'storefront'));
      await watch(world, 'billing-api');
      await watch(world, 'all transitions');
      expect(await ask(world, '/deckhand unwatch', 'admin')).toContain('Which watch should be removed?');
      await say(world, `unwatch ${first.toUpperCase()}`);
      await until(
        world,
        () => texts(world).some((text) => text.includes('removed the watch of *Storefront*')),
        'the first',
      );
      await say(world, 'unwatch billing-api');
      await until(
        world,
        () => texts(world).some((text) => /removed the watch.*Billing API/.test(text)),
        'the second',
      );
      await say(world, 'unwatch all');
      await until(
        world,
        () => texts(world).some((text) => /removed the watch.*all projects/.test(text)),
        'the rest',
      );
      expect(await ask(world, '/deckhand unwatch', 'admin')).toContain('has no watch yet');
      expect(await ask(world, '/deckhand unwatch wxyz', 'admin')).toContain('There is no watch `wxyz`');
    });

    test('watch comes back where its removal is undone, with what happened in the meantime', async ({
      world,
    }) => {
      const id = idIn(await watch(world, 'storefront'));
      await shareList(world, 'watch list');
      const list = () => world.slack.messages(TEAM, CHANNEL).at(1);
      const press = (actionId: string) =>
        world.as('admin').click({ channel: CHANNEL, ts: list()?.ts ?? '' }, { actionId });
      await press(`watch:remove#${id}`);
      await until(world, () => JSON.stringify(list()?.blocks).includes('has no watch yet'), 'the removal');
      deploy(world, 'between');
      await press('watch:undo');
      await until(world, () => JSON.stringify(list()?.blocks).includes(`watch:remove#${id}`), 'the watch');
      await until(world, () => blocks(world).includes('between'), 'the event');
    });

    test('watch edit changes a watch in a form, and refuses the project of another one', async ({
      world,
    }) => {
      const id = idIn(await watch(world, 'storefront failures'));
      await watch(world, 'billing-api');
      const ann = world.as('admin');
      await say(world, `watch edit ${id}`);
      await until(world, () => ann.openView() !== undefined, 'the form');
      expect(JSON.stringify(ann.openView()?.content.blocks)).toContain('Failures');
      const viewId = ann.openView()?.id ?? '';
      await ann.suggest({ viewId }, { actionId: 'project', query: 'bill' });
      const taken = await ann.submit('watch.edit', { project: 'billing-api' });
      expect(taken.errors?.project).toContain('Another watch');
      await ann.suggest({ viewId }, { actionId: 'project', query: 'store' });
      await ann.submit('watch.edit', { mode: 'transitions', project: 'storefront' });
      const edited = 'edited the watch of *Storefront* in `acme`: changes';
      await until(world, () => texts(world).some((text) => text.includes(edited)), 'the edit');
    });

    test('watch what is set up pauses and resumes by words, from another channel too', async ({ world }) => {
      const id = idIn(await watch(world, 'all'));
      await say(world, 'watch pause');
      await until(world, () => blocks(world).includes(`<@${PEOPLE.admin}> paused the watch`), 'the pause');
      deploy(world, 'paused1');
      const said = await answerTo(world, 'admin', () => say(world, `watch resume ${id}`, OTHER));
      expect(said).toContain('resumed the watch of all projects');
      expect(blocks(world)).toContain(`<@${PEOPLE.admin}> resumed the watch`);
      deploy(world, 'after01');
      await until(world, () => blocks(world).includes('after01'), 'the event');
      expect(blocks(world)).not.toContain('paused1');
    });
  });

  describe('what cannot be told', () => {
    test('watch what cannot be told is paused with the reason and one message, and goes on from there once it is resumed', async ({
      world,
    }) => {
      const id = idIn(await watch(world, 'all'));
      await watch(world, 'storefront failures');
      world.slack.archiveChannel(TEAM, CHANNEL);
      deploy(world, 'failed1', { succeeded: false });
      await until(world, () => dms(world).length > 0, 'the message');
      expect(dms(world)[0]).toContain('the channel is archived');
      expect(dms(world)[0]).toContain('press “Resume”');
      world.slack.unarchiveChannel(TEAM, CHANNEL);
      world.slack.invite(TEAM, CHANNEL, 'bot');
      await say(world, `watch resume ${id}`);
      await until(world, () => blocks(world).includes('failed1'), 'what was missed');
      deploy(world, 'after01');
      await until(world, () => blocks(world).includes('Storefront recovered'), 'what comes');
      expect(news(world).filter(({ blocks: one }) => JSON.stringify(one).includes('failed1'))).toHaveLength(
        1,
      );
      expect(dms(world)).toHaveLength(1);
    });

    test('watch what cannot be told of an episode is shown once its channel is there again', async ({
      world,
    }) => {
      const id = idIn(await watch(world, 'all failures'));
      deploy(world, 'failed1', { succeeded: false });
      await until(world, () => blocks(world).includes('failed1'), 'the failure');
      world.slack.archiveChannel(TEAM, CHANNEL);
      deploy(world, 'passed1');
      await until(world, () => dms(world).length > 0, 'the message');
      expect(dms(world)[0]).toContain('the channel is archived');
      world.slack.unarchiveChannel(TEAM, CHANNEL);
      world.slack.invite(TEAM, CHANNEL, 'bot');
      await say(world, `watch resume ${id}`);
      await until(world, () => blocks(world).includes('Storefront recovered'), 'its end');
      expect(news(world).filter(({ text }) => text.includes('Storefront'))).toHaveLength(1);
    });

    test('watch what cannot be told pauses all watches of an account that refuses, once', async ({
      world,
    }) => {
      await watch(world, 'all');
      await watch(world, 'all', OTHER);
      const fault = world.service.faults.add({
        path: '/acme/activity',
        status: 403,
        body: { error_code: 'api_access_restricted' },
      });
      await until(world, () => dms(world).length > 0, 'the message');
      expect(dms(world)[0]).toContain('the plan of the account `acme` has no API access');
      expect(await ask(world, '/deckhand watch resume', 'admin')).toContain('has no API access');
      fault.remove();
      deploy(world, 'after01');
      await say(world, 'watch resume');
      await until(world, () => blocks(world).includes('after01'), 'what was missed');
      expect(dms(world)).toHaveLength(1);
    });

    test('watch goes on where the feed is not found twice, and pauses once it is not found three times in a row', async ({
      world,
    }) => {
      await watch(world, 'all');
      const body = { error_code: 'record_not_found', hint: 'The feed is being moved.' };
      const missing = { path: '/acme/activity', status: 404, body };
      for (let time = 0; time < 2; time += 1) {
        world.service.faults.add({ ...missing, times: 2 });
        deploy(world, `after0${time}`);
        await until(world, () => blocks(world).includes(`after0${time}`), 'what comes');
      }
      expect(dms(world)).toHaveLength(0);
      world.service.faults.add({ ...missing, times: 3 });
      await until(world, () => dms(world).length > 0, 'the message');
      expect(dms(world)[0]).toContain('did not find the activity of the account `acme`');
      expect(dms(world)[0]).toContain('The feed is being moved');
      expect(dms(world)[0]).not.toContain('no account named');
    });

    test('watch what cannot be told pauses with the key and goes on with a new one, with one message for the whole workspace', async ({
      world,
    }) => {
      await watch(world, 'all');
      await watch(world, 'all', OTHER);
      const apiKey = world.service.world.rotateKey({ account: ACCOUNT, email: EMAIL });
      await until(world, () => dms(world).length > 0, 'the message');
      expect(dms(world)[0]).toContain('the key of the account `acme` was revoked or rotated');
      deploy(world, 'missed1');
      const ann = world.as('admin');
      await ann.command(CHANNEL, '/deckhand connect');
      await until(world, () => ann.openView() !== undefined, 'the form');
      await ann.submit('connect', { account: ACCOUNT, email: EMAIL, api_key: apiKey });
      await until(
        world,
        () => blocks(world).includes('missed1') && blocks(world, OTHER).includes('missed1'),
        'both channels',
      );
      expect(dms(world)).toHaveLength(1);
    });
  });
});

describe('the feed', () => {
  let world: TestWorld;
  let time: ManualClock;
  beforeEach(async () => {
    time = createManualClock();
    world = await openTestWorld({ time, connected: true });
    world.slack.invite(TEAM, CHANNEL, 'bot');
    await world.as('admin').command(CHANNEL, '/deckhand watch all');
    await world.slack.until(() => world.slack.messages(TEAM, CHANNEL).length > 0);
    world.service.requests.clear();
  });
  afterEach(() => world.stop());

  const asked = () => world.service.requests.all.filter(({ path }) => path.endsWith('/activity')).length;

  /** Lets time pass until it was asked so often, and tells how long that took, in seconds. */
  async function secondsUntil(amount: number): Promise<number> {
    const from = time.now();
    while (asked() < amount) {
      await time.advance(1000);
      for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    }
    return (time.now() - from) / 1000;
  }

  test('the feed is looked at once a minute', async () => {
    const minute = await secondsUntil(1);
    expect(minute).toBeGreaterThan(50);
    expect(minute).toBeLessThan(70);
  });

  test('the feed is left alone as long as a busy service asks', async () => {
    world.service.faults.add({ path: '/acme/activity', status: 429, retryAfter: '600', times: 1 });
    await secondsUntil(1);
    expect(await secondsUntil(2)).toBeGreaterThan(595);
  });

  test('the feed is looked at more and more seldom while the service fails, and the list says so', async () => {
    const fault = world.service.faults.add({ path: '/acme/activity', status: 500 });
    await secondsUntil(1);
    expect(await secondsUntil(2)).toBeGreaterThan(100);
    expect(await secondsUntil(3)).toBeGreaterThan(200);
    expect(await ask(world, '/deckhand watch list', 'admin')).toContain('The service does not answer');
    fault.remove();
    expect(await secondsUntil(5)).toBeLessThan(700);
  });
});
