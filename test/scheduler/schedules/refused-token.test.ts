import { expect, it, onTestFinished } from 'vitest';
import {
  ACCOUNT,
  CHANNEL,
  DAY,
  type DigestWorld,
  HOUR,
  MINUTE,
  openDigestWorld,
  TEAM,
} from '../digests/digest-world.ts';

/** At two minutes to nine, with a daily digest at nine and a watch of everything. */
async function setUp(byOauth = false) {
  const world: DigestWorld = await openDigestWorld('2026-03-02T08:58:00Z', { byOauth });
  onTestFinished(() => world.stop());
  await world.say('digest add daily 09:00 UTC');
  await world.say('watch all');

  const isNoticed = (): boolean => JSON.stringify(world.slack.messages(TEAM, CHANNEL)).includes('beef123');
  async function states(): Promise<string[]> {
    const schedules = await world.app.workspaces.open(TEAM).schedules.all();
    return schedules.map(({ state }) => state.kind);
  }
  function fail(): void {
    const what = {
      account: ACCOUNT,
      project: 'storefront',
      succeeded: false,
      user: 'Kim',
      endRef: 'beef123',
    };
    world.service.world.addDeployment({ ...what, endedAt: world.time.now() });
  }
  return { world, isNoticed, states, fail };
}

it.each([
  ['invalid_auth', 'a token', false],
  ['token_expired', 'OAuth', true],
])(
  'while Slack refuses everything with %s where Deckhand is installed by %s, nothing pauses, and all goes on within 30 s of its end',
  async (error, _, byOauth) => {
    const { world, isNoticed, states, fail } = await setUp(byOauth);
    world.slack.fault({ method: '*', error });
    fail();
    await world.pass(65 * MINUTE);
    expect(await states()).toEqual(['active', 'active']);
    world.slack.clearFaults();
    await world.pass(30_000, () => world.posted().length === 1 && isNoticed());
    expect(isNoticed()).toBe(true);
    expect(world.posted().map(({ text }) => text)).toEqual([expect.stringContaining('Late')]);
    expect(await states()).toEqual(['active', 'active']);
  },
);

it.each(['account_inactive', 'org_login_required', 'token_revoked'])(
  'a post that is refused once with %s comes within 30 s, and pauses nothing',
  async (error) => {
    const { world, isNoticed, states, fail } = await setUp();
    world.slack.fault({ method: 'chat.postMessage', error, times: 1 });
    fail();
    await world.pass(90_000, isNoticed);
    expect(isNoticed()).toBe(true);
    world.slack.fault({ method: 'chat.postMessage', error, times: 1 });
    await world.pass(HOUR, () => world.posted().length === 1);
    expect(world.time.now()).toBeLessThan(Date.parse('2026-03-02T09:00:40Z'));
    expect(await states()).toEqual(['active', 'active']);
  },
);

it('the service is not asked for what cannot be posted, and a digest of half a day ago is left out', async () => {
  const { world, isNoticed, fail } = await setUp();
  world.slack.fault({ method: '*', error: 'token_expired' });
  fail();
  await world.pass(5 * MINUTE);
  world.service.requests.clear();
  await world.pass(10 * MINUTE);
  expect(world.service.requests.all).toEqual([]);
  world.time.jump(DAY - 2 * HOUR);
  world.slack.clearFaults();
  await world.pass(MINUTE, isNoticed);
  await world.untilLast('missed');
  expect(world.posted()).toEqual([]);
});
