import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DAY, type DigestHouse, HOUR, openDigestHouse } from '../../scheduler/digests/digest-house.ts';
import { answerTo, ask } from '../../support/asking.ts';
import { CHANNEL, PEOPLE, TEAM } from '../../support/test-world.ts';

describe('digest', () => {
  let house: DigestHouse;
  beforeEach(async () => {
    house = await openDigestHouse();
  });
  afterEach(() => house.stop());

  const digests = () => house.app.workspaces.open(TEAM).digests.list();
  const last = () => house.slack.messages(TEAM, CHANNEL).at(-1);
  const list = async (line = 'digest list') => {
    await house.say(line);
    return JSON.stringify(last()?.blocks);
  };
  const click = (ts: string | undefined, actionId: string, who: 'admin' | 'member' = 'admin') =>
    house.as(who).click({ channel: CHANNEL, ts: ts ?? '' }, { actionId });

  it('add says in the channel what was set up, and when it comes', async () => {
    const said = await house.say('digest add weekly:mon 09:00 Europe/Lisbon last_7_days');
    const id = await house.id();
    expect(id).toMatch(/^d[a-z2-9]{3}$/);
    expect(said).toContain(
      `set up the digest \`${id}\`, every Monday at 09:00, Europe/Lisbon: the last 7 days of`,
    );
    expect(said).toContain('2026-03-02 09:00 UTC');
    expect(said).toContain('2026-03-16 09:00 UTC');
    expect(await digests()).toMatchObject([
      {
        range: 'last_7_days',
        zone: 'Europe/Lisbon',
        skipQuiet: false,
        setUpBy: PEOPLE.admin,
        channel: CHANNEL,
      },
    ]);
  });

  it('add covers the last seven days in the person’s own zone where nothing else is said', async () => {
    await house.say('digest add daily 7:30');
    expect(await digests()).toMatchObject([{ range: 'last_7_days', zone: 'Europe/Lisbon' }]);
  });

  it('add leaves nothing behind where Deckhand may not post', async () => {
    house.slack.kick(TEAM, CHANNEL, 'bot');
    expect(await ask(house, '/deckhand digest add daily 09:00 UTC', 'admin')).toContain('Invite me');
    expect(await digests()).toEqual([]);
  });

  it.each([
    ['digest add daily 25:00 UTC', 'Did you mean `23:00`?'],
    ['digest add daily 09:00 UTC --account nobody', 'No account named `nobody`'],
    ['digest add daily 09:00 UTC --project storefrnt', 'Did you mean `storefront`?'],
    ['digest pause', 'This channel has no digest yet'],
    ['digest remove d000', 'There is no digest `d000`'],
    ['digest lst', 'The usage is `digest list [all]`'],
  ])('%s answers %s', async (line, said) => {
    expect(await ask(house, `/deckhand ${line}`, 'admin')).toContain(said);
    expect(await digests()).toEqual([]);
  });

  it('is for operators, by words and by clicks', async () => {
    expect(await ask(house, '/deckhand digest add daily 09:00 UTC')).toContain('*operator*');
    await house.say('digest add daily 09:00 UTC');
    await list();
    const { ts } = last() ?? {};
    expect(await answerTo(house, 'member', () => click(ts, 'digest:pause', 'member'))).toContain(
      '*operator*',
    );
    expect(await digests()).toMatchObject([{ state: { kind: 'active' } }]);
  });

  it('list shows id, who, when, next and last, and its buttons draw it anew', async () => {
    await house.say('digest add daily 09:00 UTC');
    const id = await house.id();
    const shown = await list();
    for (const words of [
      `\`${id}\``,
      `<@${PEOPLE.admin}>`,
      'every day at 09:00, UTC',
      'Next <!date^1772442000^',
      'Not posted yet',
    ])
      expect(shown).toContain(words);
    const { ts } = last() ?? {};
    const drawn = () =>
      JSON.stringify(house.slack.messages(TEAM, CHANNEL).find((one) => one.ts === ts)?.blocks);
    await click(ts, 'digest:pause');
    await house.slack.until(() => drawn().includes(`Paused by <@${PEOPLE.admin}>`));
    await click(ts, 'digest:resume');
    await house.slack.until(() => drawn().includes('Next <!date^'));
    await house.time.advance(HOUR);
    await house.untilLast('posted');
    expect(await list()).toContain('posted.');
    await click(ts, 'digest:remove');
    await house.slack.until(() => drawn().includes('no digest here yet'));
    expect(await digests()).toEqual([]);
  });

  it('list counts those of other channels, and shows them all on wish', async () => {
    house.slack.invite(TEAM, 'C0BILLING', 'bot');
    await house.as('admin').command('C0BILLING', '/deckhand digest add daily 09:00 UTC');
    await house.slack.until(async () => (await digests()).length === 1);
    await house.say('digest list');
    expect(last()?.text).toContain('1 other elsewhere');
    expect(await list('digest list all')).toContain('<#C0BILLING>');
  });

  it('pause, resume and remove need no id where the channel has one', async () => {
    await house.say('digest add daily 09:00 UTC');
    expect(await house.say('digest pause')).toContain('paused the digest');
    expect(await house.say('digest pause')).toContain('is paused already');
    await house.time.advance(2 * DAY);
    expect(house.posted()).toEqual([]);
    expect(await house.say('digest resume')).toContain('resumed the digest');
    await house.time.advance(DAY);
    await house.untilPosted(1);
    expect(await house.say('digest remove')).toContain('digest add daily 09:00 UTC last_7_days');
    await house.time.advance(2 * DAY);
    expect(house.posted()).toHaveLength(1);
  });

  it('asks which of several is meant, unless only one can be', async () => {
    await house.say('digest add daily 09:00 UTC');
    await house.say('digest add daily 10:00 UTC');
    const [first, second] = (await digests()).map(({ id }) => id);
    const said = await ask(house, '/deckhand digest remove', 'admin');
    expect(said).toContain('This channel has 2 digests');
    for (const id of [first, second]) expect(said).toContain(`\`${id}\``);
    await house.say(`digest pause ${first?.toUpperCase()}`);
    expect(await house.say('digest resume')).toContain(`resumed the digest \`${first}\``);
    expect(await ask(house, `/deckhand digest remove ${first}x`, 'admin')).toContain(
      `Did you mean \`${first}\`?`,
    );
  });

  it('is snoozed for a week by its button, and comes back by itself', async () => {
    await house.say('digest add daily 09:00 UTC');
    await house.time.advance(HOUR);
    await house.untilPosted(1);
    const { ts = '' } = house.posted()[0] ?? {};
    await click(ts, 'digest:snooze');
    await house.slack.until(() =>
      house.slack.thread(TEAM, CHANNEL, ts).some(({ text }) => text.includes('snoozed')),
    );
    for (let day = 0; day < 6; day += 1) await house.time.advance(DAY);
    await house.untilLast('snoozed');
    expect(house.posted()).toHaveLength(1);
    expect(await list()).toContain('Snoozed until');
    await house.time.advance(DAY);
    await house.untilPosted(2);
    await house.untilLast('posted');
    expect(await house.say('digest resume')).toContain('is not paused');
  });

  it('is paused by its button, and its thread says by whom', async () => {
    await house.say('digest add daily 09:00 UTC');
    await house.time.advance(HOUR);
    await house.untilPosted(1);
    const { ts = '' } = house.posted()[0] ?? {};
    await click(ts, 'digest:pause');
    const told = () =>
      house.slack.thread(TEAM, CHANNEL, ts).find(({ text }) => text.includes('paused the digest'));
    await house.slack.until(() => told());
    expect(told()?.text).toContain(`<@${PEOPLE.admin}>`);
  });

  it('preview is for the asker alone, with its picture and without its buttons', async () => {
    house.deploy(true);
    await house.say('digest add daily 09:00 UTC');
    const shown = await ask(house, '/deckhand digest preview', 'admin');
    expect(shown).toContain('only you see this');
    expect(shown).toContain('slack_file');
    expect(shown).not.toContain('digest:snooze');
    expect(house.posted()).toEqual([]);
    house.slack.fault({ method: 'files.getUploadURLExternal', error: 'missing_scope' });
    expect(await ask(house, '/deckhand digest preview', 'admin')).not.toContain('slack_file');
  });

  describe('add without words', () => {
    const ann = () => house.as('admin');
    const blocks = () => JSON.stringify(ann().openView()?.content.blocks);
    beforeEach(async () => {
      await ann().command(CHANNEL, '/deckhand digest add');
      await house.slack.until(() => ann().openView() !== undefined);
    });

    it('opens a form that shows the next times in the person’s own zone', async () => {
      expect(ann().openView()?.content.callback_id).toBe('digest.add');
      expect(blocks()).toContain('"value":"Europe/Lisbon"');
      expect(blocks()).toContain('Next, in your own time: <!date^1772442000^');
    });

    it('draws them anew with each choice, and asks for cron fields where they are wanted', async () => {
      const viewId = ann().openView()?.id ?? '';
      await ann().click({ viewId }, { actionId: 'cadence', selected: 'weekly:wed' });
      await house.slack.until(() => blocks().includes('<!date^1772614800^'));
      await ann().click({ viewId }, { actionId: 'cadence', selected: 'cron' });
      await house.slack.until(() => blocks().includes('"block_id":"cron"'));
      expect(blocks()).toContain('Give five cron fields');
      const wrong = await ann().submit('digest.add', { cron: '0 0 31 2 *' });
      expect(wrong.errors?.cron).toContain('This is wrong: day of month');
      expect((await ann().submit('digest.add', { cron: '*/15 * * * *' })).outcome).toBe('ok');
      await house.slack.until(() => last()?.text.includes('*/15 * * * *'));
      expect(await digests()).toMatchObject([{ cadence: { kind: 'cron', cron: '*/15 * * * *' } }]);
    });

    it('sets up what was chosen', async () => {
      const viewId = ann().openView()?.id ?? '';
      await ann().suggest({ viewId }, { actionId: 'project', query: 'bill' });
      await ann().submit('digest.add', {
        cadence: 'daily',
        time: '18:15',
        range: 'today',
        project: 'billing-api',
        skip_quiet: ['skip_quiet'],
      });
      await house.slack.until(() => last()?.text.includes('set up the digest'));
      expect(await digests()).toMatchObject([
        {
          cadence: { kind: 'daily', time: '18:15' },
          zone: 'Europe/Lisbon',
          range: 'today',
          account: 'acme',
          project: { permalink: 'billing-api', name: 'Billing API' },
          skipQuiet: true,
        },
      ]);
    });

    it('keeps the form where Deckhand may not post in the channel', async () => {
      house.slack.kick(TEAM, CHANNEL, 'bot');
      await ann().submit('digest.add', {});
      await house.slack.until(() => blocks().includes('Invite me'));
      expect(await digests()).toEqual([]);
    });
  });
});
