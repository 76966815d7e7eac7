import { describe, expect } from 'vitest';
import { test } from '../support/fixtures.ts';
import { CHANNEL, TEAM, type TestWorld } from '../support/test-world.ts';

/** The command that sets one up in the channel, a change of it in its form, and what is stored then. */
const KINDS = {
  digest: { add: 'digest add daily 09:00 UTC', change: { time: '10:00' }, kept: '10:00' },
  guard: { add: 'guard add storefront daily 09:00 UTC', change: { time: '10:00' }, kept: '10:00' },
  watch: { add: 'watch storefront failures', change: { hours: '9-18' }, kept: 'Europe/Lisbon' },
} as const;
type Kind = keyof typeof KINDS;

/** Everything that is set up, as it is stored. */
async function stored(world: TestWorld): Promise<string> {
  const all = await world.app.workspaces.open(TEAM).schedules.all();
  return JSON.stringify(
    all.map((one) => ({
      id: one.id,
      choice: one.kind === 'watch' ? one.hours : 'cadence' in one && one.cadence,
    })),
  );
}

const view = (world: TestWorld) => world.as('admin').openView();
const channelText = (world: TestWorld) => JSON.stringify(world.slack.messages(TEAM, CHANNEL));

/** Sets one up, and opens the form that edits it, from elsewhere: the schedule's own channel decides. */
async function open(world: TestWorld, kind: Kind): Promise<string> {
  world.slack.invite(TEAM, CHANNEL, 'bot');
  await world.as('admin').command(CHANNEL, `/deckhand ${KINDS[kind].add}`);
  await world.slack.until(() => channelText(world).includes('Edit'));
  const [, id] = /"id":"(\w+)"/.exec(await stored(world)) ?? [];
  await world.as('admin').command('C0BILLING', `/deckhand ${kind} edit ${id}`);
  await world.slack.until(() => view(world)?.content.callback_id === `${kind}.edit`);
  return stored(world);
}

/** What may happen between the opening of a form and its sending, and what the person then reads. */
const MEANWHILE: Record<string, [words: string, act: (world: TestWorld, kind: Kind) => Promise<unknown>]> = {
  'the channel does not allow it any more, and another that it names does': [
    'switched off',
    async (world) => {
      await world.app.workspaces.open(TEAM).channels.change(CHANNEL, () => ({ commands: ['test'] }));
      const content = view(world)?.content;
      const metadata = { ...JSON.parse(String(content?.private_metadata)), channel: 'C0BILLING' };
      Object.assign(content ?? {}, { private_metadata: JSON.stringify(metadata) });
    },
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

describe.for(Object.keys(KINDS) as Kind[])('the form that edits a %s', (kind) => {
  test.override({ connected: true });

  test.for(Object.entries(MEANWHILE))('changes nothing where %s', async ([, [words, act]], { world }) => {
    await open(world, kind);
    await act(world, kind);
    const before = await stored(world);
    const answer = await world.as('admin').submit(`${kind}.edit`, KINDS[kind].change);
    const read = () => `${answer.body} ${JSON.stringify(view(world)?.content.blocks)}`;
    await world.slack.until(() => read().includes(words), { what: words });
    expect(await stored(world)).toBe(before);
  });

  test('says that nothing was changed, and posts nothing; saves also where the channel was archived', async ({
    world,
  }) => {
    await open(world, kind);
    await world.as('admin').submit(`${kind}.edit`);
    const shown = () => JSON.stringify(view(world)?.content.blocks);
    await world.slack.until(() => shown().includes('Nothing was changed, so nothing was saved.'));
    expect(world.slack.messages(TEAM, CHANNEL)).toHaveLength(1);
    world.slack.archiveChannel(TEAM, CHANNEL);
    await world.as('admin').submit(`${kind}.edit`, KINDS[kind].change);
    await expect.poll(() => stored(world)).toContain(KINDS[kind].kept);
    await world.slack.until(() => view(world) === undefined || shown().includes('archived'));
  });
});
