import { describe, expect } from 'vitest';
import { episodeRecords } from '../../../src/records/episodes.ts';
import { noteOutcomes } from '../../../src/scheduler/episodes/change-episodes.ts';
import { answerTo, ask } from '../../support/asking.ts';
import { choose, leaveFailure } from '../../support/failure-menu.ts';
import { test } from '../../support/fixtures.ts';
import { sendClick } from '../../support/signed.ts';
import { ACCOUNT, CHANNEL, PEOPLE, TEAM, type TestWorld } from '../../support/test-world.ts';

const HOUR = 'Quiet for 1 hour';
const QUIET = [HOUR, 'Quiet until 08:00', 'Quiet until Monday'];
const ITEM = { key: 'server:1', title: 'web-1', message: 'Connection refused' };
const open = ({ app }: TestWorld) => app.workspaces.open(TEAM);

async function fail(world: TestWorld, kind: 'deployments' | 'reachability', id = 'f1'): Promise<void> {
  const subject = {
    kind,
    channel: CHANNEL,
    account: ACCOUNT,
    project: 'storefront',
    name: 'Storefront',
  } as const;
  const failure = { kind: 'failure' as const, id, at: Date.now(), lines: ['deploy failed'] };
  await noteOutcomes(open(world), subject, [
    kind === 'reachability' ? { ...failure, items: [ITEM] } : failure,
  ]);
}

const root = ({ slack }: TestWorld) => slack.messages(TEAM, CHANNEL)[0];
const place = (world: TestWorld) => ({ channel: CHANNEL, ts: root(world)?.ts ?? '' });
const shown = (world: TestWorld) => JSON.stringify(root(world)?.blocks);
const until = (world: TestWorld, words: string) =>
  world.slack.until(() => shown(world).includes(words), { what: words });
const thread = (world: TestWorld) =>
  world.slack.thread(TEAM, CHANNEL, place(world).ts).map(({ text }) => text);

/** The labels of a message's buttons, those of a menu in a list of their own. */
function readButtons(blocks: string) {
  const all: unknown[] = [];
  JSON.parse(blocks, (_, part) => {
    if (part?.type === 'button') all.push([part.text.text, part.style].filter(Boolean).join(' '));
    if (part?.type === 'overflow')
      all.push(part.options.map(({ text }: { text: { text: string } }) => text.text));
    return part;
  });
  return all;
}

const list = async (world: TestWorld, who: keyof typeof PEOPLE, command = 'failing') =>
  readButtons((await ask(world, `/deckhand ${command}`.trim(), who)).replace(/^.*? (?=\[)/s, ''));

describe('the message of a failure', () => {
  test.override({ connected: true });
  test.beforeEach(async ({ world }) => {
    world.slack.invite(TEAM, CHANNEL, 'bot');
  });

  test('has one primary button, two more at most, and the rest in a menu', async ({ world }) => {
    await fail(world, 'reachability');
    expect(readButtons(shown(world))).toEqual(['I’m on it primary', 'Test again', [...QUIET, 'Close']]);
    await world.as('member').click(place(world), { actionId: 'episode:claim' });
    await until(world, 'is on it');
    expect(readButtons(shown(world))).toEqual(['Take over', 'Test again', ['Hand back', ...QUIET, 'Close']]);
  });

  test('shows each reader of a list only what they may do', async ({ world }) => {
    await open(world).channels.change(CHANNEL, () => ({ diagnose: false }));
    await fail(world, 'deployments');
    expect(await list(world, 'member')).toEqual(['I’m on it primary', [HOUR]]);
    expect(await list(world, 'admin')).toEqual(['I’m on it primary', [...QUIET, 'Close']]);
    await world.as('member').click(place(world), { actionId: 'episode:claim' });
    await until(world, 'is on it');
    expect(await list(world, 'member')).toEqual([['Hand back', ...QUIET, 'Close']]);
    expect(await list(world, 'billing')).toEqual(['Take over', [HOUR]]);
    expect(await list(world, 'admin')).toEqual(['Take over', [...QUIET, 'Close']]);
    await open(world).channels.change(CHANNEL, () => ({ commands: ['failing'] }));
    expect(await list(world, 'admin')).toEqual([]);
  });

  test('is the one primary button of a private list, unless several failures are in it', async ({
    world,
  }) => {
    const primary = async (command: string) =>
      (await list(world, 'admin', command)).filter((label) => String(label).endsWith(' primary'));
    await fail(world, 'deployments');
    expect(await primary('')).toEqual(['I’m on it primary']);
    await fail(world, 'reachability');
    expect(await primary('failing')).toEqual([]);
    expect(await primary('')).toEqual([]);
  });

  test('names and tells the person whom somebody took it over from', async ({ world }) => {
    await fail(world, 'deployments');
    for (const who of ['member', 'admin'] as const) {
      await world.as(who).click(place(world), { actionId: 'episode:claim' });
      await until(world, `<@${PEOPLE[who]}> is on it`);
    }
    await expect
      .poll(() => thread(world))
      .toContain(`<@${PEOPLE.admin}> took it over from <@${PEOPLE.member}>.`);
  });

  test('is tested again in its thread, where the next test is too', async ({ world }) => {
    await fail(world, 'reachability');
    world.service.world.setOutcome({
      account: ACCOUNT,
      project: 'storefront',
      server: 'web-1',
      status: 'error',
      message: 'Connection refused',
    });
    await world.as('member').click(place(world), { actionId: 'test:again' });
    const tests = () =>
      world.slack
        .thread(TEAM, CHANNEL, place(world).ts)
        .filter(({ text }) => text.startsWith('Storefront: 1 of'));
    await expect.poll(() => tests().length).toBe(1);
    await world.slack.until(() => JSON.stringify(tests()[0]?.blocks).includes('test:again'));
    expect(shown(world), 'it can be tested as often as wanted').toContain('test:again');
    await world
      .as('member')
      .click({ channel: CHANNEL, ts: tests()[0]?.ts ?? '' }, { actionId: 'test:again' });
    await expect.poll(() => tests().length).toBe(2);
    expect(world.slack.messages(TEAM, CHANNEL)).toHaveLength(1);
  });

  test.for([
    ['threads are off', undefined],
    ['Slack takes no replies', 'restricted_action_thread_locked'],
  ] as const)('has the result of its test beside it if %s', async ([, error], { world }) => {
    await fail(world, 'reachability');
    if (error === undefined) await open(world).channels.change(CHANNEL, () => ({ threads: false }));
    else world.slack.fault({ method: 'chat.postMessage', error, times: 1 });
    await world.as('member').click(place(world), { actionId: 'test:again' });
    await world.slack.until(() =>
      world.slack.messages(TEAM, CHANNEL).some(({ text }) => text.includes('are reachable')),
    );
    expect(thread(world).filter((text) => text.includes('are reachable'))).toEqual([]);
  });

  test('asks in a form before it is closed, and nobody who may not close it', async ({ world }) => {
    await fail(world, 'deployments');
    const asked = () => choose(world, 'episode:close ', { who: 'member', ...place(world) });
    expect(await answerTo(world, 'member', asked)).toContain(
      'Only operators can close a failure that somebody else is on.',
    );
    expect(world.as('member').openView()).toBeUndefined();
    await choose(world, 'episode:close ', place(world));
    const view = () => world.as('admin').openView()?.content;
    await world.slack.until(() => view() !== undefined);
    expect(JSON.stringify(view())).toContain('Storefront: the deployment failed');
    expect(root(world)?.text).not.toContain('closed by');
    await world.as('admin').submit('episode.close', {});
    await world.slack.until(() => root(world)?.text.includes(`closed by <@${PEOPLE.admin}>`) === true);
    expect(await ask(world, '/deckhand audit', 'admin')).toContain('Close a failure: Storefront');
  });

  test('takes the clicks of a message of 1.0.0', async ({ world }) => {
    await fail(world, 'reachability');
    const [record] = await episodeRecords(open(world).store).list();
    const id = record?.doc.episodes[0]?.id;
    const who = { user: { id: PEOPLE.member }, channel: { id: CHANNEL } };
    const value = { key: record?.id, id };
    await sendClick(world, 'episode:claim', value, who);
    await until(world, 'is on it');
    await sendClick(world, 'episode:release', { ...value, owner: PEOPLE.member }, who);
    await world.slack.until(() => !shown(world).includes('is on it'));
    await sendClick(world, 'episode:close', value, { ...who, user: { id: PEOPLE.admin } });
    await world.slack.until(() => root(world)?.text.includes('closed by') === true);
  });

  test('may be handed back from the menu of a list', async ({ world }) => {
    await fail(world, 'deployments');
    await world.as('member').click(place(world), { actionId: 'episode:claim' });
    await until(world, 'is on it');
    await ask(world, '/deckhand failing');
    const { ts = '' } = world.slack.ephemerals(TEAM, PEOPLE.member).at(-1) ?? {};
    await leaveFailure(world, 'release', { who: 'member', channel: CHANNEL, ts });
    await world.slack.until(() => !shown(world).includes('is on it'));
    await world.slack.until(() =>
      JSON.stringify(world.slack.ephemerals(TEAM, PEOPLE.member).find((one) => one.ts === ts)).includes(
        'I’m on it',
      ),
    );
  });

  test('is taken by words about it, and not by words about another project', async ({ world }) => {
    await fail(world, 'deployments');
    for (const words of ['fixing search', 'i am on billing api', 'checking on shop-2', 'taking a break'])
      expect(await ask(world, `/deckhand ${words}`), words).not.toContain('You are on');
    expect(shown(world)).not.toContain('is on it');
    expect(await ask(world, '/deckhand fixing the storefront now')).toContain('You are on *Storefront*');
    for (const words of ['looking into this now', 'i will take a look', 'handling it', 'on it'])
      expect(await ask(world, `/deckhand ${words}`), words).toContain('You are on *Storefront* already');
  });
});
