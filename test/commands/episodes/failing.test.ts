import { describe, expect } from 'vitest';
import { episodeRecords } from '../../../src/records/episodes.ts';
import { noteOutcomes } from '../../../src/scheduler/episodes/change-episodes.ts';
import { answerTo, ask } from '../../support/asking.ts';
import { leaveFailure } from '../../support/failure-menu.ts';
import { test } from '../../support/fixtures.ts';
import { sendClick } from '../../support/signed.ts';
import { ACCOUNT, CHANNEL, PEOPLE, TEAM, type TestWorld } from '../../support/test-world.ts';

type Who = 'admin' | 'member';

const OTHER = 'C0BILLING';

interface Noted {
  kind?: 'failure' | 'success';
  minute?: number;
  of?: 'deployments' | 'reachability';
  channel?: string;
  name?: string;
  person?: string;
}

/** A failure of Storefront, as a watch or guard of the channel notes it. */
function note(world: TestWorld, noted: Noted = {}): Promise<void> {
  const { kind = 'failure', minute = 0, of = 'deployments', channel = CHANNEL, name = 'Storefront' } = noted;
  const subject = {
    kind: of,
    channel,
    account: ACCOUNT,
    project: name.toLowerCase(),
    name,
    person: noted.person,
  };
  const items = [{ key: 'server:1', title: 'web-1', message: 'Connection refused' }];
  const outcome = {
    kind,
    id: `${kind} ${minute}`,
    at: Date.now() + minute * 60_000,
    lines: [`deploy ${minute}`],
    ...(of === 'reachability' && { items: kind === 'failure' ? items : [] }),
  };
  return noteOutcomes(world.app.workspaces.open(TEAM), subject, [outcome]);
}

const failing = (world: TestWorld, who: Who = 'member') => ask(world, '/deckhand failing', who);
const list = (world: TestWorld, who: Who = 'member') => world.slack.ephemerals(TEAM, PEOPLE[who]).at(-1);
const shown = (world: TestWorld, who: Who = 'member') => JSON.stringify(list(world, who)?.blocks);
const roots = (world: TestWorld) => world.slack.messages(TEAM, CHANNEL);
/** On the list that this person read last. */
const click = (world: TestWorld, who: Who, actionId: string) =>
  world.as(who).click({ channel: CHANNEL, ts: list(world, who)?.ts ?? '' }, { actionId });
const until = (world: TestWorld, words: string, who: Who = 'member') =>
  world.slack.until(() => shown(world, who).includes(words), { what: `"${words}" in the list` });
const actionOf = (world: TestWorld, start: string, who: Who = 'member') =>
  new RegExp(`"action_id":"(${start}#[^"]+)"`).exec(shown(world, who))?.[1] ?? start;

describe('failing', () => {
  test.override({ connected: true });
  test.beforeEach(async ({ world }) => {
    for (const channel of [CHANNEL, OTHER]) world.slack.invite(TEAM, channel, 'bot');
  });

  test('says what fails in the channel, since when and who is on it, with the buttons of its message', async ({
    world,
  }) => {
    await note(world, { minute: -2 });
    await note(world, { minute: -1 });
    await note(world, { of: 'reachability', name: 'Billing API' });
    await note(world, { channel: OTHER, name: 'Elsewhere' });
    const cause = 'are reachable, so the connection is not the cause';
    await world.slack.until(() => JSON.stringify(roots(world)).includes(cause));
    const said = await failing(world, 'admin');
    expect(said).toContain(cause);
    expect(said).toContain('Storefront has been failing since');
    expect(said).toContain('Billing API: web-1 is unreachable since');
    expect(said).toContain('Connection refused');
    expect(said).toContain('|show>');
    expect(said).toContain('"text":"Test again"');
    expect(said).not.toContain('Elsewhere');
    const labels = (text: string) =>
      [...text.matchAll(/"text":"(I’m on it|Close|Test again)"/g)].map(([, one]) => one);
    expect(labels(said).toSorted()).toEqual(
      labels(JSON.stringify(roots(world).map(({ blocks }) => blocks))).toSorted(),
    );
  });

  test('is drawn again when one of its buttons is used, also where somebody else was faster', async ({
    world,
  }) => {
    await note(world);
    await failing(world);
    const { ts = '' } = list(world) ?? {};
    const again = () => {
      const drawn = world.slack.ephemerals(TEAM, PEOPLE.member).find((one) => one.ts === ts);
      return JSON.stringify(drawn?.blocks);
    };
    const press = (start: string) => {
      const actionId = new RegExp(`"action_id":"(${start}#[^"]+)"`).exec(again())?.[1] ?? start;
      return world.as('member').click({ channel: CHANNEL, ts }, { actionId });
    };
    const root = { channel: CHANNEL, ts: roots(world)[0]?.ts ?? '' };
    await world.as('admin').click(root, { actionId: 'episode:claim' });
    await world.slack.until(() => JSON.stringify(roots(world)).includes('is on it'));
    const said = await answerTo(world, 'member', () => press('episode:claim'));
    expect(said).toContain(`:warning: <@${PEOPLE.admin}> is on it.`);
    await world.slack.until(() => again().includes('Take over'));
    await press('episode:claim');
    await world.slack.until(() => again().includes(`<@${PEOPLE.member}> is on it`));
    expect(again()).toContain('Hand back');
    expect(JSON.stringify(roots(world))).toContain(`<@${PEOPLE.member}> is on it`);
    expect(again()).not.toContain('Take over');
    await leaveFailure(world, 'close', { who: 'member', ts });
    await until(world, 'so no failure is noticed');
    expect(roots(world)[0]?.text).toContain(`closed by <@${PEOPLE.member}>`);
  });

  test.for([
    ['who hands it back', 'member', 'release', 'I’m on it'],
    ['who has it', 'member', 'close', 'closed by'],
    ['who does not have it', 'admin', 'close', 'closed by'],
  ] as const)(
    'is given up by somebody %s without a private word',
    async ([, who, verb, words], { world }) => {
      await note(world);
      const root = () => ({ channel: CHANNEL, ts: roots(world)[0]?.ts ?? '' });
      const shows = (text: string) => world.slack.until(() => JSON.stringify(roots(world)).includes(text));
      await world.as('member').click(root(), { actionId: 'episode:claim' });
      await shows(`<@${PEOPLE.member}> is on it`);
      await leaveFailure(world, verb, { who, ...root() });
      await shows(words);
      // Whatever was to be said has been said by then.
      expect(await ask(world, '/deckhand whoami', who)).toContain('You are');
      expect(world.slack.ephemerals(TEAM, PEOPLE[who])).toHaveLength(1);
    },
  );

  test('stands first in the answer to the slash word alone, and is drawn again there', async ({ world }) => {
    expect(await ask(world, '/deckhand')).toMatch(/^You are connected/);
    await note(world);
    expect(await ask(world, '/deckhand')).toMatch(/^Storefront: the deployment .* You are connected/);
    await click(world, 'member', actionOf(world, 'episode:claim'));
    await until(world, `<@${PEOPLE.member}> is on it`);
    expect(shown(world)).toContain('You are connected');
    const workspace = world.app.workspaces.open(TEAM);
    await workspace.channels.change(CHANNEL, () => ({ commands: ['test', 'watch'] }));
    expect(await ask(world, '/deckhand')).toMatch(/^You are connected/);
  });

  test.for([
    ['here, for watches here', CHANNEL, CHANNEL, 'deployments', ['test'], '`watch` is switched off in this'],
    [
      'elsewhere, for watches here',
      OTHER,
      CHANNEL,
      'deployments',
      ['test'],
      `\`watch\` is switched off in <#${CHANNEL}>`,
    ],
    [
      'elsewhere, for watches there',
      OTHER,
      OTHER,
      'deployments',
      ['test'],
      '`watch` is switched off in this',
    ],
    [
      'elsewhere, for guards here',
      OTHER,
      CHANNEL,
      'reachability',
      ['test', 'watch'],
      `\`guard\` is switched off in <#${CHANNEL}>`,
    ],
  ] as const)(
    'takes no click from %s that are switched off',
    async ([, clickedIn, shut, of, commands, words], { world }) => {
      await note(world, { of });
      const [failure] = await episodeRecords(world.app.workspaces.open(TEAM).store).list();
      await world.app.workspaces.open(TEAM).channels.change(shut, () => ({ commands: [...commands] }));
      const value = { key: failure?.id, id: failure?.doc.episodes[0]?.id };
      const who = { user: { id: PEOPLE.member }, channel: { id: clickedIn } };
      const click = () => sendClick(world, 'episode:claim', value, who);
      expect(await answerTo(world, 'member', click)).toContain(words);
      expect(JSON.stringify(roots(world))).not.toContain('is on it');
    },
  );

  test('tests again as often as it is clicked, as its message does, with each result in the thread of the failure', async ({
    world,
  }) => {
    const place = () => ({ channel: CHANNEL, ts: roots(world)[0]?.ts ?? '' });
    const ended = (amount: number) =>
      world.slack.until(
        () => {
          const replies = world.slack.thread(TEAM, CHANNEL, place().ts);
          return replies.filter(({ text }) => /: both servers are reachable\b/.test(text)).length === amount;
        },
        { what: `the end of test ${amount}` },
      );
    await note(world, { of: 'reachability' });
    await failing(world);
    const told = await answerTo(world, 'member', () =>
      click(world, 'member', actionOf(world, 'failure:test')),
    );
    expect(told).toContain('Its result comes into <http');
    await ended(1);
    for (const run of [2, 3]) {
      await note(world, { of: 'reachability', minute: run });
      await world.as('member').click(place(), { actionId: 'test:again' });
      await ended(run);
    }
    expect(roots(world)).toHaveLength(1);
  });

  test('says whether anything is followed, and what of it is paused', async ({ world }) => {
    expect(await failing(world)).toContain(
      'Nothing is followed here yet, so no failure is noticed. `/deckhand watch &lt;project&gt;` follows a project.',
    );
    await world.as('admin').command(CHANNEL, '/deckhand watch storefront failures');
    await world.slack.until(() => roots(world).length > 0);
    expect(await failing(world)).toContain('Nothing followed here is failing.');
    await world.as('admin').command(CHANNEL, '/deckhand watch pause');
    await world.slack.until(() => JSON.stringify(roots(world)).includes('paused the watch'));
    const paused = `:double_vertical_bar: Not followed now: the watch of *Storefront* in \`acme\` (failures): paused by <@${PEOPLE.admin}>.`;
    expect(await failing(world)).toMatch(/^No failure is open here/);
    expect(shown(world)).toContain(paused);
    await note(world);
    expect(await failing(world)).toContain(paused);
  });

  test('shows a person in a direct message their own failures alone', async ({ world }) => {
    const { slack } = world.app.workspaces.open(TEAM);
    const direct = await slack.openDirect(PEOPLE.member);
    await note(world);
    const inDirect = (who: Who) =>
      answerTo(world, who, () => world.as(who).command(direct, '/deckhand failing'));
    expect(await inDirect('member')).toContain(
      '`/deckhand watch mine` sends you your own failures, and App Home shows',
    );
    await note(world, { channel: direct, person: PEOPLE.member, name: 'Mine' });
    const said = await inDirect('member');
    expect(said).toContain('Mine: the deployment');
    expect(said).toContain('Mute for today');
    expect(said).not.toContain('Storefront');
    expect(await failing(world)).not.toContain('Mine');
  });
});
