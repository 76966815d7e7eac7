import { describe, expect } from 'vitest';
import { editTimed } from '../../src/scheduler/schedules/start-schedule.ts';
import { editWatch } from '../../src/scheduler/watches/watches.ts';
import { test } from '../support/fixtures.ts';
import { CHANNEL, PEOPLE, TEAM, type TestWorld } from '../support/test-world.ts';

/** The command that sets one up in the channel, a change of it in its form, and what is stored then. */
const KINDS = {
  digest: {
    add: 'digest add daily 09:00 UTC',
    change: { time: '10:00' },
    kept: '10:00',
    theirs: { range: 'today', time: '11:00' },
    other: { skip_quiet: ['skip_quiet'] },
    both: { range: 'today', cadence: { kind: 'daily', time: '11:00' }, skipQuiet: true },
  },
  guard: {
    add: 'guard add storefront daily 09:00 UTC',
    change: { time: '10:00' },
    kept: '10:00',
    theirs: { time: '11:00' },
    other: { mention: '@bea', after: '1h' },
    both: { cadence: { kind: 'daily', time: '11:00' }, escalation: { mention: PEOPLE.billing, after: 60 } },
  },
  watch: {
    add: 'watch storefront failures',
    change: { hours: '9-18' },
    kept: 'Europe/Lisbon',
    theirs: { hours: '8-16', mode: 'transitions' },
    other: { mention: '@bea', after: '1h' },
    both: {
      hours: { from: '08:00', to: '16:00' },
      mode: 'transitions',
      escalation: { mention: PEOPLE.billing, after: 60 },
    },
  },
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

const readId = async (world: TestWorld) => /"id":"(\w+)"/.exec(await stored(world))?.[1] ?? '';
const view = (world: TestWorld) => world.as('admin').openView();
const channelText = (world: TestWorld) => JSON.stringify(world.slack.messages(TEAM, CHANNEL));

/** Sets one up, and opens the form that edits it, from elsewhere: the schedule's own channel decides. */
async function open(world: TestWorld, kind: Kind): Promise<string> {
  world.slack.invite(TEAM, CHANNEL, 'bot');
  await world.as('admin').command(CHANNEL, `/deckhand ${KINDS[kind].add}`);
  await world.slack.until(() => channelText(world).includes('Edit'));
  const id = await readId(world);
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

  /** Ben, who opened the same form before Ann saved hers. */
  async function openBoth(world: TestWorld) {
    await world.app.workspaces.open(TEAM).roles.give(PEOPLE.member, 'operator', PEOPLE.admin);
    const ben = world.as('member');
    await open(world, kind);
    await ben.command('C0BILLING', `/deckhand ${kind} edit ${await readId(world)}`);
    await world.slack.until(() => ben.openView()?.content.callback_id === `${kind}.edit`);
    const before = await stored(world);
    await world.as('admin').submit(`${kind}.edit`, KINDS[kind].theirs);
    await expect.poll(() => stored(world)).not.toBe(before);
    return ben;
  }
  const only = async (world: TestWorld) => (await world.app.workspaces.open(TEAM).schedules.all())[0];

  test('keeps what somebody else saved since it was opened', async ({ world }) => {
    const ben = await openBoth(world);
    await ben.submit(`${kind}.edit`, KINDS[kind].other);
    await expect.poll(() => only(world)).toMatchObject(KINDS[kind].both);
  });

  test('writes nothing over what somebody saved between its check and its save', async ({ world }) => {
    await open(world, kind);
    const before = await stored(world);
    const schedule = await only(world);
    if (schedule === undefined || schedule.kind === 'invoices') throw new Error('there is no such schedule');
    const workspace = world.app.workspaces.open(TEAM);
    const expectSame = () => {
      throw new Error('changed in between');
    };
    const { id } = schedule;
    const saved =
      schedule.kind === 'watch'
        ? editWatch(workspace, schedule, { ...schedule, mode: 'all' }, expectSame)
        : editTimed(workspace, id, { ...schedule, zone: 'Asia/Tokyo' }, expectSame);
    await expect(saved).rejects.toThrow('changed in between');
    expect(await stored(world)).toBe(before);
  });

  test('asks about what both changed, and saves what is chosen again', async ({ world }) => {
    const ben = await openBoth(world);
    const before = await stored(world);
    const asked = await ben.submit(`${kind}.edit`, { ...KINDS[kind].change, ...KINDS[kind].other });
    expect(asked.body).toContain(`<@${PEOPLE.admin}> changed this while the form was open`);
    expect(asked.body).toContain(`You chose: ${Object.values(KINDS[kind].change)[0]}`);
    expect(await stored(world)).toBe(before);
    await ben.submit(`${kind}.edit`, KINDS[kind].change);
    await expect.poll(() => stored(world)).toContain(KINDS[kind].kept);
  });

  test('says that nothing was changed, and posts nothing; saves also where the channel was archived', async ({
    world,
  }) => {
    await open(world, kind);
    await world.as('admin').submit(`${kind}.edit`);
    const shown = () => JSON.stringify(view(world)?.content.blocks);
    await world.slack.until(() => shown().includes('Nothing is different yet.'));
    expect(world.slack.messages(TEAM, CHANNEL)).toHaveLength(1);
    world.slack.archiveChannel(TEAM, CHANNEL);
    await world.as('admin').submit(`${kind}.edit`, KINDS[kind].change);
    await expect.poll(() => stored(world)).toContain(KINDS[kind].kept);
    await world.slack.until(() => view(world) === undefined || shown().includes('archived'));
  });
});
