import { describe, expect } from 'vitest';
import { noteOutcomes } from '../../../src/scheduler/episodes/episodes.ts';
import { answerTo } from '../../support/asking.ts';
import { test } from '../../support/fixtures.ts';
import { CHANNEL, PEOPLE, TEAM, type TestWorld } from '../../support/test-world.ts';

const SUBJECT = {
  kind: 'deployments',
  channel: CHANNEL,
  account: 'acme',
  project: 'p1',
  name: 'Storefront',
} as const;

async function note(
  world: TestWorld,
  kind: 'failure' | 'success',
  minute: number,
  isQuiet?: boolean,
): Promise<void> {
  const workspace = world.app.workspaces.open(TEAM);
  const at = Date.now() + minute * 60_000;
  const outcome = { kind, id: `${minute}`, at, lines: [`deploy ${minute}`], isQuiet };
  await noteOutcomes(workspace, SUBJECT, [outcome]);
}

const roots = (world: TestWorld) => world.slack.messages(TEAM, CHANNEL);
const root = (world: TestWorld) => ({ channel: CHANNEL, ts: roots(world).at(-1)?.ts ?? '' });
const replies = (world: TestWorld) =>
  world.slack.thread(TEAM, CHANNEL, root(world).ts).map(({ text }) => text);

async function deleteRoot(world: TestWorld): Promise<void> {
  const { slack } = world.app.workspaces.open(TEAM);
  await slack.call('chat.delete', root(world));
}

describe('an episode', () => {
  test.override({ connected: true });
  test.beforeEach(async ({ world }) => {
    world.slack.invite(TEAM, CHANNEL, 'bot');
  });

  test('is one message, edited until it is over, with a reply for each further failure and for its end', async ({
    world,
  }) => {
    await note(world, 'failure', 0);
    expect(roots(world)).toHaveLength(1);
    expect(roots(world)[0]?.text).toContain('Storefront: deployments are failing since');
    expect(replies(world)).toEqual([]);
    await note(world, 'failure', 1);
    await note(world, 'failure', 2);
    expect(roots(world)[0]?.text).toContain('3 failures since');
    await note(world, 'success', 38);
    expect(roots(world)).toHaveLength(1);
    expect(roots(world)[0]?.text).toBe('Storefront recovered after 38 min and 3 failures.');
    expect(JSON.stringify(roots(world)[0]?.blocks), 'the first failure, which has no reply').toContain(
      'deploy 0',
    );
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
    await note(world, 'failure', 1);
    expect(roots(world).map(({ text }) => text)).toEqual([expect.stringContaining('2 failures since')]);
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
    expect(roots(world)[0]?.text).not.toContain('failures');
    expect(replies(world)).toEqual([expect.stringContaining('deploy 1')]);
    await note(world, 'success', 2);
    expect(roots(world).map(({ text }) => text)).toEqual([
      'Storefront recovered after 2 min and 2 failures.',
    ]);
    expect(replies(world)).toHaveLength(2);
  });

  test.for([
    { error: 'edit_window_closed', isQuiet: true, threads: true },
    { error: 'cant_update_message', isQuiet: false, threads: false },
    { error: 'a_word_never_seen', isQuiet: true, threads: false },
    { error: 'edit_window_closed', isQuiet: false, threads: true, reply: 'restricted_action_thread_locked' },
  ])('whose message Slack does not let us edit is seen to end once with %j', async (row, { world }) => {
    await world.app.workspaces.open(TEAM).channels.change(CHANNEL, () => ({ threads: row.threads }));
    await note(world, 'failure', 0);
    const { ts } = root(world);
    world.slack.fault({ method: 'chat.update', error: row.error });
    if (row.reply !== undefined)
      world.slack.fault({ method: 'chat.postMessage', error: row.reply, times: 1 });
    await note(world, 'success', 2, row.isQuiet);
    await note(world, 'success', 3, row.isQuiet);
    const all = [...roots(world), ...world.slack.thread(TEAM, CHANNEL, ts)].map(({ text }) => text);
    expect(all.filter((text) => text.includes('Storefront recovered after 2 min'))).toHaveLength(1);
  });

  test('has no replies where the channel wants none, and is edited', async ({ world }) => {
    await world.app.workspaces.open(TEAM).channels.change(CHANNEL, () => ({ threads: false }));
    for (const minute of [0, 1]) await note(world, 'failure', minute);
    expect(roots(world)[0]?.text).toContain('2 failures since');
    expect(replies(world)).toEqual([]);
  });

  test('is claimed by one of two people at once, handed back and taken over', async ({ world }) => {
    await note(world, 'failure', 0);
    const shown = () => JSON.stringify(roots(world).map(({ blocks }) => blocks));
    const click = (who: 'admin' | 'member', verb: string) =>
      world.as(who).click(root(world), { actionId: `episode:${verb}` });
    const refusals = () =>
      (['admin', 'member'] as const).flatMap((who) =>
        world.slack.ephemerals(TEAM, PEOPLE[who]).filter(({ text }) => text.includes('is on it')),
      );
    await Promise.all([click('admin', 'claim'), click('member', 'claim')]);
    await world.slack.until(() => refusals().length > 0);
    const owner = /<@(\w+)> is on it/.exec(shown())?.[1] ?? '';
    expect(refusals()[0]?.text).toContain(`<@${owner}> is on it`);
    await world.as('member').openHome();
    const home = () => JSON.stringify(world.slack.home(TEAM, PEOPLE.member)?.content.blocks ?? []);
    await world.slack.until(() => home().includes(`<@${owner}> is on it`));
    expect(home()).toContain('*Storefront: deployments are failing since');
    const [other, first] =
      owner === PEOPLE.admin ? (['member', 'admin'] as const) : (['admin', 'member'] as const);
    await click(other, 'claim');
    await world.slack.until(() => shown().includes(`<@${PEOPLE[other]}> is on it`));
    expect(await answerTo(world, first, () => click(first, 'release'))).toContain(
      `<@${PEOPLE[other]}> is on it`,
    );
    await click(other, 'release');
    await world.slack.until(() => !shown().includes('is on it'));
  });

  test.for([
    { kind: 'deployments', command: 'watch', other: 'guard' },
    { kind: 'reachability', command: 'guard', other: 'watch' },
  ] as const)('of $kind is nobody’s to claim where $command is switched off', async (row, { world }) => {
    const workspace = world.app.workspaces.open(TEAM);
    const failure = { kind: 'failure' as const, id: 'f1', at: Date.now(), lines: ['failed'] };
    const items = [{ key: 'server:1', title: 'web-1', message: null }];
    await noteOutcomes(workspace, { ...SUBJECT, kind: row.kind }, [{ ...failure, items }]);
    const claim = () => world.as('member').click(root(world), { actionId: 'episode:claim' });
    await workspace.channels.change(CHANNEL, () => ({ commands: [row.other] }));
    expect(await answerTo(world, 'member', claim)).toContain(`\`${row.command}\``);
    expect(JSON.stringify(roots(world))).not.toContain('is on it');
    await workspace.channels.change(CHANNEL, () => ({ commands: [row.command] }));
    await claim();
    await world.slack.until(() => JSON.stringify(roots(world)).includes(`<@${PEOPLE.member}> is on it`));
  });
});
