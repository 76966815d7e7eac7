import { describe, expect } from 'vitest';
import { deploy, OTHER, roots, say, shown, test, untilShown } from '../../scheduler/channel.ts';
import { answerTo, ask, openForm } from '../../support/asking.ts';
import { CHANNEL, PEOPLE, TEAM, type TestWorld } from '../../support/test-world.ts';

const workspaceOf = (world: TestWorld) => world.app.workspaces.open(TEAM);
const channels = async (world: TestWorld) =>
  (await workspaceOf(world).schedules.all()).map(({ kind, channel }) => `${kind} ${channel}`);

async function furnish(world: TestWorld): Promise<void> {
  for (const words of ['use storefront', 'watch storefront failures', 'guard add storefront daily 09:00 UTC'])
    await say(world, words);
}

describe('setup move', () => {
  test('moves schedules, their news and the settings to a channel, and says so in both', async ({
    world,
  }) => {
    await furnish(world);
    await world.as('admin').command(CHANNEL, `/deckhand setup move <#${OTHER}|billing>`);
    const answers = () => world.slack.ephemerals(TEAM, PEOPLE.admin).map(({ text }) => text);
    await world.slack.until(() => answers().some((text) => text.includes('Everything moved from')));
    await untilShown(world, `moved this here from <#${CHANNEL}>`, OTHER);
    await untilShown(world, `moved everything that was set up here to <#${OTHER}>`);
    expect(await channels(world)).toEqual([`guard ${OTHER}`, `watch ${OTHER}`]);
    expect(await workspaceOf(world).channels.get(OTHER)).toMatchObject({ project: { name: 'Storefront' } });
    expect(await ask(world, '/deckhand audit', 'admin')).toContain('Move what is set up');
    const before = roots(world).length;
    deploy(world, 'after01', { succeeded: false });
    await untilShown(world, 'after01', OTHER);
    expect(roots(world)).toHaveLength(before);
    expect(shown(world, OTHER)).toContain('setup:open');
  });

  test('asks for the channel in a form', async ({ world }) => {
    await furnish(world);
    const ann = await openForm(world, 'setup move', 'setup.move');
    await ann.submit('setup.move', { channel: OTHER });
    await untilShown(world, 'moved this here', OTHER);
    expect(await channels(world)).toEqual([`guard ${OTHER}`, `watch ${OTHER}`]);
  });

  test.for([
    ['where Deckhand is not', 'C0QUIET', 'You and Deckhand have to be in the channel'],
    ['where the person is not', 'C0OWN', 'You and Deckhand have to be in the channel'],
    ['that is the same', CHANNEL, 'Everything is in this channel already'],
  ])('moves nothing to a channel %s', async ([, to, words], { world }) => {
    await furnish(world);
    const before = await channels(world);
    world.slack.addChannel(TEAM, {
      id: 'C0QUIET',
      name: 'quiet',
      members: [PEOPLE.admin],
      bot_is_member: false,
    });
    world.slack.addChannel(TEAM, { id: 'C0OWN', name: 'own', members: [PEOPLE.member] });
    world.slack.invite(TEAM, 'C0OWN', 'bot');
    expect(await ask(world, `/deckhand setup move <#${to}>`, 'admin')).toContain(words);
    expect(await channels(world)).toEqual(before);
  });

  test('is for operators, offers the form for a name that it does not know, and needs something to move', async ({
    world,
  }) => {
    expect(await ask(world, `/deckhand setup move <#${OTHER}>`)).toContain('operators');
    expect(await ask(world, `/deckhand setup move <#${OTHER}>`, 'admin')).toContain('Nothing is set up');
    await furnish(world);
    expect(await ask(world, '/deckhand setup move #nowhere', 'admin')).toContain('Choose the channel');
    const { ts = '', channel = '' } = world.slack.ephemerals(TEAM, PEOPLE.admin).at(-1) ?? {};
    await world.as('admin').click({ channel, ts }, { actionId: 'setup:move' });
    await world.slack.until(() => world.as('admin').openView()?.content.callback_id === 'setup.move');
    const fault = await world.as('admin').submit('setup.move', { channel: CHANNEL });
    expect(fault.body).toContain('Everything is in this channel already');
    await answerTo(world, 'admin', () => world.as('admin').command(OTHER, '/deckhand setup move'));
  });
});
