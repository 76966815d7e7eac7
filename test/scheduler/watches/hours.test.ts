import { describe, expect } from 'vitest';
import { type Clock, systemClock } from '../../../src/core/time/clock.ts';
import { ask, shareList } from '../../support/asking.ts';
import { test as base } from '../../support/fixtures.ts';
import { ACCOUNT, CHANNEL, openTestWorld, PEOPLE, TEAM, type TestWorld } from '../../support/test-world.ts';

/** Friday evening in Lisbon, which is where the admin is. */
const FRIDAY = Date.parse('2026-11-20T17:30:00Z');
const SATURDAY = Date.parse('2026-11-21T11:00:00Z');
const MONDAY = Date.parse('2026-11-23T09:00:30Z');

/** The clock of all three, which a test sets. */
function settableClock(): Clock & { set(at: number): void } {
  let ahead = FRIDAY - systemClock.now();
  return {
    now: () => systemClock.now() + ahead,
    sleep: systemClock.sleep,
    set: (at) => {
      ahead = at - systemClock.now();
    },
  };
}

const test = base
  .extend('time', () => settableClock())
  .extend('world', async ({ time }, { onCleanup }) => {
    const world = await openTestWorld({ time, connected: true, env: { NOTICE_INTERVAL_MS: '40' } });
    onCleanup(() => world.stop());
    world.slack.invite(TEAM, CHANNEL, 'bot');
    return world;
  });

const roots = (world: TestWorld) => world.slack.messages(TEAM, CHANNEL);
const shown = (world: TestWorld) => JSON.stringify(roots(world));
const news = (world: TestWorld) => roots(world).filter(({ text }) => !/now hears|the watch of/.test(text));

async function say(world: TestWorld, line: string): Promise<string> {
  const before = roots(world).length;
  await world.as('admin').command(CHANNEL, `/deckhand ${line}`);
  await world.slack.until(() => roots(world).length > before);
  return JSON.stringify(roots(world).at(-1));
}

function deploy(world: TestWorld, ref: string, { succeeded = true, servers = ['web-1'] } = {}): void {
  const deployment = {
    account: ACCOUNT,
    project: 'storefront',
    succeeded,
    servers,
    endRef: ref,
    user: 'Kim',
  };
  world.service.world.addDeployment(deployment);
}

/** Resolves when the feed was asked for anew, and the answer dealt with, so that nothing more is to come. */
async function polls(world: TestWorld): Promise<void> {
  for (let poll = 0; poll < 3; poll += 1)
    await world.service.requests.next(({ path }) => path.endsWith('/activity'));
}

describe('a watch with working hours', () => {
  test('posts within them, and what happens in a night and a weekend once, as a summary on Monday', async ({
    world,
    time,
  }) => {
    const card = await say(world, 'watch storefront --hours 9–18');
    expect(card).toContain('Monday to Friday from 09:00 to 18:00, Europe/Lisbon');
    deploy(world, 'friday1');
    await world.slack.until(() => shown(world).includes('friday1'));
    time.set(FRIDAY + 3 * 3_600_000);
    deploy(world, 'evening');
    await polls(world);
    time.set(SATURDAY);
    deploy(world, 'weekend');
    time.set(SATURDAY + 60_000);
    deploy(world, 'outage1', { succeeded: false });
    await polls(world);
    expect(news(world)).toHaveLength(1);
    expect(JSON.stringify(await shareList(world, 'watch list'))).toContain(
      '3 events waiting for working hours',
    );
    await world.restart(async () => {});
    time.set(MONDAY);
    await world.slack.until(() => shown(world).includes('weekend'));
    deploy(world, 'monday1');
    await world.slack.until(() => news(world).some(({ text }) => text.includes('Storefront recovered')), {
      what: 'the end of what failed in the weekend',
    });
    await polls(world);
    const [summary = ''] = news(world).flatMap((one) =>
      one.text.includes('outside working hours') ||
      JSON.stringify(one.blocks).includes('outside working hours')
        ? [JSON.stringify(one)]
        : [],
    );
    expect(summary).toContain('2 events outside working hours in `acme`: deploy completed (2)');
    expect(summary).toContain('evening');
    const [failure, ...others] = news(world).filter(({ text }) => text.includes('Storefront recovered'));
    expect(others).toEqual([]);
    const thread = () => JSON.stringify(world.slack.thread(TEAM, CHANNEL, failure?.ts ?? ''));
    await world.slack.until(() => thread().includes('monday1'), { what: 'what ended it' });
    expect(shown(world).match(/`weekend`/g)).toHaveLength(1);
  });

  test('keeps nothing that another watch of the channel has posted, and its events if its removal is undone', async ({
    world,
    time,
  }) => {
    await say(world, 'watch storefront --hours 9-18');
    await say(world, 'watch all failures');
    time.set(SATURDAY);
    deploy(world, 'failed1', { succeeded: false });
    await world.slack.until(() => shown(world).includes('failed1'));
    deploy(world, 'passed1');
    await world.slack.until(() => shown(world).includes('Storefront recovered'));
    deploy(world, 'passed2');
    await polls(world);
    expect(shown(world)).not.toContain('passed2');
    await say(world, 'unwatch storefront');
    const ts = roots(world).at(-1)?.ts ?? '';
    await polls(world);
    await world.as('admin').click({ channel: CHANNEL, ts }, { actionId: 'watch:undo' });
    await world.slack.until(() => shown(world).includes('restored the watch'));
    time.set(MONDAY);
    await world.slack.until(() => shown(world).includes('passed2'));
    await polls(world);
    expect(news(world)).toHaveLength(2);
    expect(JSON.stringify(news(world)[1])).not.toContain('passed1');
  });

  test('is refused what is no server, no time or another watch’s project, in words and in its form', async ({
    world,
  }) => {
    const refused = (words: string) => ask(world, `/deckhand watch storefront ${words}`, 'admin');
    expect(await refused('--hours soon')).toContain('`9-18`');
    expect(await refused('--hours')).toContain('`hours` is missing');
    expect(await refused('--server web-9')).toContain('There is no server `web-9`');
    const card = await say(world, 'watch storefront failures --server WEB-1 --hours 22-6');
    const [, id] = /watch:pause#(\w+)/.exec(card) ?? [];
    await say(world, 'watch billing-api');
    const ann = world.as('admin');
    await ann.command(CHANNEL, `/deckhand watch edit ${id}`);
    await world.slack.until(() => ann.openView()?.content.callback_id === 'watch.edit');
    const form = JSON.stringify(ann.openView()?.content.blocks);
    expect(form).toContain('"initial_value":"web-1"');
    expect(form).toContain('"initial_value":"22:00-06:00"');
    const choose = (query: string) =>
      ann.suggest({ viewId: ann.openView()?.id ?? '' }, { actionId: 'project', query });
    await choose('bill');
    const taken = await ann.submit('watch.edit', { project: 'billing-api', server: '' });
    expect(taken.errors?.project).toContain('already watches');
    await choose('store');
    const project = { project: 'storefront' };
    const wrong = await ann.submit('watch.edit', { ...project, server: 'web-9', mode: 'all' });
    expect(wrong.errors?.server).toContain('no such server');
    // Under a field Slack shows plain text, without escapes.
    const strange = await ann.submit('watch.edit', { ...project, server: 'web-1', hours: '9 & 18' });
    expect(strange.errors?.hours).toContain('9 & 18 is not a time range');
    await ann.submit('watch.edit', { ...project, server: 'web-1', hours: '22:00-06:00', mode: 'all' });
    await world.slack.until(() => shown(world).includes('edited the watch'));
    const edited = JSON.stringify(roots(world).at(-1));
    expect(edited).toContain('*Storefront* in `acme` (all events on the server `web-1`');
    expect(edited).toContain('Monday to Friday from 22:00 to 06:00, Europe/Lisbon');
  });
});

describe('a watch', () => {
  test('of a server posts what happened there alone, beside a watch of the whole project', async ({
    world,
  }) => {
    await say(world, 'watch storefront --server web-1');
    deploy(world, 'other01', { servers: ['web-2'] });
    deploy(world, 'mine001', { servers: ['web-2', 'web-1'] });
    await world.slack.until(() => shown(world).includes('mine001'));
    await polls(world);
    expect(shown(world)).not.toContain('other01');
    await say(world, 'watch storefront failures');
    expect(JSON.stringify(await shareList(world, 'watch list'))).toContain('2 watches of this channel');
    await say(world, 'watch all --server WEB-2');
    deploy(world, 'third01', { servers: ['web-2'] });
    await world.slack.until(() => shown(world).includes('third01'));
  });

  test('waits for no server of a failure that somebody closed', async ({ world }) => {
    await say(world, 'watch storefront failures');
    await polls(world);
    const root = (at: number) => news(world)[at]?.text ?? '';
    deploy(world, 'failed0', { succeeded: false, servers: ['web-1', 'web-2'] });
    await world.slack.until(() => root(0).includes('are failing'));
    const place = { channel: CHANNEL, ts: news(world)[0]?.ts ?? '' };
    await world.as('admin').click(place, { actionId: 'episode:close' });
    await world.slack.until(() => root(0).includes(`closed by <@${PEOPLE.admin}>`));
    deploy(world, 'failed1', { succeeded: false });
    await world.slack.until(() => root(1).includes('are failing'));
    deploy(world, 'passed1');
    await world.slack.until(() => root(1).includes('Storefront recovered after'));
    expect(root(0)).toContain('closed by');
  });

  test('mentions whoever has claimed the name of its events, until they give it back', async ({ world }) => {
    await say(world, 'watch storefront');
    deploy(world, 'first01');
    await world.slack.until(() => shown(world).includes('first01'));
    await ask(world, '/deckhand me kim');
    deploy(world, 'mine001');
    await world.slack.until(() => shown(world).includes('mine001'));
    expect(JSON.stringify(news(world)[1])).toContain(`by <@${PEOPLE.member}>`);
    await ask(world, '/deckhand me none');
    deploy(world, 'mine002');
    await world.slack.until(() => shown(world).includes('mine002'));
    expect(JSON.stringify(news(world)[2])).toContain('by Kim');
  });
});
