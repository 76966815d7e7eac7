import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type DigestWorld, openDigestWorld } from '../../scheduler/digests/digest-world.ts';
import { ask, shareList } from '../../support/asking.ts';
import { CHANNEL, PEOPLE, TEAM } from '../../support/test-world.ts';

describe('guard', () => {
  let world: DigestWorld;
  beforeEach(async () => {
    world = await openDigestWorld();
  });
  afterEach(() => world.stop());

  const guards = () => world.app.workspaces.open(TEAM).schedules.list('guard');
  const last = () => world.slack.messages(TEAM, CHANNEL).at(-1);
  const shownAt = (ts: string) =>
    JSON.stringify(world.slack.messages(TEAM, CHANNEL).find((one) => one.ts === ts)?.blocks);
  const click = (ts: string | undefined, actionId: string, who: 'admin' | 'member' = 'admin') =>
    world.as(who).click({ channel: CHANNEL, ts: ts ?? '' }, { actionId });
  const ann = () => world.as('admin');
  const blocks = () => JSON.stringify(ann().openView()?.content.blocks);

  it.each([
    ['storefront daily 09:00 Europe/Lisbon', 'storefront', { kind: 'daily', time: '09:00' }, 'Europe/Lisbon'],
    ['storefront hourly', 'storefront', { kind: 'hourly' }, 'Europe/Lisbon'],
    ['billing api every hour', 'billing-api', { kind: 'hourly' }, 'Europe/Lisbon'],
    ['storefront weekly:mon 9am UTC', 'storefront', { kind: 'weekly', day: 'mon', time: '09:00' }, 'UTC'],
    [
      'storefront cron:"15 */4 * * *" Asia/Tokyo',
      'storefront',
      { kind: 'cron', cron: '15 */4 * * *' },
      'Asia/Tokyo',
    ],
  ])('add %s', async (words, permalink, cadence, zone) => {
    const said = await world.say(`guard add ${words}`);
    expect(said).toContain(`Set up by <@${PEOPLE.admin}>.`);
    expect(said).toContain('You hear only if something is unreachable.');
    const [guard] = await guards();
    expect(guard).toMatchObject({ account: 'acme', project: { permalink }, cadence, zone, channel: CHANNEL });
    // What a channel reads says names: the id stands in lists alone.
    expect(guard?.id).toMatch(/^g[a-z2-9]{3}$/);
    expect(JSON.stringify(last()?.blocks)).not.toContain(`\`${guard?.id}\``);
  });

  it.each([
    ['guard add storefront dayly 09:00', '`dayly` is not a known frequency. Did you mean `daily`?'],
    ['guard add storefront daily 25:00', 'Did you mean `23:00`?'],
    ['guard add storefront daily 09:00 Europe/Lisbn', 'There is no time zone'],
    ['guard add storefront cron:"*/5 * * * *" UTC', 'A guard runs at most once an hour'],
    ['guard add storefront cron:"0,30 9 * * *" UTC', 'A guard runs at most once an hour'],
    ['guard add storefrnt hourly', 'Did you mean `storefront`?'],
    ['guard pause', 'This channel has no guard yet'],
    ['guard lst', 'Did you mean `guard list`?'],
  ])('%s answers %s', async (line, said) => {
    expect(await ask(world, `/deckhand ${line}`, 'admin')).toContain(said);
    expect(await guards()).toEqual([]);
  });

  it('add means the project that the channel is bound to, and else asks which', async () => {
    expect(await ask(world, '/deckhand guard add hourly', 'admin')).toContain('Which project');
    await world.say('use storefront');
    await world.say('guard add hourly');
    expect(await guards()).toMatchObject([{ project: { permalink: 'storefront', name: 'Storefront' } }]);
  });

  it('without words opens a form, which says what is wrong under its fields', async () => {
    await ann().command(CHANNEL, '/deckhand guard add');
    await world.slack.until(() => ann().openView() !== undefined);
    expect(ann().openView()?.content.callback_id).toBe('guard.add');
    expect(blocks()).toContain('"value":"hourly"');
    expect(blocks()).toContain('Next, in your own time: <!date^');
    const viewId = ann().openView()?.id ?? '';
    await ann().suggest({ viewId }, { actionId: 'project', query: 'store' });
    await ann().click({ viewId }, { actionId: 'cadence', selected: 'cron' });
    await world.slack.until(() => blocks().includes('"block_id":"cron"'));
    const wrong = await ann().submit('guard.add', { project: 'storefront', cron: '*/10 * * * *' });
    expect(wrong.errors?.cron).toContain('at most once an hour');
    await ann().submit('guard.add', { project: 'storefront', cron: '10 * * * *' });
    await world.slack.until(() => last()?.text.includes('is checked'));
    expect(await guards()).toMatchObject([
      { project: { permalink: 'storefront' }, cadence: { kind: 'cron', cron: '10 * * * *' } },
    ]);
  });

  it('with a project alone opens the form with that project', async () => {
    await ann().command(CHANNEL, '/deckhand guard add billing api');
    await world.slack.until(() => ann().openView() !== undefined);
    await ann().submit('guard.add', {});
    await world.slack.until(() => last()?.text.includes('*Billing API* is checked every hour.'));
    expect(await guards()).toMatchObject([
      { project: { permalink: 'billing-api' }, cadence: { kind: 'hourly' } },
    ]);
  });

  it('is there once for a project: set up again it is known already, or changed', async () => {
    await world.say('guard add storefront hourly UTC');
    const again = await ask(world, '/deckhand guard add storefront hourly UTC', 'admin');
    expect(again).toContain('Already set up: the guard of *Storefront*');
    expect(await world.say('guard add storefront daily 09:00 UTC')).toContain(
      'edited the guard of *Storefront*',
    );
    expect(await guards()).toMatchObject([{ cadence: { kind: 'daily', time: '09:00' } }]);
  });

  it('is edited in its form by the button of its card, which then shows the new words', async () => {
    await world.say('guard add storefront hourly UTC');
    const card = last()?.ts ?? '';
    await click(card, 'guard:edit');
    await world.slack.until(() => ann().openView() !== undefined);
    await ann().click({ viewId: ann().openView()?.id ?? '' }, { actionId: 'cadence', selected: 'daily' });
    await world.slack.until(() => blocks().includes('"block_id":"time"'));
    await ann().submit('guard.edit', { time: '10:00' });
    await world.slack.until(() => shownAt(card).includes('edited the guard'));
    expect(shownAt(card)).toContain('every day at 10:00');
    expect(await guards()).toMatchObject([{ cadence: { kind: 'daily', time: '10:00' }, zone: 'UTC' }]);
  });

  it('is paused, resumed and removed by its project’s name, and comes back by "Undo"', async () => {
    await world.say('guard add storefront hourly');
    await world.say('guard add billing-api hourly');
    expect(await world.say('guard pause storefront')).toContain('paused the guard of *Storefront*');
    expect(await world.say('guard resume')).toContain('resumed the guard of *Storefront*');
    const before = await guards();
    expect(await world.say('guard remove billing-api')).toContain('removed the guard of *Billing API*');
    const removed = last()?.ts ?? '';
    await click(removed, 'guard:undo');
    await world.slack.until(() => shownAt(removed).includes('restored the guard'));
    expect(await guards()).toEqual(before);
  });

  it('runs now when an operator asks, and not while it is paused', async () => {
    const passed = async (ms: number) => {
      const until = world.time.now() + ms;
      await world.passUntil(() => world.time.now() >= until);
    };
    const runs = () => world.service.requests.all.filter(({ path }) => path.endsWith('/test_access')).length;
    await world.say('guard add storefront hourly UTC');
    await world.passUntil(async () => (await guards())[0]?.last?.outcome === 'reachable');
    expect(await ask(world, '/deckhand guard run')).toContain('Only operators can do this');
    expect(runs()).toBe(1);
    expect(await world.say('guard run')).toContain('started the guard of *Storefront*');
    await passed(20_000);
    expect(runs()).toBe(2);
    expect(world.slack.messages(TEAM, CHANNEL)).toHaveLength(2);
    await world.say('guard pause');
    expect(await ask(world, '/deckhand guard run storefront', 'admin')).toContain('guard resume');
    await passed(20_000);
    expect(runs()).toBe(2);
  });

  it('asks with a menu which is meant, where the channel has several', async () => {
    await world.say('guard add storefront hourly');
    await world.say('guard add billing-api hourly');
    const asked = await ask(world, '/deckhand guard pause', 'admin');
    expect(asked).toContain('Which guard should be ');
    const { ts = '' } = world.slack.ephemerals(TEAM, PEOPLE.admin).at(-1) ?? {};
    const billing = (await guards()).find(({ project }) => project.permalink === 'billing-api');
    await ann().click({ channel: CHANNEL, ts }, { actionId: 'start:choose', selected: billing?.id ?? '' });
    await world.slack.until(() => last()?.text.includes('paused the guard of *Billing API*'));
  });

  it('list shows id, when and by whom, and its buttons draw it anew', async () => {
    await world.say('guard add storefront hourly');
    const [guard] = await guards();
    const { ts } = await shareList(world, 'guard list');
    for (const words of [
      `\`${guard?.id}\``,
      '*Storefront* in `acme`, every hour',
      'Next <!date^',
      'No result yet.',
    ])
      expect(shownAt(ts)).toContain(words);
    await click(ts, 'guard:pause');
    await world.slack.until(() => shownAt(ts).includes(`Paused by <@${PEOPLE.admin}>`));
    await click(ts, 'guard:remove');
    await world.slack.until(() => shownAt(ts).includes('has no guard yet'));
  });

  it('counts among the schedules of a channel', async () => {
    await world.say('guard add storefront hourly');
    const workspace = world.app.workspaces.open(TEAM);
    const [guard] = await guards();
    if (guard === undefined) throw new Error('there is no guard');
    for (let n = 1; n < 50; n += 1)
      await workspace.schedules.put({ ...guard, id: `g${n}`, requestId: `r${n}` });
    expect(await ask(world, '/deckhand digest add daily 09:00 UTC', 'admin')).toContain(
      'This channel has 50 schedules, and 50 is the most.',
    );
    // All are listed, in several messages; one that the channel reads ends where it is full.
    await world.as('admin').command(CHANNEL, '/deckhand guard list');
    const listed = () => JSON.stringify(world.slack.ephemerals(TEAM, PEOPLE.admin));
    const ids = Array.from({ length: 49 }, (_, at) => `\`g${at + 1}\``);
    await world.slack.until(() => ids.every((id) => listed().includes(id)), { what: 'all guards' });
    const end = () =>
      world.slack
        .ephemerals(TEAM, PEOPLE.admin)
        .find(({ blocks }) => JSON.stringify(blocks).includes('guard:share'));
    await world.slack.until(() => end() !== undefined, { what: 'the button' });
    await ann().click({ channel: CHANNEL, ts: end()?.ts ?? '' }, { actionId: 'guard:share' });
    await world.slack.until(() => last()?.text.includes('guards of this channel'));
    expect(JSON.stringify(last()?.blocks)).toMatch(/and \d+ more: `\/deckhand guard list here`/);
  });
});
