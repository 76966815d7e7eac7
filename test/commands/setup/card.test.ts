import { describe, expect } from 'vitest';
import { channelCards } from '../../../src/records/channel-cards.ts';
import { cards, lines, OTHER, roots, say, test, texts } from '../../scheduler/channel.ts';
import { answerTo, ask, openForm } from '../../support/asking.ts';
import { choose as chooseIn } from '../../support/failure-menu.ts';
import { ACCOUNT, API_KEY, CHANNEL, EMAIL, PEOPLE, TEAM, type TestWorld } from '../../support/test-world.ts';

const workspaceOf = (world: TestWorld) => world.app.workspaces.open(TEAM);
const card = (world: TestWorld, channel = CHANNEL) =>
  cards(world, channel).at(-1) ?? { ts: '', text: '', blocks: [] };
interface Row {
  block_id?: string;
  accessory?: { options: Array<{ value: string }> };
}
/** Chooses an action in the menu of the first row that has it. */
const choose = (world: TestWorld, action: string, who: keyof typeof PEOPLE = 'admin') => {
  const { ts, blocks = [] } = card(world);
  for (const { block_id: blockId, accessory } of blocks as Row[])
    for (const { value: selected } of accessory?.options ?? [])
      if (selected.startsWith(`${action} `) && blockId !== undefined)
        return world
          .as(who)
          .click({ channel: CHANNEL, ts }, { actionId: 'schedule:more', blockId, selected });
  throw new Error(`no row offers ${action}`);
};
/** Makes the card older, between two changes of it. */
function age(world: TestWorld, days: number): Promise<unknown> {
  const { store } = workspaceOf(world);
  const since = Date.now() - days * 86_400_000;
  const cards = channelCards(store);
  return store.exclusive(`channel card ${CHANNEL}`, () =>
    cards.update(CHANNEL, (one) => one && { ...one, since }),
  );
}
const updates = ({ slack }: TestWorld) => slack.calls.filter(({ method }) => method === 'chat.update').length;

describe('the card of a channel', () => {
  test('says in one message what is set up, is edited, and has a line in its thread for each change', async ({
    world,
  }) => {
    const answer = await say(world, 'watch storefront failures --mention @bea');
    expect(answer).toContain(
      'This channel now hears when deployments of Storefront in acme fail and recover.',
    );
    expect(answer).toContain('/projects/storefront|*Storefront*> in `acme` fail');
    expect(await say(world, 'guard add storefront hourly UTC')).toContain(
      'Storefront in acme is checked every hour.',
    );
    await say(world, 'digest add weekly:mon 09:00 UTC');
    expect(card(world).text).toContain(
      'This channel follows Storefront: failures, mention @bea after 15 min. A guard tests it every hour. A digest on Mondays at 09:00.',
    );
    expect(card(world).text).toContain('Guard: Storefront in acme: every hour');
    expect(roots(world)).toHaveLength(1);
    expect(lines(world).map(({ text }) => text)).toEqual(
      ['the watch', 'the guard', 'the digest'].map((what) =>
        expect.stringContaining(`<@${PEOPLE.admin}> set up ${what}`),
      ),
    );
    const LINK = '/projects/storefront|*Storefront*>';
    expect(JSON.stringify(lines(world)[0]?.blocks)).toContain(LINK);
    expect(await ask(world, '/deckhand', 'admin')).toContain(LINK);
    expect(updates(world)).toBe(2);
    await answerTo(world, 'admin', () => choose(world, 'guard:pause'));
    expect(JSON.stringify(card(world).blocks)).toContain(`Paused by <@${PEOPLE.admin}>`);
    expect(card(world).text).toContain('1 schedule is paused.');
    expect(card(world).text).toMatch(/Guard: Storefront in acme: every hour.*\. Paused by <@/);
    const [, broadcast, ...others] = roots(world);
    expect([broadcast?.subtype, others]).toEqual(['thread_broadcast', []]);
    expect(broadcast?.text).toContain('paused the guard of Storefront');
    expect(await answerTo(world, 'admin', () => choose(world, 'guard:resume'))).toContain(
      'Resumed: the guard',
    );
    expect(roots(world)).toHaveLength(2);
    expect(await ask(world, '/deckhand watch storefront failures', 'admin')).toContain('Already watching');
    expect(lines(world)).toHaveLength(5);
  });

  test('tells a phone and a screen reader a sentence a row, and how many more', async ({ world }) => {
    const name = (at: number) => `Shop ${at} with a name as long as those that people give their projects`;
    for (let at = 10; at < 35; at += 1)
      world.service.world.addProject({
        account: ACCOUNT,
        name: name(at),
        permalink: `shop${at}`,
        servers: [],
      });
    await say(world, 'digest add daily 09:00 UTC');
    for (let at = 10; at < 35; at += 1) await say(world, `watch shop${at} failures`);
    const { text } = card(world);
    expect(text).toContain(
      '. Digest: every connected account: since the last digest, every day at 09:00, UTC. Watch: Shop',
    );
    const rows = text.match(/(?:Watch|Digest): /g) ?? [];
    expect(text).toMatch(new RegExp(` And ${26 - rows.length} more\\.$`));
  });

  test('names the accounts, if there are several', async ({ world }) => {
    const users = [{ email: EMAIL, apiKey: API_KEY, role: 'admin' as const }];
    const projects = [{ name: 'Storefront', permalink: 'storefront', servers: [] }];
    world.service.world.addAccount({ name: 'lumen', users, projects });
    const ann = await openForm(world, 'connect lumen', 'connect');
    await ann.submit('connect', { account: 'lumen', email: EMAIL, api_key: API_KEY });
    await say(world, 'watch storefront failures --account lumen');
    await say(world, 'guard add storefront hourly UTC --account acme');
    expect(card(world).text).toContain(
      'This channel follows Storefront in lumen: failures. A guard tests Storefront in acme every hour.',
    );
  });

  test('asks before it removes, and refuses a person without the role', async ({ world }) => {
    await say(world, 'watch storefront failures');
    expect(await answerTo(world, 'member', () => choose(world, 'watch:pause', 'member'))).toContain(
      'operators',
    );
    expect(await answerTo(world, 'member', () => choose(world, 'watch:ask', 'member'))).toContain(
      'operators',
    );
    await choose(world, 'watch:ask');
    const ann = world.as('admin');
    await world.slack.until(() => ann.openView()?.content.callback_id === 'watch.remove');
    expect(JSON.stringify(ann.openView()?.content)).toContain('Its events will no longer be posted here.');
    expect(await answerTo(world, 'admin', () => ann.submit('watch.remove'))).toContain('watch:undo');
    expect(card(world).text).toBe('Nothing is set up in this channel now.');
    expect(JSON.stringify(card(world).blocks)).not.toContain('setup:move');
    expect(texts(world).at(-1)).toContain(`<@${PEOPLE.admin}> removed the watch of Storefront`);
  });

  test('is one, whoever sets up something at the same time', async ({ world }) => {
    await workspaceOf(world).roles.give(PEOPLE.member, 'operator', PEOPLE.admin);
    const typed = [
      ['admin', 'watch storefront failures'],
      ['member', 'watch billing-api failures'],
      ['admin', 'guard add storefront hourly UTC'],
      ['member', 'digest add daily 09:00 UTC'],
    ] as const;
    await Promise.all(typed.map(([who, line]) => world.as(who).command(CHANNEL, `/deckhand ${line}`)));
    await world.slack.until(() => lines(world).length === 4, { what: 'all lines' });
    const watches = /(?:Storefront and Billing API|Billing API and Storefront): failures/;
    for (const words of [watches, /guard tests/, /A digest every day/])
      await expect.poll(() => card(world).text).toMatch(words);
    expect(cards(world)).toHaveLength(1);
  });

  test('is posted again if somebody deleted it, and after 30 days, when the old one loses its buttons', async ({
    world,
  }) => {
    await say(world, 'watch storefront failures');
    const first = card(world).ts;
    await workspaceOf(world).slack.call('chat.delete', { channel: CHANNEL, ts: first });
    await say(world, 'watch billing-api failures');
    const second = card(world).ts;
    expect(second).not.toBe(first);
    await age(world, 29);
    await say(world, 'digest add daily 09:00 UTC');
    expect(card(world).ts).toBe(second);
    await age(world, 31);
    await say(world, 'guard add storefront hourly UTC');
    expect(card(world).ts).not.toBe(second);
    const old = roots(world).find(({ ts }) => ts === second);
    expect(old?.text).toContain('in a newer message below');
    expect(JSON.stringify(old?.blocks)).not.toContain('"actions"');
    // A change that the card does not show finds out too.
    const deleted = card(world).ts;
    await workspaceOf(world).slack.call('chat.delete', { channel: CHANNEL, ts: deleted });
    await answerTo(world, 'admin', () => world.as('admin').command(CHANNEL, '/deckhand digest pause'));
    expect(card(world).ts).not.toBe(deleted);
  });

  test('is shown where a person asks for it, once for two clicks', async ({ world }) => {
    await say(world, 'watch storefront failures');
    await age(world, 1);
    const first = card(world).ts;
    for (const line of ['watch list', 'use storefront', 'watch storefront failures'])
      expect(await say(world, line), line).toContain('setup:show');
    expect(await ask(world, '/deckhand watch list')).not.toContain('setup:show');
    await ask(world, '/deckhand watch list', 'admin');
    const ts = world.slack.ephemerals(TEAM, PEOPLE.admin).at(-1)?.ts ?? '';
    const press = () => world.as('admin').click({ channel: CHANNEL, ts }, { actionId: 'setup:show' });
    await Promise.all([press(), press()]);
    await world.slack.until(() => card(world).ts !== first);
    const shown = card(world).ts;
    await say(world, 'guard add storefront hourly UTC');
    expect(cards(world).map((one) => one.ts)).toEqual([shown]);
    expect(JSON.stringify(roots(world).find(({ ts }) => ts === first)?.blocks)).not.toContain('"actions"');
    await world.as('admin').command(CHANNEL, '/deckhand setup');
    await world.slack.until(() => world.as('admin').openView()?.content.callback_id === 'setup');
    await age(world, 1);
    const viewId = world.as('admin').openView()?.id ?? '';
    await world.as('admin').click({ viewId }, { actionId: 'setup:show' });
    await world.slack.until(() => card(world).ts !== shown);
  });

  test('becomes true by itself after Deckhand changed something, and calls nothing if it is', async ({
    world,
  }) => {
    await say(world, 'watch storefront failures');
    await say(world, 'digest add daily 09:00 UTC');
    const { schedules } = workspaceOf(world);
    const [digest] = await schedules.list('digest');
    if (digest === undefined) throw new Error('there is no digest');
    const before = updates(world);
    await schedules.change(digest, (one) => ({ ...one, last: { scheduledAt: 1, at: 1, outcome: 'posted' } }));
    await schedules.remove(digest);
    await world.slack.until(() => !card(world).text.includes('A digest'), { what: 'the card without it' });
    expect(updates(world)).toBe(before + 1);
    expect(roots(world)).toHaveLength(1);
  });

  test('is not there without a change, which is refused where Deckhand is not', async ({ world }) => {
    world.slack.addChannel(TEAM, {
      id: 'C0QUIET',
      name: 'quiet',
      members: [PEOPLE.admin],
      bot_is_member: false,
    });
    const ann = world.as('admin');
    const refused = await answerTo(world, 'admin', () =>
      ann.command('C0QUIET', '/deckhand watch storefront'),
    );
    expect(refused).toContain('Invite it');
    expect(await workspaceOf(world).schedules.all()).toEqual([]);
    await say(world, 'watch storefront failures');
    world.slack.kick(TEAM, CHANNEL, 'bot');
    expect(await ask(world, '/deckhand guard add storefront hourly UTC', 'admin')).toContain('Invite it');
    expect((await workspaceOf(world).schedules.all()).map(({ kind }) => kind)).toEqual(['watch']);
  });

  test('goes without lines where Slack allows no replies, but a pause is told', async ({ world }) => {
    await workspaceOf(world).channels.change(CHANNEL, () => ({ threads: false }));
    await say(world, 'watch storefront failures');
    await say(world, 'digest add daily 09:00 UTC');
    expect(lines(world)).toEqual([]);
    await say(world, 'watch pause');
    expect(texts(world)).toEqual([
      expect.stringContaining('A digest every day'),
      expect.stringContaining(`<@${PEOPLE.admin}> paused the watch`),
    ]);
  });

  test('takes the place of a message that release 1.0.0 posted, whose buttons work until then', async ({
    world,
  }) => {
    await say(world, 'watch storefront failures');
    const { schedules, slack, store } = workspaceOf(world);
    const [watch] = await schedules.list('watch');
    if (watch === undefined) throw new Error('there is no watch');
    await slack.call('chat.delete', { channel: CHANNEL, ts: card(world).ts });
    await channelCards(store).update(CHANNEL, (one) => one && { ...one, ts: '' });
    const actionId = `watch:pause#${watch.id}`;
    const button = { type: 'button', action_id: actionId, value: JSON.stringify({ id: watch.id }) };
    const text = { type: 'plain_text', text: 'Pause' } as const;
    const message = {
      text: 'now hears',
      blocks: [{ type: 'actions' as const, elements: [{ ...button, type: 'button' as const, text }] }],
    };
    const { ts } = await slack.post({ channel: CHANNEL, message });
    await schedules.change(watch, (one) => ({ ...one, card: { ts, text: 'now hears' } }));
    await answerTo(world, 'admin', () => world.as('admin').click({ channel: CHANNEL, ts }, { actionId }));
    expect(await schedules.get('watch', watch.id)).toMatchObject({ state: { kind: 'paused' } });
    const old = () => roots(world).find((one) => one.ts === ts);
    await world.slack.until(() => old()?.text.includes('paused the watch') === true);
    expect(JSON.stringify(old()?.blocks)).not.toContain('"actions"');
    expect(card(world).text).toContain('Everything that is set up in this channel is paused.');
    expect((await schedules.get('watch', watch.id))?.card).toBeUndefined();
  });

  test.for(['digest', 'guard'] as const)(
    'leaves a list of %ss that release 1.0.0 shared as a list, with what its button changed',
    async (kind, { world }) => {
      await say(world, 'digest add weekly:mon 09:00 UTC');
      await say(world, 'digest add daily 09:00 UTC');
      await say(world, 'guard add storefront hourly UTC');
      await say(world, 'guard add billing-api hourly UTC');
      const { schedules, slack } = workspaceOf(world);
      await say(world, 'digest add daily 11:00 UTC', await slack.openDirect(PEOPLE.admin));
      const [one, other] = await schedules.list(kind);
      const text = (words: string) => ({ type: 'plain_text', text: words }) as const;
      const actionId = `${kind}:pause#${one?.id}`;
      const value = JSON.stringify({ id: one?.id, list: 'all' });
      const pause = { type: 'button' as const, action_id: actionId, value, text: text('Pause') };
      const rows = { type: 'actions' as const, elements: [pause] };
      const title = { type: 'header' as const, text: text('2 of this channel') };
      const { ts } = await slack.post({ channel: CHANNEL, message: { text: 'list', blocks: [title, rows] } });
      const list = () => roots(world).find((message) => message.ts === ts)?.text ?? '';
      await world.as('admin').click({ channel: CHANNEL, ts }, { actionId });
      await world.slack.until(() => list().includes('Paused by'), { what: 'the list' });
      expect(list()).toContain(`2 ${kind}s of this workspace`);
      // The channel is told nothing of a direct message.
      expect(list()).not.toContain('11:00');
      await chooseIn(world, `${kind}:resume `, { ts });
      await world.slack.until(() => !list().includes('Paused by'), { what: 'the list' });
      expect(list()).toContain(other?.id);
    },
  );

  test('is not needed for a list in a direct message, which is drawn again', async ({ world }) => {
    await say(world, 'guard add storefront hourly UTC');
    await say(world, 'guard add billing-api hourly UTC');
    world.slack.policy(TEAM, { ephemerals: 'user_not_in_channel', responseUrls: 'used_url' });
    await world.as('admin').command(CHANNEL, '/deckhand guard list');
    const list = () => world.slack.dms(TEAM, PEOPLE.admin)[0];
    await chooseIn(world, 'guard:pause ', await world.slack.until(() => list()));
    await world.slack.until(() => list()?.text.includes('Paused by') === true, { what: 'the list' });
    expect(list()?.text).toContain('2 guards of this channel');
  });

  test('moves with what is set up: the old one has no buttons, and its channel is told', async ({
    world,
  }) => {
    await say(world, 'watch storefront failures');
    const { ts } = card(world);
    await world.as('admin').command(CHANNEL, `/deckhand setup move <#${OTHER}>`);
    await world.slack.until(() => cards(world, OTHER).length === 1);
    expect(cards(world)).toEqual([]);
    expect(roots(world).map((one) => [one.ts === ts, one.text.includes('moved everything')])).toEqual([
      [true, true],
      [false, true],
    ]);
    expect(card(world, OTHER).text).toContain('This channel follows Storefront: failures.');
    await say(world, 'watch billing-api failures');
    expect(card(world).ts).not.toBe(ts);
  });
});
