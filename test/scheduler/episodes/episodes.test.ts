import { describe, expect } from 'vitest';
import {
  afterClick,
  type EpisodeRecord,
  episodeRecords,
  type Verb,
  withOutcomes,
} from '../../../src/records/episodes.ts';
import { noteOutcomes } from '../../../src/scheduler/episodes/episodes.ts';
import { answerTo, ask } from '../../support/asking.ts';
import { test } from '../../support/fixtures.ts';
import { ACCOUNT, CHANNEL, PEOPLE, TEAM, type TestWorld } from '../../support/test-world.ts';

type Who = 'admin' | 'member';

const SUBJECT = {
  kind: 'deployments',
  channel: CHANNEL,
  account: ACCOUNT,
  project: 'p1',
  name: 'Storefront',
} as const;

async function note(
  world: TestWorld,
  kind: 'failure' | 'success',
  minute: number,
  isQuiet?: boolean,
): Promise<void> {
  const at = Date.now() + minute * 60_000;
  const outcome = { kind, id: `${minute}`, at, lines: [`deploy ${minute}`], isQuiet };
  await noteOutcomes(world.app.workspaces.open(TEAM), SUBJECT, [outcome]);
}

const roots = (world: TestWorld) => world.slack.messages(TEAM, CHANNEL);
const texts = (world: TestWorld) => roots(world).map(({ text }) => text);
const shown = (world: TestWorld) => JSON.stringify(roots(world).map(({ blocks }) => blocks));
const root = (world: TestWorld) => ({ channel: CHANNEL, ts: roots(world).at(-1)?.ts ?? '' });
const replies = (world: TestWorld, { ts } = root(world)) =>
  world.slack.thread(TEAM, CHANNEL, ts).map(({ text }) => text);
const click = (world: TestWorld, who: Who, verb: string) =>
  world.as(who).click(root(world), { actionId: `episode:${verb}` });
/** What either of two people is told alone. */
const told = (world: TestWorld, words: string) =>
  (['admin', 'member'] as const)
    .flatMap((who) => world.slack.ephemerals(TEAM, PEOPLE[who]).map(({ text }) => text))
    .filter((text) => text.includes(words));
const closed = (who: Who) => `Storefront closed by <@${PEOPLE[who]}> (1 failure)`;

async function deleteRoot(world: TestWorld): Promise<void> {
  const { slack } = world.app.workspaces.open(TEAM);
  await slack.call('chat.delete', root(world));
}

async function claim(world: TestWorld, who: Who): Promise<void> {
  await click(world, who, 'claim');
  await world.slack.until(() => shown(world).includes(`<@${PEOPLE[who]}> is on it`));
}

/** Changes what is stored and not shown yet, as while a person reads a question or after a kill. */
async function storeUnshown(world: TestWorld, change: (record: EpisodeRecord) => EpisodeRecord) {
  const records = episodeRecords(world.app.parts.store.of(TEAM));
  const [{ id } = { id: '' }] = await records.list();
  await records.update(id, (record) => record && change(record));
}
const clicked =
  (user: string, verb: Verb) =>
  (record: EpisodeRecord): EpisodeRecord => {
    const by = { user, verb, drawnOwner: undefined, now: Date.now() };
    return { ...record, episodes: record.episodes.map((episode) => afterClick(episode, by)) };
  };

describe('an episode', () => {
  test.override({ connected: true });
  test.beforeEach(async ({ world }) => {
    world.slack.invite(TEAM, CHANNEL, 'bot');
  });

  test('is one message, edited until it is over, with a reply for each further failure and for its end', async ({
    world,
  }) => {
    await note(world, 'failure', 0);
    expect(texts(world)).toEqual([expect.stringContaining('Storefront: deployments are failing since')]);
    expect(replies(world)).toEqual([]);
    await note(world, 'failure', 1);
    await note(world, 'failure', 2);
    expect(texts(world)[0]).toContain('3 failures since');
    await note(world, 'success', 38);
    expect(texts(world)).toEqual(['Storefront recovered after 38 min and 3 failures.']);
    expect(shown(world), 'the first failure, which has no reply').toContain('deploy 0');
    expect(replies(world)).toEqual([
      expect.stringContaining('Failure 2'),
      expect.stringContaining('Failure 3'),
      expect.stringContaining('Recovered'),
    ]);
  });

  test('is posted anew at the next failure where its message was deleted, and not at its end', async ({
    world,
  }) => {
    await note(world, 'failure', 0);
    await deleteRoot(world);
    await world.app.workspaces.open(TEAM).channels.change(CHANNEL, () => ({ threads: false }));
    await note(world, 'failure', 1);
    expect(texts(world)).toEqual([expect.stringContaining('2 failures since')]);
    expect(replies(world), 'where the channel wants no threads').toEqual([]);
    await deleteRoot(world);
    await note(world, 'success', 2);
    expect(roots(world)).toEqual([]);
  });

  test('has in its thread what Slack does not let its message say, until an edit goes through', async ({
    world,
  }) => {
    await note(world, 'failure', 0);
    world.slack.fault({ method: 'chat.update', error: 'edit_window_closed', times: 1 });
    await note(world, 'failure', 1);
    expect(texts(world)[0]).not.toContain('failures');
    expect(replies(world)).toEqual([expect.stringContaining('deploy 1')]);
    await note(world, 'success', 2);
    expect(texts(world)).toEqual(['Storefront recovered after 2 min and 2 failures.']);
    expect(replies(world)).toHaveLength(2);
  });

  test.for([
    { error: 'edit_window_closed', isQuiet: true, threads: true },
    { error: 'a_word_never_seen', isQuiet: true, threads: false },
    { error: 'edit_window_closed', isQuiet: false, threads: true, reply: 'restricted_action_thread_locked' },
  ])('whose message Slack does not let us edit is seen to end once with %j', async (row, { world }) => {
    await world.app.workspaces.open(TEAM).channels.change(CHANNEL, () => ({ threads: row.threads }));
    await note(world, 'failure', 0);
    const first = root(world);
    world.slack.fault({ method: 'chat.update', error: row.error });
    if (row.reply !== undefined)
      world.slack.fault({ method: 'chat.postMessage', error: row.reply, times: 1 });
    await note(world, 'success', 2, row.isQuiet);
    await note(world, 'success', 3, row.isQuiet);
    const all = [...texts(world), ...replies(world, first)];
    expect(all.filter((text) => text.includes('Storefront recovered after 2 min'))).toHaveLength(1);
  });

  test('is claimed by one of two people at once, handed back and taken over', async ({ world }) => {
    await note(world, 'failure', 0);
    await Promise.all([click(world, 'admin', 'claim'), click(world, 'member', 'claim')]);
    await world.slack.until(() => told(world, 'is on it').length > 0);
    const owner = /<@(\w+)> is on it/.exec(shown(world))?.[1] ?? '';
    expect(told(world, 'is on it')[0]).toContain(`<@${owner}> is on it`);
    await world.as('member').openHome();
    const home = () => JSON.stringify(world.slack.home(TEAM, PEOPLE.member)?.content.blocks ?? []);
    await world.slack.until(() => home().includes(`<@${owner}> is on it`));
    expect(home()).toContain('*Storefront: deployments are failing since');
    const [other, first] =
      owner === PEOPLE.admin ? (['member', 'admin'] as const) : (['admin', 'member'] as const);
    await claim(world, other);
    expect(await answerTo(world, first, () => click(world, first, 'release'))).toContain(
      `<@${PEOPLE[other]}> is on it`,
    );
    await click(world, other, 'release');
    await world.slack.until(() => !shown(world).includes('is on it'));
  });

  test.for([
    { kind: 'deployments', command: 'watch', other: 'guard' },
    { kind: 'reachability', command: 'guard', other: 'watch' },
  ] as const)('of $kind is nobody’s to claim where $command is switched off', async (row, { world }) => {
    const workspace = world.app.workspaces.open(TEAM);
    const failure = { kind: 'failure' as const, id: 'f1', at: Date.now(), lines: ['failed'] };
    const items = [{ key: 'server:1', title: 'web-1', message: null }];
    await noteOutcomes(workspace, { ...SUBJECT, kind: row.kind }, [{ ...failure, items }]);
    await workspace.channels.change(CHANNEL, () => ({ commands: [row.other] }));
    const refused = await answerTo(world, 'member', () => click(world, 'member', 'claim'));
    expect(refused).toContain(`\`${row.command}\``);
    expect(shown(world)).not.toContain('is on it');
    await workspace.channels.change(CHANNEL, () => ({ commands: [row.command] }));
    await claim(world, 'member');
  });

  test('is closed by an operator after a question, and a further failure begins another message', async ({
    world,
  }) => {
    // The service's clock is behind.
    await note(world, 'failure', -10);
    expect(shown(world)).toContain('"confirm":{"title":{"type":"plain_text","text":"Close this failure?"');
    await world.as('member').openHome();
    const home = () => JSON.stringify(world.slack.home(TEAM, PEOPLE.member)?.content.blocks ?? []);
    await world.slack.until(() => home().includes('Failing now'));
    await click(world, 'admin', 'close');
    await world.slack.until(() => replies(world).length === 1);
    expect(texts(world)).toEqual([closed('admin')]);
    expect(JSON.stringify(roots(world)[0]?.blocks)).not.toContain('episode:');
    expect(replies(world)).toEqual([expect.stringContaining(`<@${PEOPLE.admin}> closed it.`)]);
    await world.slack.until(() => !home().includes('Failing now'));
    expect(await ask(world, '/deckhand audit', 'admin')).toContain('episode close');
    await note(world, 'success', -9);
    expect(texts(world)).toEqual([closed('admin')]);
    await note(world, 'failure', -8);
    expect(texts(world)[1]).toContain('Storefront: deployments are failing since');
  });

  test('is closed by whoever is on it, and by no other member', async ({ world }) => {
    await note(world, 'failure', 0);
    const close = () => click(world, 'member', 'close');
    expect(await answerTo(world, 'member', close)).toContain('Only operators can do this.');
    await claim(world, 'admin');
    expect(await answerTo(world, 'member', close)).toContain('Only operators');
    await claim(world, 'member');
    await close();
    await world.slack.until(() => replies(world).length === 3);
    expect(texts(world)[0]).toBe(closed('member'));
    expect(replies(world)).toEqual([
      expect.stringContaining(`<@${PEOPLE.admin}> is on it.`),
      expect.stringContaining(`<@${PEOPLE.member}> is on it.`),
      expect.stringContaining(`<@${PEOPLE.member}> closed it.`),
    ]);
  });

  test.for<[what: string, change: (record: EpisodeRecord) => EpisodeRecord, says: string]>([
    ['somebody else is on it by then', clicked(PEOPLE.member, 'claim'), `<@${PEOPLE.member}> is on it.`],
    [
      'it is over by then',
      (record) =>
        withOutcomes(record, [{ kind: 'success', id: 's', at: Date.now() + 1, lines: [] }], Date.now()),
      'This failure is over',
    ],
  ])('is not closed where the question is answered too late: %s', async ([_, change, says], { world }) => {
    await note(world, 'failure', 0);
    await storeUnshown(world, change);
    expect(await answerTo(world, 'admin', () => click(world, 'admin', 'close'))).toContain(says);
    expect(texts(world).join()).not.toContain('closed by');
  });

  test('is closed by one of two people at once, and the other is told who', async ({ world }) => {
    await note(world, 'failure', 0);
    await claim(world, 'member');
    await Promise.all([click(world, 'admin', 'close'), click(world, 'member', 'close')]);
    await world.slack.until(() => told(world, 'closed this failure').length > 0);
    const by = /closed by <@(\w+)>/.exec(texts(world)[0] ?? '')?.[1];
    expect(told(world, 'closed this failure')).toEqual([
      expect.stringContaining(`<@${by}> closed this failure`),
    ]);
    expect(replies(world).filter((text) => text.includes('closed it'))).toHaveLength(1);
  });

  test('is shown as closed where the process died before its message was edited', async ({ world }) => {
    await note(world, 'failure', 0);
    await storeUnshown(world, clicked(PEOPLE.admin, 'close'));
    expect(texts(world)[0]).toContain('are failing');
    // The click is carried out again.
    await click(world, 'admin', 'close');
    await world.slack.until(() => replies(world).length === 1);
    expect(texts(world)[0]).toBe(closed('admin'));
  });
});
