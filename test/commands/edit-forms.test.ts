import { describe, expect } from 'vitest';
import { test } from '../support/fixtures.ts';
import { CHANNEL, PEOPLE, TEAM, type TestWorld } from '../support/test-world.ts';

/** The command that sets one up in the channel, and a change of it in its form. */
const KINDS = {
  digest: { add: 'digest add daily 09:00 UTC', change: { time: '10:00' } },
  guard: { add: 'guard add storefront daily 09:00 UTC', change: { time: '10:00' } },
  watch: { add: 'watch storefront failures', change: { mode: 'all' } },
} as const;
type Kind = keyof typeof KINDS;

/** Everything that is set up, as it is stored. */
async function stored(world: TestWorld): Promise<string> {
  const all = await world.app.workspaces.open(TEAM).schedules.all();
  return JSON.stringify(
    all.map((one) => ({
      id: one.id,
      choice: one.kind === 'watch' ? one.mode : 'cadence' in one && one.cadence,
    })),
  );
}

/** What may happen between the opening of a form and its sending, and what the person then reads. */
const MEANWHILE: Record<string, [words: string, act: (world: TestWorld, kind: Kind) => Promise<unknown>]> = {
  'the channel does not allow it any more': [
    'switched off',
    ({ app }) =>
      app.workspaces.open(TEAM).channels.change(CHANNEL, (current) => ({ ...current, commands: ['test'] })),
  ],
  'it names another channel, which allows it': [
    'switched off',
    async ({ app, as }) => {
      await app.workspaces.open(TEAM).channels.change(CHANNEL, () => ({ commands: ['test'] }));
      const content = as('member').openView()?.content;
      const metadata = JSON.parse(String(content?.private_metadata));
      Object.assign(content ?? {}, {
        private_metadata: JSON.stringify({ ...metadata, channel: 'C0BILLING' }),
      });
    },
  ],
  'the person’s role was taken away': [
    'Only operators can do this',
    ({ app }) => app.workspaces.open(TEAM).roles.set({ ...NO_HOLDERS, admin: [PEOPLE.admin] }),
  ],
  'the schedule was removed': [
    'There is no',
    async (world, kind) => {
      const words = kind === 'watch' ? 'unwatch' : `${kind} remove`;
      await world.as('admin').command(CHANNEL, `/deckhand ${words}`);
      await expect.poll(() => stored(world)).toBe('[]');
    },
  ],
};
const NO_HOLDERS = { operator: [], billing: [], changedBy: PEOPLE.admin, changedAt: 0 };

const CASES = Object.keys(KINDS).flatMap((kind) =>
  Object.keys(MEANWHILE).map((what) => [kind as Kind, what] as const),
);

describe('the form that edits a schedule', () => {
  test.override({ connected: true });

  test.for(CASES)('of a %s changes nothing where %s', async ([kind, what], { world }) => {
    world.slack.invite(TEAM, CHANNEL, 'bot');
    const [words, act] = MEANWHILE[what] ?? ['', async () => undefined];
    const { add, change } = KINDS[kind];
    const holders = { ...NO_HOLDERS, admin: [PEOPLE.admin], operator: [PEOPLE.member] };
    await world.app.workspaces.open(TEAM).roles.set(holders);
    await world.as('member').command(CHANNEL, `/deckhand ${add}`);
    await world.slack.until(() => JSON.stringify(world.slack.messages(TEAM, CHANNEL)).includes('Edit'));
    // From elsewhere, so that the schedule's own channel decides.
    const id = /"id":"(\w+)"/.exec(await stored(world))?.[1];
    await world.as('member').command('C0BILLING', `/deckhand ${kind} edit ${id}`);
    const view = () => world.as('member').openView();
    await world.slack.until(() => view()?.content.callback_id === `${kind}.edit`);
    await act(world, kind);
    const before = await stored(world);

    const answer = await world.as('member').submit(`${kind}.edit`, change);
    const read = () => `${answer.body} ${JSON.stringify(view()?.content.blocks)}`;
    await world.slack.until(() => read().includes(words), { what: words });
    expect(await stored(world)).toBe(before);
  });

  test.for(Object.keys(KINDS) as Kind[])(
    'of a %s says that nothing was changed, and posts nothing',
    async (kind, { world }) => {
      world.slack.invite(TEAM, CHANNEL, 'bot');
      await world.as('admin').command(CHANNEL, `/deckhand ${KINDS[kind].add}`);
      await world.slack.until(() => JSON.stringify(world.slack.messages(TEAM, CHANNEL)).includes('Edit'));
      await world.as('admin').command(CHANNEL, `/deckhand ${kind} edit`);
      await world.slack.until(() => world.as('admin').openView()?.content.callback_id === `${kind}.edit`);
      await world.as('admin').submit(`${kind}.edit`);
      const shown = () => JSON.stringify(world.as('admin').openView()?.content.blocks);
      await world.slack.until(() => shown().includes('Nothing was changed, so nothing was saved.'));
      expect(world.slack.messages(TEAM, CHANNEL)).toHaveLength(1);
    },
  );

  test('of a watch saves hours, where it had none', async ({ world }) => {
    world.slack.invite(TEAM, CHANNEL, 'bot');
    await world.as('admin').command(CHANNEL, `/deckhand ${KINDS.watch.add}`);
    const shown = () => JSON.stringify(world.slack.messages(TEAM, CHANNEL));
    await world.slack.until(() => shown().includes('Edit'));
    await world.as('admin').command(CHANNEL, '/deckhand watch edit');
    await world.slack.until(() => world.as('admin').openView()?.content.callback_id === 'watch.edit');
    await world.as('admin').submit('watch.edit', { hours: '9-18' });
    await world.slack.until(() => shown().includes('from 09:00 to 18:00'), { what: 'the hours' });
  });

  test.for(Object.keys(KINDS) as Kind[])(
    'of a %s is kept where its channel was archived',
    async (kind, { world }) => {
      world.slack.invite(TEAM, CHANNEL, 'bot');
      const { add, change } = KINDS[kind];
      await world.as('admin').command(CHANNEL, `/deckhand ${add}`);
      await world.slack.until(() => JSON.stringify(world.slack.messages(TEAM, CHANNEL)).includes('Edit'));
      await world.as('admin').command(CHANNEL, `/deckhand ${kind} edit`);
      await world.slack.until(() => world.as('admin').openView()?.content.callback_id === `${kind}.edit`);
      const before = await stored(world);
      world.slack.archiveChannel(TEAM, CHANNEL);
      await world.as('admin').submit(`${kind}.edit`, change);
      await expect.poll(() => stored(world)).not.toBe(before);
      await world.slack.until(
        () =>
          world.as('admin').openView() === undefined ||
          JSON.stringify(world.as('admin').openView()).includes('archived'),
      );
    },
  );
});
