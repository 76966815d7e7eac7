import { describe, expect } from 'vitest';
import { type Clock, systemClock } from '../../../src/core/time/clock.ts';
import { ask } from '../../support/asking.ts';
import { test } from '../../support/fixtures.ts';
import { ACCOUNT, CHANNEL, PEOPLE, TEAM, type TestWorld } from '../../support/test-world.ts';

const dms = (world: TestWorld) =>
  world.slack.dms(TEAM, PEOPLE.member).filter(({ thread_ts: thread, ts }) => (thread ?? ts) === ts);
const shown = (world: TestWorld) => JSON.stringify(dms(world).map(({ blocks }) => blocks));
const claim = (world: TestWorld) => ask(world, '/deckhand me Kim');

function deploy(world: TestWorld, user: string, succeeded: boolean, endRef = 'r1'): void {
  const project = 'storefront';
  world.service.world.addDeployment({ account: ACCOUNT, project, succeeded, user, endRef });
}

async function polls(world: TestWorld): Promise<void> {
  for (let poll = 0; poll < 3; poll += 1)
    await world.service.requests.next(({ path }) => path.endsWith('/activity'));
}

describe('watch mine', () => {
  let ahead = 0;
  const clock: Clock = { ...systemClock, now: () => systemClock.now() + ahead };
  test.override({ worldOptions: { clock, env: { NOTICE_INTERVAL_MS: '40' } }, connected: true });
  test.beforeEach(async ({ world }) => {
    ahead = 0;
    world.slack.invite(TEAM, CHANNEL, 'bot');
    // The names of events are offered.
    deploy(world, 'Kim', true);
  });

  test('asks for the person’s name first, in one message, and goes on once it is chosen', async ({
    world,
  }) => {
    const asked = await ask(world, '/deckhand watch mine transitions');
    expect(asked).toContain('Which name does the service give you');
    const seen = () => world.slack.ephemerals(TEAM, PEOPLE.member);
    expect(seen()).toHaveLength(1);
    const place = { channel: CHANNEL, ts: seen()[0]?.ts ?? '' };
    await world.as('member').click(place, { actionId: 'me:name', selected: 'Kim' });
    await world.slack.until(() => seen().some(({ text }) => text.includes('of your own deployments')));
    deploy(world, 'Kim', false, 'mine001');
    await world.slack.until(() => shown(world).includes('mine001'));
    // Another person has a name of their own.
    expect(await ask(world, '/deckhand watch mine', 'admin')).toContain(
      'Which name does the service give you',
    );
  });

  test('asks the person about a new name that resembles theirs, and goes on with it', async ({ world }) => {
    deploy(world, 'Ben Marsh', true);
    await ask(world, '/deckhand me Ben Marsh');
    await ask(world, '/deckhand watch mine');
    deploy(world, 'Zoe Quinn', false, 'theirs1');
    for (const ref of ['mine001', 'mine002']) deploy(world, 'Ben Stone', false, ref);
    await world.slack.until(() => shown(world).includes('That’s me'));
    await polls(world);
    expect(dms(world)).toHaveLength(1);
    expect(shown(world)).not.toContain('Zoe Quinn');
    const { channel = '', ts = '' } = dms(world)[0] ?? {};
    await world.as('member').click({ channel, ts }, { actionId: 'me:claim' });
    await world.slack.until(() => shown(world).includes('You are mentioned'));
    deploy(world, 'Ben Stone', false, 'mine003');
    await world.slack.until(() => shown(world).includes('mine003'));
  });

  test('follows the new name that the person’s own key tells, from the first deployment on', async ({
    world,
  }) => {
    const key = { email: 'ben@example.com', apiKey: 'BensKey000BensKey000BensKey000BensKey000' };
    const name = { firstName: 'Ben', lastName: 'Marsh' };
    const user = world.service.world.addUser({ account: ACCOUNT, ...key, ...name });
    const ben = world.as('member');
    await ben.command(CHANNEL, `/deckhand connect ${ACCOUNT}`);
    await world.slack.until(() => ben.openView()?.content.callback_id === 'connect');
    await ben.submit('connect', { account: ACCOUNT, email: key.email, api_key: key.apiKey, purpose: 'mine' });
    deploy(world, 'Ben Marsh', true);
    await ask(world, '/deckhand me Ben Marsh');
    await ask(world, '/deckhand watch mine');
    Object.assign(user, { firstName: 'Benedict', lastName: 'Quarry' });
    deploy(world, 'Ben Marshall', false, 'theirs1');
    deploy(world, 'Benedict Quarry', false, 'mine001');
    await world.slack.until(
      () => shown(world).includes('mine001') && shown(world).includes('follows that name'),
    );
    expect(shown(world)).not.toContain('theirs1');
    expect(dms(world)).toHaveLength(2);
  });

  test('sends one message an episode of one’s own, also where another person ends it; no channel sees it, and nobody else ends it', async ({
    world,
  }) => {
    await claim(world);
    expect(await ask(world, '/deckhand watch mine')).toContain('failures of your own deployments');
    deploy(world, 'Lee', false, 'theirs1');
    deploy(world, 'kim', false, 'mine001');
    await world.slack.until(() => shown(world).includes('mine001'));
    expect(dms(world).map(({ text }) => text)).toEqual([
      expect.stringContaining('Storefront in acme: the deployment'),
    ]);
    expect(shown(world)).not.toContain('episode:claim');
    deploy(world, 'Lee', true);
    await world.slack.until(() => dms(world)[0]?.text.includes('Storefront in acme recovered'));
    deploy(world, 'kim', true, 'mine002');
    await polls(world);
    expect(dms(world)).toHaveLength(1);
    expect(shown(world)).not.toContain('theirs1');
    expect(world.slack.messages(TEAM, CHANNEL)).toEqual([]);
    expect(await ask(world, '/deckhand watch list all', 'admin')).not.toContain('own deployments');
    expect(await ask(world, '/deckhand unwatch mine', 'admin')).toContain('You have no watch of your own');
    expect(await ask(world, '/deckhand unwatch', 'admin')).toContain('has no watch yet');
    expect(await ask(world, '/deckhand unwatch mine')).toContain('no more direct messages');
    expect(await ask(world, '/deckhand unwatch mine')).toContain('You have no watch of your own');
  });

  test('posts the other events too where it is asked for all, and nothing for the rest of the day once it is muted', async ({
    world,
  }) => {
    await claim(world);
    await ask(world, '/deckhand watch mine all');
    deploy(world, 'Kim', true, 'mine001');
    await world.slack.until(() => shown(world).includes('mine001'));
    const ts = dms(world)[0]?.ts ?? '';
    const channel = dms(world)[0]?.channel ?? '';
    await world.as('member').click({ channel, ts }, { actionId: 'watch:mute' });
    await world.slack.until(() => shown(world).includes('Muted until'));
    deploy(world, 'Kim', false, 'mine002');
    deploy(world, 'Kim', true, 'mine003');
    await polls(world);
    expect(dms(world)).toHaveLength(1);
  });

  test('sends nothing to a person who has left, and nobody mentions them', async ({ world }) => {
    await claim(world);
    await ask(world, '/deckhand watch mine all');
    const channel = () => JSON.stringify(world.slack.messages(TEAM, CHANNEL));
    await world.as('admin').command(CHANNEL, '/deckhand watch storefront');
    await world.slack.until(() => channel().includes('This channel follows'));
    world.slack.changePerson(TEAM, PEOPLE.member, { deleted: true });
    // What was known of them before is 30 s old at most.
    ahead += 31_000;
    deploy(world, 'Kim', false, 'theirs1');
    deploy(world, 'Kim', true, 'theirs2');
    await world.slack.until(() => channel().includes('theirs1'));
    expect(channel()).toContain('by Kim');
    expect(channel()).not.toContain(`<@${PEOPLE.member}>`);
    const { audit } = world.app.workspaces.open(TEAM);
    await expect
      .poll(async () => (await audit.latest(9)).map(({ entry }) => entry.what))
      .toContain('pause watch');
    expect(dms(world)).toEqual([]);

    world.slack.changePerson(TEAM, PEOPLE.member, { deleted: false });
    ahead += 31_000;
    await ask(world, '/deckhand watch mine all');
    deploy(world, 'Kim', true, 'mine003');
    await world.slack.until(() => shown(world).includes('mine003'));
    expect(shown(world)).not.toContain('theirs');
  });
});
