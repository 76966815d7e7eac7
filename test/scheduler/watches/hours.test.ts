import { describe, expect } from 'vitest';
import { systemClock } from '../../../src/core/time/clock.ts';
import { ask } from '../../support/asking.ts';
import { leaveFailure } from '../../support/failure-menu.ts';
import { CHANNEL, PEOPLE, TEAM } from '../../support/test-world.ts';
import { test as base, deploy, news, polls, press, say, shown, thread, untilShown } from '../channel.ts';

/** Friday evening in Lisbon, which is where the admin is. */
const FRIDAY = Date.parse('2026-11-20T17:30:00Z');
const SATURDAY = Date.parse('2026-11-21T11:00:00Z');
const MONDAY = Date.parse('2026-11-23T09:00:30Z');

/** The clock of all three, which a test sets. */
function settableClock() {
  let ahead = FRIDAY - Date.now();
  return {
    ...systemClock,
    now: () => Date.now() + ahead,
    set(at: number) {
      ahead = at - Date.now();
    },
  };
}

const test = base
  .extend('time', () => settableClock())
  .extend('worldOptions', ({ time }) => ({ time, env: { NOTICE_INTERVAL_MS: '40' } }));

describe('a watch with working hours', () => {
  test('posts within them, and what happens in a night and a weekend once, as a summary on Monday', async ({
    world,
    time,
  }) => {
    const card = await say(world, 'watch storefront --hours 9–18');
    expect(card).toContain('Monday to Friday from 09:00 to 18:00, Europe/Lisbon');
    deploy(world, 'friday1');
    await untilShown(world, 'friday1');
    time.set(FRIDAY + 3 * 3_600_000);
    deploy(world, 'evening');
    await polls(world);
    time.set(SATURDAY);
    deploy(world, 'weekend');
    time.set(SATURDAY + 60_000);
    deploy(world, 'outage1', { succeeded: false });
    await polls(world);
    expect(news(world)).toHaveLength(1);
    expect(await ask(world, '/deckhand watch list', 'admin')).toContain('3 events waiting for working hours');
    await world.restart(async () => {});
    time.set(MONDAY);
    await untilShown(world, 'weekend');
    deploy(world, 'monday1');
    await untilShown(world, 'Storefront recovered');
    await polls(world);
    const all = news(world).map((one) => JSON.stringify(one));
    const summary = all.find((one) => one.includes('outside working hours'));
    expect(summary).toContain('2 events outside working hours in `acme`: deploy completed (2)');
    expect(summary).toContain('evening');
    const recovered = news(world).filter(({ text }) => text.includes('Storefront recovered'));
    expect(recovered).toHaveLength(1);
    await world.slack.until(() => thread(world, recovered[0]?.ts).join().includes('monday1'));
    const besidesLastGood = shown(world).replaceAll('Last good: `weekend`', '');
    expect(besidesLastGood.match(/`weekend`/g)).toHaveLength(1);
  });

  test('keeps nothing that another watch of the channel has posted, and its events if its removal is undone', async ({
    world,
    time,
  }) => {
    await say(world, 'watch storefront --hours 9-18');
    await say(world, 'watch all failures');
    time.set(SATURDAY);
    deploy(world, 'failed1', { succeeded: false });
    await untilShown(world, 'failed1');
    deploy(world, 'passed1');
    await untilShown(world, 'Storefront recovered');
    deploy(world, 'passed2');
    await polls(world);
    expect(shown(world)).not.toContain('passed2');
    await say(world, 'unwatch storefront');
    await polls(world);
    await press(world, 'watch:undo');
    await untilShown(world, 'restored the watch');
    time.set(MONDAY);
    await untilShown(world, 'passed2');
    await polls(world);
    expect(news(world)).toHaveLength(2);
    expect(JSON.stringify(news(world)[1])).not.toContain('passed1');
  });

  test('is refused what is no server, no time or another watch’s project, in words and in its form', async ({
    world,
  }) => {
    const refused = (words: string) => ask(world, `/deckhand watch storefront ${words}`, 'admin');
    expect(await refused('--hours soon')).toContain('`9-18`');
    expect(await refused('--hours')).toContain('Which hours? Try');
    expect(await refused('--server web-9')).toContain('There is no server `web-9`');
    await say(world, 'watch storefront failures --server WEB-1 --hours 22-6');
    const [{ id = '' } = {}] = await world.app.workspaces.open(TEAM).schedules.list('watch');
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
    expect(taken.errors?.project).toContain('Another watch of this channel has this project');
    await choose('store');
    const project = { project: 'storefront' };
    const wrong = await ann.submit('watch.edit', { ...project, server: 'web-9', mode: 'all' });
    expect(wrong.errors?.server).toContain('no such server');
    // Under a field Slack shows plain text, without escapes.
    const strange = await ann.submit('watch.edit', { ...project, server: 'web-1', hours: '9 & 18' });
    expect(strange.errors?.hours).toContain('9 & 18 is not a time range');
    await ann.submit('watch.edit', { ...project, server: 'web-1', hours: '22:00-06:00', mode: 'all' });
    await untilShown(world, 'edited the watch');
    const edited = shown(world);
    expect(edited).toContain('|*Storefront*> in `acme` (all events on the server `web-1`');
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
    await untilShown(world, 'mine001');
    await polls(world);
    expect(shown(world)).not.toContain('other01');
    await say(world, 'watch storefront failures');
    expect(await ask(world, '/deckhand watch list', 'admin')).toContain('2 watches of this channel');
    await say(world, 'watch all --server WEB-2');
    deploy(world, 'third01', { servers: ['web-2'] });
    await untilShown(world, 'third01');
  });

  test('waits for no server of a failure that somebody closed', async ({ world }) => {
    await say(world, 'watch storefront failures');
    await polls(world);
    const root = (at: number) => news(world)[at]?.text ?? '';
    deploy(world, 'failed0', { succeeded: false, servers: ['web-1', 'web-2'] });
    await world.slack.until(() => root(0).includes('the deployment'));
    await leaveFailure(world, 'close', { ts: news(world)[0]?.ts ?? '' });
    await world.slack.until(() => root(0).includes(`closed by <@${PEOPLE.admin}>`));
    deploy(world, 'failed1', { succeeded: false });
    await world.slack.until(() => root(1).includes('the deployment'));
    deploy(world, 'passed1');
    await world.slack.until(() => root(1).includes('Storefront recovered after'));
    expect(root(0)).toContain('closed by');
  });

  test('mentions whoever has claimed the name of its events, until they give it back', async ({ world }) => {
    await say(world, 'watch storefront');
    deploy(world, 'first01');
    await untilShown(world, 'first01');
    await ask(world, '/deckhand me kim --all');
    deploy(world, 'mine001');
    await untilShown(world, 'mine001');
    expect(shown(world)).toContain(`\`mine001\` on web-1 and web-2 by <@${PEOPLE.member}>`);
    await ask(world, '/deckhand me none');
    deploy(world, 'mine002');
    await untilShown(world, 'mine002');
    expect(shown(world)).toContain('`mine002` on web-1 and web-2 by Kim');
  });
});
