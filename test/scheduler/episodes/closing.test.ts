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

async function note(world: TestWorld, kind: 'failure' | 'success', minute: number): Promise<void> {
  const at = Date.now() + minute * 60_000;
  const outcome = { kind, id: `${minute}`, at, lines: [`deploy ${minute}`] };
  await noteOutcomes(world.app.workspaces.open(TEAM), SUBJECT, [outcome]);
}

const roots = (world: TestWorld) => world.slack.messages(TEAM, CHANNEL);
const texts = (world: TestWorld) => roots(world).map(({ text }) => text);
const shown = (world: TestWorld) => JSON.stringify(roots(world));
const replies = (world: TestWorld) =>
  world.slack.thread(TEAM, CHANNEL, roots(world)[0]?.ts ?? '').map(({ text }) => text);
const click = (world: TestWorld, who: Who, verb: string) =>
  world
    .as(who)
    .click({ channel: CHANNEL, ts: roots(world).at(-1)?.ts ?? '' }, { actionId: `episode:${verb}` });
/** What is stored and not shown yet, as while a person reads a question or after a kill. */
async function storeUnshown(world: TestWorld, change: (record: EpisodeRecord) => EpisodeRecord) {
  const records = episodeRecords(world.app.parts.store.of(TEAM));
  const [{ id } = { id: '' }] = await records.list();
  await records.update(id, (record) => record && change(record));
}
const clicked =
  (user: string, verb: Verb) =>
  (record: EpisodeRecord): EpisodeRecord => {
    const by = { user, verb, seen: undefined, now: Date.now() };
    return { ...record, episodes: record.episodes.map((episode) => afterClick(episode, by)) };
  };
const closed = (who: Who) => `Storefront closed by <@${PEOPLE[who]}> (1 failure)`;

async function claimedBy(world: TestWorld, who: Who): Promise<void> {
  await click(world, who, 'claim');
  await world.slack.until(() => shown(world).includes(`<@${PEOPLE[who]}> is on it`));
}

describe('a failure', () => {
  test.override({ connected: true });
  test.beforeEach(async ({ world }) => {
    world.slack.invite(TEAM, CHANNEL, 'bot');
    await note(world, 'failure', 0);
  });

  test('is closed by an operator after a question, and a further failure begins another message', async ({
    world,
  }) => {
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
    await note(world, 'success', 1);
    expect(texts(world)).toEqual([closed('admin')]);
    await note(world, 'failure', 2);
    expect(texts(world)[1]).toContain('Storefront: deployments are failing since');
  });

  test('is closed by whoever is on it, and by no other member', async ({ world }) => {
    const refused = await answerTo(world, 'member', () => click(world, 'member', 'close'));
    expect(refused).toContain('Only operators can do this.');
    await claimedBy(world, 'admin');
    expect(await answerTo(world, 'member', () => click(world, 'member', 'close'))).toContain(
      'Only operators',
    );
    await claimedBy(world, 'member');
    await click(world, 'member', 'close');
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
    await storeUnshown(world, change);
    expect(await answerTo(world, 'admin', () => click(world, 'admin', 'close'))).toContain(says);
    expect(shown(world)).not.toContain('closed by');
  });

  test('is closed by one of two people at once, and the other is told who', async ({ world }) => {
    await claimedBy(world, 'member');
    const told = () =>
      (['admin', 'member'] as const).flatMap((who) =>
        world.slack.ephemerals(TEAM, PEOPLE[who]).filter(({ text }) => text.includes('closed this failure')),
      );
    await Promise.all([click(world, 'admin', 'close'), click(world, 'member', 'close')]);
    await world.slack.until(() => told().length > 0);
    const by = /closed by <@(\w+)>/.exec(texts(world)[0] ?? '')?.[1];
    expect(told().map(({ text }) => text)).toEqual([expect.stringContaining(`<@${by}> closed this failure`)]);
    expect(replies(world).filter((text) => text.includes('closed it'))).toHaveLength(1);
  });

  test('is shown as closed where the process died before its message was edited', async ({ world }) => {
    await storeUnshown(world, clicked(PEOPLE.admin, 'close'));
    expect(texts(world)[0]).toContain('are failing');
    // The click is carried out again.
    await click(world, 'admin', 'close');
    await world.slack.until(() => replies(world).length === 1);
    expect(texts(world)[0]).toBe(closed('admin'));
  });
});

describe('a failure at a service whose clock is behind', () => {
  test.override({ connected: true });

  test('begins another message after the one before was closed', async ({ world }) => {
    world.slack.invite(TEAM, CHANNEL, 'bot');
    await note(world, 'failure', -10);
    await click(world, 'admin', 'close');
    await world.slack.until(() => replies(world).length === 1);
    await note(world, 'failure', -9);
    expect(texts(world)).toEqual([closed('admin'), expect.stringContaining('deployments are failing')]);
  });
});
