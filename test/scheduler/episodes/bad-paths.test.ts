import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect } from 'vitest';
import { DAY_MS } from '../../../src/core/time/clock.ts';
import { episodeRecords, type Outcome, withOutcomes, withoutShown } from '../../../src/records/episodes.ts';
import { noteOutcomes } from '../../../src/scheduler/episodes/episodes.ts';
import { fastClock } from '../../support/faults.ts';
import { test as base } from '../../support/fixtures.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { ACCOUNT, CHANNEL, openTestWorld, TEAM, type TestWorld } from '../../support/test-world.ts';

const test = base.extend('worldOptions', () => ({ clock: fastClock(20) }));

const SUBJECT = { kind: 'deployments', channel: CHANNEL, account: ACCOUNT } as const;

async function note(
  world: TestWorld,
  kind: 'failure' | 'success',
  at: number,
  project = 'Storefront',
): Promise<void> {
  const workspace = world.app.workspaces.open(TEAM);
  const outcome = { kind, id: `${kind} ${at}`, at, lines: [`deploy ${at}`] };
  await noteOutcomes(workspace, { ...SUBJECT, project, name: project }, [outcome]);
}

const roots = (world: TestWorld) => world.slack.messages(TEAM, CHANNEL);
const texts = (world: TestWorld) => roots(world).map(({ text }) => text);
const blocks = (world: TestWorld) => JSON.stringify(roots(world).map((one) => one.blocks));

async function recordsOf(world: TestWorld) {
  return episodeRecords(world.app.parts.store.of(TEAM)).list();
}

describe('an episode', () => {
  test.override({ connected: true });
  test.beforeEach(async ({ world }) => {
    world.slack.invite(TEAM, CHANNEL, 'bot');
  });

  test('has its message after one that was deleted under one name, and counted, if a process died before it knew', async ({
    world,
  }) => {
    await note(world, 'failure', 1_000);
    const { slack } = world.app.workspaces.open(TEAM);
    await slack.call('chat.delete', { channel: CHANNEL, ts: roots(world)[0]?.ts ?? '' });
    const [{ id, doc } = { id: '', doc: undefined }] = await recordsOf(world);
    const rootRef = doc?.episodes[0]?.rootRef;
    await note(world, 'failure', 2_000);
    await episodeRecords(world.app.parts.store.of(TEAM)).update(id, (record) => {
      const episodes = record?.episodes.map((episode) => ({ ...episode, rootRef })) ?? [];
      return record && { ...record, episodes };
    });
    await note(world, 'failure', 3_000);
    // Slack in the tests takes both; a real one knows the name.
    expect(roots(world)).toHaveLength(2);
    expect(new Set(roots(world).map(({ client_msg_id: name }) => name)).size).toBe(1);
    expect(texts(world).at(-1)).toContain('3 failures since');
    expect(await world.app.parts.metrics.text()).toContain(
      'deckhand_possible_duplicates_total{what="post"} 1',
    );
  });

  test('tells how two outages ended that its channel could not be told of', async ({ world }) => {
    world.slack.archiveChannel(TEAM, CHANNEL);
    for (const at of [1_000, 121_000]) {
      await expect(note(world, 'failure', at)).rejects.toThrow('is_archived');
      await expect(note(world, 'success', at + 60_000)).rejects.toThrow('is_archived');
    }
    world.slack.unarchiveChannel(TEAM, CHANNEL);
    world.slack.invite(TEAM, CHANNEL, 'bot');
    await note(world, 'success', 240_000);
    const recovered = 'Storefront recovered after 1 min and 1 failure.';
    expect(texts(world)).toEqual([recovered, recovered]);
    expect((await recordsOf(world))[0]?.doc.episodes).toHaveLength(1);
  });

  test('has each of its replies where two replicas say one at once, as they may after a crash of the database', async ({
    world,
  }) => {
    await note(world, 'failure', 1_000);
    const posts = () => world.slack.calls.filter(({ method }) => method === 'chat.postMessage').length;
    const before = posts();
    world.slack.fault({ method: 'chat.postMessage', delayMs: 1_000, times: 1 });
    const noted = note(world, 'failure', 2_000);
    while (posts() === before) await nextTurn();
    // Another replica has posted it by now, and stored a third failure.
    const [row = { id: '' }] = await recordsOf(world);
    await episodeRecords(world.app.parts.store.of(TEAM)).update(row.id, (record) => {
      const third: Outcome = { kind: 'failure', id: 'failure 3000', at: 3_000, lines: ['deploy 3000'] };
      return record && withOutcomes(withoutShown(record, record), [third], 3_000);
    });
    await noted;
    await note(world, 'failure', 3_000);
    const thread = world.slack.thread(TEAM, CHANNEL, roots(world)[0]?.ts ?? '').map(({ text }) => text);
    expect(thread).toEqual([expect.stringContaining('deploy 2000'), expect.stringContaining('deploy 3000')]);
  });
});

base(
  'nothing is lost where 50 episodes begin, fail on and end at once, within Slack’s rates',
  async ({ onTestFinished }) => {
    const world = await openTestWorld({ time: fastClock(100), realRates: true, connected: true });
    onTestFinished(() => world.stop());
    world.slack.invite(TEAM, CHANNEL, 'bot');
    const names = Array.from({ length: 50 }, (_, at) => `Shop ${at}`);
    const noteAll = (kind: 'failure' | 'success', at: number): Promise<unknown> =>
      Promise.all(names.map((name) => note(world, kind, at, name)));
    await Promise.all([noteAll('failure', 1_000), noteAll('failure', 31_000)]);
    await noteAll('success', 61_000);
    expect(texts(world).toSorted()).toEqual(
      names.map((name) => `${name} recovered after 1 min and 2 failures.`).toSorted(),
    );
    const replies = roots(world).flatMap(({ ts }) => world.slack.thread(TEAM, CHANNEL, ts));
    expect(replies).toHaveLength(names.length * 2);
  },
);

base(
  'an episode is closed after a week without news, begins anew after that, and is forgotten',
  async ({ onTestFinished }) => {
    const clock = createManualClock();
    const world = await openTestWorld({ clock, connected: true });
    onTestFinished(() => world.stop());
    world.slack.invite(TEAM, CHANNEL, 'bot');
    const pass = async (days: number, isOver: () => boolean | Promise<boolean>): Promise<void> => {
      await clock.advance(days * DAY_MS);
      while (!(await isOver())) await clock.advance(1_000);
    };
    await note(world, 'failure', clock.now());
    await clock.advance(6 * DAY_MS);
    await note(world, 'failure', clock.now());
    await clock.advance(6 * DAY_MS);
    expect(texts(world)[0]).toContain('2 failures since');
    await pass(1, () => texts(world)[0]?.includes('closed') === true);
    expect(texts(world)[0]).toBe('Storefront closed: no news for 7 days (2 failures)');
    expect(blocks(world)).not.toContain('episode:claim');
    await note(world, 'failure', clock.now());
    expect(texts(world)).toHaveLength(2);
    await note(world, 'success', clock.now());
    await clock.advance(7 * DAY_MS - 60_000);
    expect(await recordsOf(world)).toHaveLength(1);
    await pass(0, async () => (await recordsOf(world)).length === 0);
    const privacy = await (await fetch(`${world.origin}/privacy`)).text();
    expect(privacy).toContain('who is on it: until 7 days after it ended');
  },
);
