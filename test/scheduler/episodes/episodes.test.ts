import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, onTestFinished, test as plain } from 'vitest';
import { DAY_MS } from '../../../src/core/time/clock.ts';
import {
  afterClick,
  type EpisodeRecord,
  episodeRecords,
  type Outcome,
  type Verb,
  withoutShown,
} from '../../../src/records/episodes.ts';
import { withOutcomes } from '../../../src/records/outcomes.ts';
import { noteOutcomes } from '../../../src/scheduler/episodes/change-episodes.ts';
import { answerTo, ask } from '../../support/asking.ts';
import { choose, leaveFailure } from '../../support/failure-menu.ts';
import { fastClock } from '../../support/faults.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { ACCOUNT, CHANNEL, openTestWorld, PEOPLE, TEAM, type TestWorld } from '../../support/test-world.ts';
import { press, roots, test, texts, thread } from '../channel.ts';

type Who = 'admin' | 'member';

const SUBJECT = { kind: 'deployments', channel: CHANNEL, account: ACCOUNT } as const;

interface Noted extends Partial<Outcome> {
  project?: string;
  account?: string;
}

/** Notes an outcome so many minutes from now. */
async function note(world: TestWorld, kind: 'failure' | 'success', minute: number, more: Noted = {}) {
  const {
    project = 'Storefront',
    account = SUBJECT.account,
    at = Date.now() + minute * 60_000,
    ...rest
  } = more;
  const outcome = { kind, id: `${minute}`, at, lines: [`deploy ${minute}`], ...rest };
  const subject = { ...SUBJECT, account, project: project.toLowerCase(), name: project };
  await noteOutcomes(world.app.workspaces.open(TEAM), subject, [outcome]);
}

const shown = (world: TestWorld) => JSON.stringify(roots(world).map(({ blocks }) => blocks));
const click = (world: TestWorld, who: Who, verb: Verb) =>
  verb === 'claim'
    ? press(world, `episode:${verb}`, { who })
    : leaveFailure(world, verb, { who, ts: roots(world).at(-1)?.ts ?? '' });
const home = (world: TestWorld) =>
  JSON.stringify(world.slack.home(TEAM, PEOPLE.member)?.content.blocks ?? []);
const closed = (who: Who) =>
  `Failure of Storefront closed by <@${PEOPLE[who]}>, not mended. 1 deployment failed.`;
const recordsOf = (world: TestWorld) => episodeRecords(world.app.parts.store.of(TEAM));

async function deleteRoot(world: TestWorld): Promise<void> {
  const { slack } = world.app.workspaces.open(TEAM);
  await slack.call('chat.delete', { channel: CHANNEL, ts: roots(world)[0]?.ts ?? '' });
}

async function claim(world: TestWorld, who: Who): Promise<void> {
  await click(world, who, 'claim');
  await world.slack.until(() => shown(world).includes(`<@${PEOPLE[who]}> is on it`));
}

/** Changes what is stored and not shown yet, as while a person reads a question, on another replica or after a kill. */
async function storeUnshown(world: TestWorld, change: (record: EpisodeRecord) => EpisodeRecord) {
  const [{ id } = { id: '' }] = await recordsOf(world).list();
  await recordsOf(world).update(id, (record) => record && change(record));
}
const clicked =
  (user: string, verb: Verb) =>
  (record: EpisodeRecord): EpisodeRecord => {
    const by = { user, verb, drawnOwner: undefined, now: Date.now() };
    return { ...record, episodes: record.episodes.map((episode) => afterClick(episode, by)) };
  };

describe('an episode', () => {
  test('is one message, edited until it is over, with a reply for each further failure and for its end', async ({
    world,
  }) => {
    await note(world, 'failure', 0);
    expect(texts(world)).toEqual([expect.stringContaining('Storefront: the deployment')]);
    expect(thread(world)).toEqual([]);
    await note(world, 'failure', 1);
    await note(world, 'failure', 2);
    expect(texts(world)[0]).toContain('3 deployments failed');
    for (const method of ['chat.update', 'chat.postMessage']) {
      world.slack.fault({ method, error: 'token_expired', times: 1 });
      await expect(note(world, 'success', 38), 'which its job repeats').rejects.toThrow('token_expired');
    }
    const countEdits = () => world.slack.calls.filter(({ method }) => method === 'chat.update').length;
    const before = countEdits();
    await note(world, 'success', 38);
    expect(countEdits()).toBe(before);
    expect(texts(world)).toEqual(['Storefront recovered after 38 min: 3 deployments failed.']);
    expect(shown(world), 'the first failure, which has no reply').toContain('deploy 0');
    expect(thread(world)).toEqual([
      expect.stringContaining('Another deployment failed, 2 so far'),
      expect.stringContaining('Another deployment failed, 3 so far'),
      expect.stringContaining('Recovered'),
    ]);
  });

  test('asks Slack nothing about people in a project’s name, and its buttons keep the name', async ({
    world,
  }) => {
    const left = 'U0LEFT';
    world.slack.addPerson(TEAM, { id: left, deleted: true });
    const name = `<@${left}>${Array.from({ length: 60 }, (_, at) => `<@U${at + 1}>`).join('')}`;
    const item = { key: 'server:web-1', title: name, message: name };
    const fails = async (minute: number) => {
      const subject = { ...SUBJECT, kind: 'reachability', project: 'storefront', name } as const;
      const outcome: Outcome = { kind: 'failure', id: `${minute}`, at: Date.now(), lines: [], items: [item] };
      await noteOutcomes(world.app.workspaces.open(TEAM), subject, [outcome]);
    };
    await fails(0);
    await storeUnshown(world, clicked(left, 'claim'));
    await fails(1);
    const [root] = roots(world);
    expect(JSON.stringify(root?.blocks), 'who left is named').toContain(':raising_hand: u0left is on it');
    const values = JSON.stringify(root?.blocks).match(/"value":"[^}]*/g) ?? [];
    expect(values.join()).toContain(name);
    const asked = world.slack.calls.filter(
      ({ method, args }) => method === 'users.info' && /^U\d+$/.test(`${args.user}`),
    );
    expect(asked).toEqual([]);
  });

  test('is posted anew at the next failure where its message was deleted, and not at its end', async ({
    world,
  }) => {
    await note(world, 'failure', 0);
    await deleteRoot(world);
    await world.app.workspaces.open(TEAM).channels.change(CHANNEL, () => ({ threads: false }));
    await note(world, 'failure', 1);
    expect(texts(world)).toEqual([expect.stringContaining('2 deployments failed')]);
    expect(thread(world), 'where the channel wants no threads').toEqual([]);
    await deleteRoot(world);
    await note(world, 'success', 2);
    expect(roots(world)).toEqual([]);
  });

  test('is posted anew once, and edited, where a process died before it knew', async ({ world }) => {
    await note(world, 'failure', 1);
    await deleteRoot(world);
    const rootRef = (await recordsOf(world).list())[0]?.doc.episodes[0]?.rootRef;
    await note(world, 'failure', 2);
    await storeUnshown(world, (record) => {
      const episodes = record.episodes.map((episode) => ({ ...episode, rootRef }));
      return { ...record, episodes };
    });
    await note(world, 'failure', 3);
    expect(texts(world)).toEqual([expect.stringContaining('3 deployments failed')]);
  });

  test('has in its thread what Slack does not let its message say, until an edit goes through', async ({
    world,
  }) => {
    await note(world, 'failure', 0);
    world.slack.fault({ method: 'chat.update', error: 'edit_window_closed', times: 1 });
    await note(world, 'failure', 1);
    expect(texts(world)[0]).not.toContain('2 deployments');
    expect(thread(world)).toEqual([expect.stringContaining('deploy 1')]);
    await note(world, 'success', 2);
    expect(texts(world)).toEqual(['Storefront recovered after 2 min: 2 deployments failed.']);
    expect(thread(world)).toHaveLength(2);
  });

  test.for([
    { error: 'edit_window_closed', isQuiet: true, threads: true },
    { error: 'a_word_never_seen', isQuiet: true, threads: false },
    { error: 'edit_window_closed', isQuiet: false, threads: true, reply: 'restricted_action_thread_locked' },
  ])('whose message Slack does not let us edit is seen to end once with %j', async (row, { world }) => {
    await world.app.workspaces.open(TEAM).channels.change(CHANNEL, () => ({ threads: row.threads }));
    await note(world, 'failure', 0);
    const first = roots(world)[0]?.ts;
    world.slack.fault({ method: 'chat.update', error: row.error });
    if (row.reply !== undefined)
      world.slack.fault({ method: 'chat.postMessage', error: row.reply, times: 1 });
    await note(world, 'success', 2, { isQuiet: row.isQuiet });
    await note(world, 'success', 3, { isQuiet: row.isQuiet });
    const all = [...texts(world), ...thread(world, first)];
    expect(all.filter((text) => text.includes('Storefront recovered after 2 min'))).toHaveLength(1);
  });

  test('tells how two outages ended that its channel could not be told of', async ({ world }) => {
    world.slack.archiveChannel(TEAM, CHANNEL);
    for (const minute of [1, 41]) {
      await expect(note(world, 'failure', minute)).rejects.toThrow('is_archived');
      await expect(note(world, 'success', minute + 1)).rejects.toThrow('is_archived');
    }
    world.slack.unarchiveChannel(TEAM, CHANNEL);
    world.slack.invite(TEAM, CHANNEL, 'bot');
    await note(world, 'success', 50);
    const recovered = 'Storefront recovered after 1 min: 1 deployment failed.';
    expect(texts(world)).toEqual([recovered, recovered]);
    expect((await recordsOf(world).list())[0]?.doc.episodes).toHaveLength(1);
  });

  test('has each of its replies where two replicas say one at once, as they may after a crash of the database', async ({
    world,
  }) => {
    await note(world, 'failure', 1);
    const posts = () => world.slack.calls.filter(({ method }) => method === 'chat.postMessage').length;
    const before = posts();
    world.slack.fault({ method: 'chat.postMessage', delayMs: 1_000, times: 1 });
    const noted = note(world, 'failure', 2);
    while (posts() === before) await nextTurn();
    // Another replica has posted it by now, and stored a third failure.
    const at = Date.now() + 180_000;
    const third: Outcome = { kind: 'failure', id: '3', at, lines: ['deploy 3'] };
    await storeUnshown(world, (record) => withOutcomes(withoutShown(record, record), [third], at));
    await noted;
    await note(world, 'failure', 3, { at });
    expect(thread(world)).toEqual([expect.stringContaining('deploy 2'), expect.stringContaining('deploy 3')]);
  });

  test('is claimed by one of two people at once, handed back and taken over', async ({ world }) => {
    await note(world, 'failure', 0);
    const told = (who: Who) => world.slack.ephemerals(TEAM, PEOPLE[who]).map(({ text }) => text);
    await Promise.all([click(world, 'admin', 'claim'), click(world, 'member', 'claim')]);
    const isOnIt = () => [...told('admin'), ...told('member')].find((text) => text.includes('is on it'));
    await world.slack.until(isOnIt);
    const owner = /<@(\w+)> is on it/.exec(shown(world))?.[1] ?? '';
    expect(isOnIt()).toContain(`<@${owner}> is on it`);
    await world.as('member').openHome();
    await world.slack.until(() => home(world).includes(`<@${owner}> is on it`));
    expect(home(world)).toContain('*Storefront: the deployment');
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
    const subject = { ...SUBJECT, kind: row.kind, project: 'p1', name: 'Storefront' };
    await noteOutcomes(workspace, subject, [{ ...failure, items }]);
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
    expect(shown(world)).not.toContain('"confirm"');
    await world.as('member').openHome();
    await world.slack.until(() => home(world).includes('Failing now'));
    await click(world, 'admin', 'close');
    await world.slack.until(() => thread(world).length === 1);
    expect(texts(world)).toEqual([closed('admin')]);
    expect(shown(world)).not.toContain('episode:');
    expect(thread(world)).toEqual([expect.stringContaining(`<@${PEOPLE.admin}> closed it.`)]);
    await world.slack.until(() => !home(world).includes('Failing now'));
    expect(await ask(world, '/deckhand audit', 'admin')).toContain('Close a failure');
    await note(world, 'success', -9);
    expect(texts(world)).toEqual([closed('admin')]);
    await note(world, 'failure', -8);
    expect(texts(world)[1]).toContain('Storefront: the deployment');
  });

  test('is closed by whoever is on it, and by no other member', async ({ world }) => {
    await note(world, 'failure', 0);
    await claim(world, 'admin');
    const place = { who: 'member', ts: roots(world)[0]?.ts ?? '' } as const;
    const close = () => choose(world, 'episode:close ', place);
    expect(await answerTo(world, 'member', close)).toContain(
      'Only operators can close a failure that somebody else is on.',
    );
    await claim(world, 'member');
    await click(world, 'member', 'close');
    await world.slack.until(() => thread(world).length === 3);
    expect(texts(world)[0]).toBe(closed('member'));
  });

  test.for<[what: string, change: (record: EpisodeRecord) => EpisodeRecord, says: string]>([
    ['somebody else is on it by then', clicked(PEOPLE.member, 'claim'), `<@${PEOPLE.member}> is on it.`],
    ['somebody has closed it', clicked(PEOPLE.member, 'close'), `<@${PEOPLE.member}> closed this failure`],
    [
      'it is over by then',
      (record) =>
        withOutcomes(record, [{ kind: 'success', id: 's', at: Date.now() + 1, lines: [] }], Date.now()),
      'This failure is over',
    ],
  ])('is not closed where the question is answered too late: %s', async ([_, change, says], { world }) => {
    await note(world, 'failure', 0);
    await choose(world, 'episode:close ', { ts: roots(world)[0]?.ts ?? '' });
    const ann = world.as('admin');
    await world.slack.until(() => ann.openView() !== undefined, { what: 'the question' });
    await storeUnshown(world, change);
    const answer = await ann.submit('episode.close', {});
    expect(JSON.stringify([answer, ann.openView()?.content])).toContain(says);
    expect(texts(world).join()).not.toContain(closed('admin'));
  });

  test('is shown as closed where the process died before its message was edited', async ({ world }) => {
    await note(world, 'failure', 0);
    await storeUnshown(world, clicked(PEOPLE.admin, 'close'));
    expect(texts(world)[0]).toContain('the deployment');
    // The click is carried out again.
    await click(world, 'admin', 'close');
    await world.slack.until(() => thread(world).length === 1);
    expect(texts(world)[0]).toBe(closed('admin'));
  });
});

plain('nothing is lost where 50 episodes begin, fail on and end at once, within Slack’s rates', async () => {
  const world = await openTestWorld({
    time: fastClock(100),
    serviceTimeoutMs: 3_000_000,
    realRates: true,
    connected: true,
  });
  onTestFinished(() => world.stop());
  world.slack.invite(TEAM, CHANNEL, 'bot');
  const names = Array.from({ length: 50 }, (_, at) => `Shop ${at}`);
  const noteAll = (kind: 'failure' | 'success', at: number): Promise<unknown> =>
    // Five of one account would be one message.
    Promise.all(names.map((project) => note(world, kind, at, { project, account: project, at })));
  await Promise.all([noteAll('failure', 1_000), noteAll('failure', 31_000)]);
  await noteAll('success', 61_000);
  expect(texts(world).toSorted()).toEqual(
    names.map((name) => `${name} recovered after 1 min: 2 deployments failed.`).toSorted(),
  );
  expect(roots(world).flatMap(({ ts }) => thread(world, ts))).toHaveLength(names.length * 2);
});

plain(
  'an episode is closed after a week without news, begins anew after that, and is forgotten',
  async () => {
    const clock = createManualClock();
    const world = await openTestWorld({ clock, connected: true });
    onTestFinished(() => world.stop());
    world.slack.invite(TEAM, CHANNEL, 'bot');
    const noteNow = (kind: 'failure' | 'success') =>
      note(world, kind, 0, { id: `${clock.now()}`, at: clock.now() });
    const pass = async (days: number, isOver: () => boolean | Promise<boolean>): Promise<void> => {
      await clock.advance(days * DAY_MS);
      while (!(await isOver())) await clock.advance(1_000);
    };
    await noteNow('failure');
    await clock.advance(6 * DAY_MS);
    await noteNow('failure');
    await clock.advance(6 * DAY_MS);
    expect(texts(world)[0]).toContain('2 deployments failed');
    await pass(1, () => texts(world)[0]?.includes('closed') === true);
    expect(texts(world)[0]).toBe(
      'Failure of Storefront closed: no news for 7 days, not mended. 2 deployments failed.',
    );
    expect(shown(world)).not.toContain('episode:claim');
    await noteNow('failure');
    expect(texts(world)).toHaveLength(2);
    await clock.advance(1);
    await noteNow('success');
    await clock.advance(7 * DAY_MS - 60_000);
    expect(await recordsOf(world).list()).toHaveLength(1);
    await pass(0, async () => (await recordsOf(world).list()).length === 0);
    const privacy = await (await fetch(`${world.origin}/privacy`)).text();
    expect(privacy).toContain('who is on it: until 7 days after it ended');
  },
);
