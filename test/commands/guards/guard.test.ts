import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type DigestWorld, openDigestWorld } from '../../scheduler/digests/digest-world.ts';
import { answerTo, ask } from '../../support/asking.ts';
import { CHANNEL, PEOPLE, TEAM } from '../../support/test-world.ts';

describe('guard', () => {
  let world: DigestWorld;
  beforeEach(async () => {
    world = await openDigestWorld();
  });
  afterEach(() => world.stop());

  const guards = () => world.app.workspaces.open(TEAM).schedules.list('guard');
  const last = () => world.slack.messages(TEAM, CHANNEL).at(-1);

  it('add says in the channel what was set up, and when a channel hears of it', async () => {
    const said = await world.say('guard add storefront cron:"15 */4 * * *" Asia/Tokyo');
    const [card] = world.slack.messages(TEAM, CHANNEL);
    const [line] = world.slack.thread(TEAM, CHANNEL, card?.ts ?? '');
    expect(line?.text).toContain(`<@${PEOPLE.admin}> set up the guard of Storefront`);
    expect(said).toContain('You hear only if something is unreachable.');
    const [guard] = await guards();
    expect(guard).toMatchObject({
      account: 'acme',
      project: { permalink: 'storefront' },
      cadence: { cron: '15 */4 * * *' },
      zone: 'Asia/Tokyo',
      channel: CHANNEL,
    });
    // What a channel reads says names: the id stands in lists alone.
    expect(guard?.id).toMatch(/^g[a-z2-9]{3}$/);
    expect(JSON.stringify(last()?.blocks)).not.toContain(`\`${guard?.id}\``);
  });

  it.each([
    ['guard add storefront dayly 09:00', '`dayly` is not a known frequency. Did you mean `daily`?'],
    ['guard add storefront cron:"*/5 * * * *" UTC', 'A guard runs at most once an hour'],
  ])('%s answers %s', async (line, said) => {
    expect(await ask(world, `/deckhand ${line}`, 'admin')).toContain(said);
    expect(await guards()).toEqual([]);
  });

  it('means the project that the channel is bound to, and is there once for it: known already, or changed', async () => {
    expect(await ask(world, '/deckhand guard add hourly UTC', 'admin')).toContain('Which project');
    await world.say('use storefront');
    await world.say('guard add hourly UTC');
    const again = await ask(world, '/deckhand guard add storefront hourly UTC', 'admin');
    expect(again).toContain('/projects/storefront|*Storefront*> in `acme` (every hour)');
    expect(await world.say('guard add storefront daily 09:00 UTC')).toContain(
      'Edited: the guard of Storefront',
    );
    expect(await guards()).toMatchObject([
      { project: { name: 'Storefront' }, cadence: { kind: 'daily', time: '09:00' } },
    ]);
    expect(await world.say('guard remove storefront')).toContain('Removed: the guard of Storefront');
    const answer = () => world.slack.ephemerals(TEAM, PEOPLE.admin).at(-1);
    const { ts = '' } = answer() ?? {};
    await world.as('admin').click({ channel: CHANNEL, ts }, { actionId: 'guard:undo' });
    await world.slack.until(() => answer()?.text.includes('Restored: the guard'));
    expect(last()?.text, 'the channel hears of the removal alone').toContain('removed the guard');
    expect(await guards()).toMatchObject([{ cadence: { kind: 'daily', time: '09:00' } }]);
  });

  it('add opens the form of the guard that there is, and changes nothing that was not chosen', async () => {
    const { slack } = world;
    await world.say('guard add storefront daily 09:00 UTC --mention @bea --after 1h');
    const escalation = { mention: PEOPLE.billing, after: 60 };
    const ann = world.as('admin');
    const form = () => ann.openView()?.content;
    const texts = () => JSON.stringify(form()?.blocks);

    await ann.command(CHANNEL, '/deckhand guard add storefront');
    await slack.until(() => form()?.callback_id === 'guard.edit', { what: 'the form that edits' });
    expect(texts()).toContain('This channel has the guard of *Storefront*');
    expect(ann.openView()?.values).toMatchObject({
      time: { time: { selected_time: '09:00' } },
      mention: { mention: { value: '@bea' } },
    });
    await answerTo(world, 'admin', () => ann.submit('guard.edit', { time: '10:00' }));
    expect(await guards()).toMatchObject([{ cadence: { time: '10:00' }, escalation }]);

    // The project is chosen in the form.
    await ann.command(CHANNEL, '/deckhand guard add');
    await slack.until(() => form()?.callback_id === 'guard.add');
    await ann.suggest({ viewId: ann.openView()?.id ?? '' }, { actionId: 'project', query: 'store' });
    const asked = await ann.submit('guard.add', { project: 'storefront', mention: '@ben' });
    expect(asked.body).toContain('You chose: Every hour');
    expect(asked.body).toContain('You chose: @ben');
    expect(form()?.callback_id).toBe('guard.edit');
    expect(await guards()).toMatchObject([{ cadence: { kind: 'daily', time: '10:00' }, escalation }]);
    await answerTo(world, 'admin', () => ann.submit('guard.edit', { mention: '@ben' }));
    expect(await guards()).toMatchObject([{ escalation: { mention: PEOPLE.member } }]);

    // Words change what they name.
    await world.say('guard add storefront hourly UTC');
    expect(await guards()).toMatchObject([
      { cadence: { kind: 'hourly' }, escalation: { mention: PEOPLE.member, after: 60 } },
    ]);
    await world.say('watch storefront failures --hours 9-18 --mention @bea');
    expect(await ask(world, '/deckhand watch storefront', 'admin')).toContain('Already watching');
    await world.say('watch storefront transitions');
    expect(await world.app.workspaces.open(TEAM).schedules.list('watch')).toMatchObject([
      { mode: 'transitions', hours: { from: '09:00' }, escalation: { mention: PEOPLE.billing } },
    ]);
  });

  it('runs now when an operator asks, and not while it is paused', async () => {
    const passed = async (ms: number) => {
      const until = world.time.now() + ms;
      await world.passUntil(() => world.time.now() >= until);
    };
    const runs = () => world.service.requests.all.filter(({ path }) => path.endsWith('/test_access')).length;
    await world.say('guard add storefront hourly UTC');
    await world.passUntil(async () => (await guards())[0]?.last?.outcome === 'reachable');
    expect(await ask(world, '/deckhand guard run')).toContain('Only operators can use `guard run`');
    expect(runs()).toBe(1);
    expect(await world.say('guard run')).toContain('started the guard of Storefront');
    await passed(20_000);
    expect(runs()).toBe(2);
    expect(world.slack.messages(TEAM, CHANNEL)).toHaveLength(2);
    await world.say('guard pause');
    expect(await ask(world, '/deckhand guard run storefront', 'admin')).toContain('guard resume');
    await passed(20_000);
    expect(runs()).toBe(2);
  });

  it('is listed with all others of a channel in several messages', async () => {
    await world.say('guard add storefront hourly');
    const { schedules } = world.app.workspaces.open(TEAM);
    const [guard] = await guards();
    if (guard === undefined) throw new Error('there is no guard');
    for (let n = 1; n < 50; n += 1) await schedules.put({ ...guard, id: `g${n}`, requestId: `r${n}` });
    await world.as('admin').command(CHANNEL, '/deckhand guard list');
    const listed = () => world.slack.ephemerals(TEAM, PEOPLE.admin);
    const ids = Array.from({ length: 49 }, (_, at) => `\`g${at + 1}\``);
    await world.slack.until(() => ids.every((id) => JSON.stringify(listed()).includes(id)));
  });
});
