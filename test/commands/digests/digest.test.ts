import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { addTimed } from '../../../src/scheduler/schedules/start-schedule.ts';
import { DAY, type DigestWorld, HOUR, openDigestWorld } from '../../scheduler/digests/digest-world.ts';
import { answerTo, ask, isCard } from '../../support/asking.ts';
import { choose } from '../../support/failure-menu.ts';
import { ACCOUNT, CHANNEL, EMAIL, PEOPLE, TEAM } from '../../support/test-world.ts';

type Option = { text: { text: string }; value: string };

describe('digest', () => {
  let world: DigestWorld;
  beforeEach(async () => {
    world = await openDigestWorld();
  });
  afterEach(() => world.stop());

  const digests = () => world.app.workspaces.open(TEAM).schedules.list('digest');
  const last = () => world.slack.messages(TEAM, CHANNEL).at(-1);
  const answer = () => world.slack.ephemerals(TEAM, PEOPLE.admin).at(-1);
  const card = () => world.slack.messages(TEAM, CHANNEL).find(isCard);
  const list = async (line = 'digest list') => ask(world, `/deckhand ${line}`, 'admin');
  const shownAt = (ts: string) => {
    const all = [...world.slack.messages(TEAM, CHANNEL), ...world.slack.ephemerals(TEAM, PEOPLE.admin)];
    return JSON.stringify(all.find((one) => one.ts === ts)?.blocks);
  };
  const click = (ts: string | undefined, actionId: string, who: 'admin' | 'member' = 'admin') =>
    world.as(who).click({ channel: CHANNEL, ts: ts ?? '' }, { actionId });

  it('add says in the channel what was set up, by default since the last one in the person’s zone, and when it comes', async () => {
    const said = await world.say('digest add weekly:mon 09:00');
    const id = await world.id();
    expect(id).toMatch(/^d[a-z2-9]{3}$/);
    expect(said).toContain(
      'Set up: the digest of every connected account (since the last digest, every Monday at 09:00, Europe/Lisbon)',
    );
    expect(said).toContain('2026-03-02 09:00 UTC');
    expect(await digests()).toMatchObject([
      {
        range: 'since_last',
        zone: 'Europe/Lisbon',
        skipQuiet: false,
        createdBy: PEOPLE.admin,
        channel: CHANNEL,
      },
    ]);
  });

  /** As many digests as that, like the one that was set up first. */
  async function fill(amount: number, channelOf: (n: number) => string): Promise<void> {
    const { schedules: stored } = world.app.workspaces.open(TEAM);
    const [digest] = await digests();
    if (digest === undefined) throw new Error('there is no digest');
    for (let n = 1; n < amount; n += 1)
      await stored.put({ ...digest, id: `d${n}`, requestId: `r${n}`, channel: channelOf(n) });
  }

  it('add that is repeated finds its own digest, also where its first choice of an id has become free', async () => {
    await world.say('digest add daily 09:00 UTC');
    const workspace = world.app.workspaces.open(TEAM);
    const [first] = await digests();
    if (first === undefined) throw new Error('there is no digest');
    const { id: _, createdAt: __, state: ___, ...asked } = { ...first, requestId: 'again' };
    await workspace.schedules.put({ ...first, id: 'dzzz' });
    const { id } = await addTimed(workspace, asked);
    await workspace.schedules.remove({ kind: 'digest', id: await otherThan(id, first.id) });
    expect((await addTimed(workspace, asked)).id).toBe(id);
    expect(await digests()).toHaveLength(2);
  });

  const otherThan = async (...ids: string[]) =>
    (await digests()).find((one) => !ids.includes(one.id))?.id ?? '';

  it('is one of 50 schedules of a channel and 500 of a workspace at most, also when it comes back by "Undo"', async () => {
    await world.say('digest add daily 09:00 UTC');
    await fill(50, () => CHANNEL);
    await world.say('digest remove d7');
    // Deckhand also tells the admin of the account that they connected, at some moment.
    const { ts } =
      world.slack
        .ephemerals(TEAM, PEOPLE.admin)
        .findLast(({ blocks }) => JSON.stringify(blocks).includes('digest:undo')) ?? {};
    await world.say('digest add daily 10:00 UTC');
    expect(await ask(world, '/deckhand digest add daily 11:00 UTC', 'admin')).toContain(
      'This channel has 50 schedules, the most that it can have.',
    );
    const refused = await answerTo(world, 'admin', () => click(ts, 'digest:undo'));
    expect(refused).toContain('This channel has 50 schedules, the most that it can have.');
    expect((await digests()).map(({ id }) => id)).not.toContain('d7');
    await world.say('digest remove d8');
    await click(ts, 'digest:undo');
    await world.slack.until(async () => (await digests()).some(({ id }) => id === 'd7'));
    expect(await digests()).toHaveLength(50);
    await fill(499, (n) => `C${n % 20}`);
    for (const line of ['digest add daily 12:00 UTC', 'watch all'])
      expect(await ask(world, `/deckhand ${line}`, 'admin')).toContain(
        'This workspace has 500 schedules, the most that it can have.',
      );
  });

  it('list shows id, who, when, next and last, draws anew by its buttons, and counts or shows those elsewhere', async () => {
    await world.say('digest add daily 09:00 UTC');
    const id = await world.id();
    const shown = await list();
    for (const words of [
      `\`${id}\``,
      `<@${PEOPLE.admin}>`,
      'every day at 09:00, UTC',
      'Next <!date^1772442000^',
      'No result yet',
    ])
      expect(shown).toContain(words);
    const { ts = '' } = answer() ?? {};
    await choose(world, 'digest:pause ', { ts });
    await world.slack.until(() => shownAt(ts).includes(`Paused by <@${PEOPLE.admin}>`));
    await choose(world, 'digest:resume ', { ts });
    await world.slack.until(() => shownAt(ts).includes('Next <!date^'));
    await world.time.advance(HOUR);
    await world.untilLast('posted');
    expect(await list()).toContain('posted.');
    await choose(world, 'digest:ask ', { ts });
    await world.slack.until(() => world.as('admin').openView()?.content.callback_id === 'digest.remove');
    expect(await answerTo(world, 'admin', () => world.as('admin').submit('digest.remove', {}))).toContain(
      'Removed',
    );
    expect(await list()).toContain('has no digest yet');
    expect(await digests()).toEqual([]);
    world.slack.invite(TEAM, 'C0BILLING', 'bot');
    await answerTo(world, 'admin', () =>
      world.as('admin').command('C0BILLING', '/deckhand digest add daily 09:00 UTC'),
    );
    expect(await list()).toContain('1 other elsewhere');
    expect(await list('digest list all')).toContain('<#C0BILLING>');
  });

  it('is not set up for an account whose key does not work', async () => {
    world.service.world.revokeKey({ account: ACCOUNT, email: EMAIL });
    await ask(world, '/deckhand projects', 'admin');
    const answer = await ask(world, '/deckhand digest add daily 09:00 UTC', 'admin');
    expect(answer).toContain('This digest has no working account');
    expect(await digests()).toEqual([]);
  });

  it('pause and resume need no id where the channel has one, which stays paused if the channel cannot be told', async () => {
    await world.say('digest add daily 09:00 UTC');
    expect(await world.say('digest pause')).toContain('Paused: the digest');
    expect(await ask(world, '/deckhand digest pause', 'admin')).toContain(
      `Already paused by <@${PEOPLE.admin}>: the digest`,
    );
    await world.time.advance(2 * DAY);
    expect(world.posted()).toEqual([]);
    const [paused] = await digests();
    world.slack.fault({ method: 'chat.postMessage', error: 'not_in_channel' });
    expect(await ask(world, '/deckhand digest resume', 'admin')).toContain('/invite');
    expect((await digests()).map(({ state }) => state)).toEqual([paused?.state]);
    world.slack.clearFaults();
    expect(await world.say('digest resume')).toContain('Resumed: the digest');
    await world.time.advance(2 * HOUR);
    await world.untilPosted(1);
  });

  it('asks which of several is meant, unless only one can be', async () => {
    await world.say('remind daily 09:00 UTC');
    expect(await world.say('digest add every weekday 10:00 UTC')).toContain('from Monday to Friday at 10:00');
    const [first, second] = (await digests()).map(({ id }) => id);
    const said = await ask(world, '/deckhand digest remove', 'admin');
    expect(said).toContain('Which digest should be ');
    for (const id of [first, second]) expect(said).toContain(`"value":"${id}"`);
    expect(await ask(world, '/deckhand digest pause', 'admin')).toContain('Which digest should be ');
    const { ts = '' } = world.slack.ephemerals(TEAM, PEOPLE.admin).at(-1) ?? {};
    const selected = second ?? '';
    await world.as('admin').click({ channel: CHANNEL, ts }, { actionId: 'start:choose', selected });
    await world.slack.until(() => answer()?.text.includes('Paused: the digest'));
    expect(await world.say('digest resume')).toContain('Resumed: the digest');
    await world.say(`digest pause ${first?.toUpperCase()}`);
    expect(await world.say('digest resume')).toContain('Resumed: the digest');
    expect(await ask(world, `/deckhand digest remove ${first}x`, 'admin')).toContain(
      `Did you mean \`${first}\`?`,
    );
    const far = await ask(world, '/deckhand digest remove nothing', 'admin');
    expect(far).toContain('There is no digest `nothing`. Try `/deckhand digest list`.');
  });

  it('is paused, resumed and snoozed for a week of its zone by the buttons of its message, and comes back by itself', async () => {
    await world.say('digest add daily 10:00 America/New_York');
    await world.time.advance(7 * HOUR);
    await world.untilPosted(1);
    const { ts = '' } = world.posted()[0] ?? {};
    await click(ts, 'digest:pause');
    await world.slack.until(() => shownAt(ts).includes(`paused by <@${PEOPLE.admin}>`));
    expect(shownAt(ts)).toContain('Deployment digest');
    expect(shownAt(ts)).not.toContain('next <!date');
    await click(ts, 'digest:resume');
    await world.slack.until(() => shownAt(ts).includes(`resumed by <@${PEOPLE.admin}>`));
    await click(ts, 'digest:snooze');
    await world.slack.until(() => shownAt(ts).includes(`snoozed by <@${PEOPLE.admin}>`));
    expect(shownAt(ts)).toContain('digest:resume');
    expect(shownAt(ts)).not.toContain('digest:snooze');
    await world.slack.until(() => card()?.text.includes('. Snoozed until') === true);
    // The clocks there change in between.
    expect(shownAt(ts)).toContain(`next <!date^${Date.parse('2026-03-09T10:00-04:00') / 1000}^`);
    for (let day = 0; day < 6; day += 1) await world.time.advance(DAY);
    await world.untilLast('snoozed');
    expect(world.posted()).toHaveLength(1);
    expect(await list()).toContain('Snoozed until');
    await world.time.advance(DAY - HOUR);
    await world.untilPosted(2);
    await world.untilLast('posted');
    expect(await ask(world, '/deckhand digest resume', 'admin')).toContain('is not paused');
  });

  const pick = (text: string) => {
    const { ts = '', blocks = [] } = card() ?? {};
    const menus = blocks.flatMap(
      (block) => (block as { accessory?: { options?: Option[] } }).accessory?.options ?? [],
    );
    const selected = menus.find((option) => option.text.text === text)?.value ?? `no ${text}`;
    return world.as('admin').click({ channel: CHANNEL, ts }, { actionId: 'schedule:more', selected });
  };
  const lines = () => world.slack.thread(TEAM, CHANNEL, card()?.ts ?? '').map(({ text }) => text);

  it('is paused, resumed and removed on the one card of its channel, and comes back as it was within ten minutes', async () => {
    await world.say('digest add daily 09:00 UTC');
    expect(card()?.text).toBe('A digest every day at 09:00.');
    await answerTo(world, 'admin', () => pick('Pause'));
    expect(JSON.stringify(card()?.blocks)).toContain(`Paused by <@${PEOPLE.admin}>`);
    expect(await answerTo(world, 'admin', () => pick('Preview'))).toContain('preview');
    await answerTo(world, 'admin', () => pick('Resume'));
    const [before] = await digests();
    await pick('Remove');
    await world.slack.until(() => world.as('admin').openView()?.content.callback_id === 'digest.remove');
    expect(await digests()).toEqual([before]);
    const removed = await answerTo(world, 'admin', () => world.as('admin').submit('digest.remove'));
    expect(removed).toContain('Removed: the digest');
    expect(card()?.text).toBe('Nothing is set up in this channel now.');
    await click(answer()?.ts, 'digest:undo');
    await world.slack.until(() => answer()?.text.includes('Restored: the digest') === true);
    expect(await digests()).toEqual([before]);
    expect(card()?.text).toBe('A digest every day at 09:00.');
    await world.say('digest remove');
    await world.time.advance(11 * 60_000);
    expect(await answerTo(world, 'admin', () => click(answer()?.ts, 'digest:undo'))).toContain('10 minutes');
    expect(await digests()).toEqual([]);
    const done = ['set up', 'paused', 'resumed', 'removed', 'restored', 'removed'];
    expect(lines()).toEqual(
      done.map((word) => expect.stringContaining(`<@${PEOPLE.admin}> ${word} the digest`)),
    );
    expect(world.slack.messages(TEAM, CHANNEL)).toHaveLength(1);
  });

  it('is edited by the card in the form that set it up, filled in, and its channel is told in one line', async () => {
    await world.say('digest add weekly:mon 09:00 Europe/Lisbon last_7_days --skip-quiet');
    const { id, createdAt } = (await digests())[0] ?? {};
    const view = () => world.as('admin').openView()?.content;
    const posts = () => world.slack.messages(TEAM, CHANNEL).length;
    await pick('Edit');
    await world.slack.until(() => view()?.callback_id === 'digest.edit');
    for (const value of ['weekly:mon', '09:00', 'Europe/Lisbon', 'last_7_days', 'skip_quiet'])
      expect(JSON.stringify(view()?.blocks)).toContain(value);
    const values = { cadence: 'daily', time: '10:00', skip_quiet: [] };
    const edited = await answerTo(world, 'admin', () => world.as('admin').submit('digest.edit', values));
    expect(edited).toContain('Edited: the digest');
    expect(card()?.text).toBe('A digest every day at 10:00.');
    expect(lines().at(-1)).toContain('edited the digest');
    expect(posts()).toBe(1);
    expect(await digests()).toMatchObject([
      { id, createdAt, cadence: { kind: 'daily', time: '10:00' }, zone: 'Europe/Lisbon', skipQuiet: false },
    ]);

    world.slack.fault({ method: 'chat.update', error: 'edit_window_closed' });
    await pick('Edit');
    await world.slack.until(() => view()?.callback_id === 'digest.edit');
    await answerTo(world, 'admin', () => world.as('admin').submit('digest.edit', { time: '11:00' }));
    expect(last()?.text).toContain('11:00');
    expect(posts()).toBe(2);
  });

  it('preview is for the asker alone, with its chart and without its buttons', async () => {
    world.deploy(true);
    await world.say('digest add daily 09:00 UTC');
    const shown = await ask(world, '/deckhand digest preview', 'admin');
    expect(shown).toContain('preview');
    expect(shown).toContain('data_visualization');
    expect(shown).not.toContain('digest:snooze');
    expect(world.posted()).toEqual([]);
  });

  it('add and edit show the field of a cron line to a person who was faster than the form', async () => {
    const ann = world.as('admin');
    await world.say('digest add daily 09:00 UTC');
    for (const form of ['digest.add', 'digest.edit']) {
      await ann.command(CHANNEL, `/deckhand ${form.replace('.', ' ')}`);
      await world.slack.until(() => ann.openView()?.content.callback_id === form);
      const { body } = await ann.submit(form, { cadence: 'cron' });
      expect(body).toContain('"block_id":"cron"');
      expect(body).toContain('Give five cron fields');
      await ann.close();
    }
  });

  it('add without words opens a form in the person’s own zone, which shows the next times with each choice', async () => {
    const ann = world.as('admin');
    const blocks = () => JSON.stringify(ann.openView()?.content.blocks);
    await ann.command(CHANNEL, '/deckhand digest add');
    await world.slack.until(() => ann.openView()?.content.callback_id === 'digest.add');
    expect(blocks()).toContain('"value":"Europe/Lisbon"');
    expect(blocks()).toContain('Next, in your own time: <!date^1772442000^');
    const viewId = ann.openView()?.id ?? '';
    await ann.click({ viewId }, { actionId: 'cadence', selected: 'weekly:wed' });
    await world.slack.until(() => blocks().includes('<!date^1772614800^'));
    await ann.click({ viewId }, { actionId: 'cadence', selected: 'cron' });
    await world.slack.until(() => blocks().includes('"block_id":"cron"'));
    expect(blocks()).toContain('Give five cron fields');
    const wrong = await ann.submit('digest.add', { cron: '0 0 31 2 *' });
    expect(wrong.errors?.cron).toContain('This is wrong: day of month');
    await ann.suggest({ viewId }, { actionId: 'project', query: 'bill' });
    const values = {
      cron: '*/15 * * * *',
      range: 'today',
      project: 'billing-api',
      skip_quiet: ['skip_quiet'],
    };
    world.slack.kick(TEAM, CHANNEL, 'bot');
    await ann.submit('digest.add', values);
    await world.slack.until(() => blocks().includes('Invite it'));
    expect(await digests()).toEqual([]);

    world.slack.invite(TEAM, CHANNEL, 'bot');
    await ann.submit('digest.add', values);
    await world.slack.until(() => last()?.text.includes('every 15 minutes'));
    expect(await digests()).toMatchObject([
      {
        cadence: { kind: 'cron', cron: '*/15 * * * *' },
        zone: 'Europe/Lisbon',
        range: 'today',
        account: 'acme',
        project: { permalink: 'billing-api', name: 'Billing API' },
        skipQuiet: true,
      },
    ]);
  });
});
