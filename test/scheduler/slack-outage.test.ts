import { expect, it, onTestFinished } from 'vitest';
import { deploy, shown, texts, thread } from './channel.ts';
import {
  CHANNEL,
  DAY,
  type DigestWorld,
  HOUR,
  MINUTE,
  openDigestWorld,
  TEAM,
} from './digests/digest-world.ts';

/** At two minutes to nine, with a daily digest at nine and a watch of everything. */
async function setUp(byOauth = false) {
  const world = await openDigestWorld('2026-03-02T08:58:00Z', { byOauth });
  onTestFinished(() => world.stop());
  await world.say('digest add daily 09:00 UTC');
  await world.say('watch all');

  const isNoticed = (): boolean => shown(world).includes('beef123');
  async function states(): Promise<string[]> {
    const schedules = await world.app.workspaces.open(TEAM).schedules.all();
    return schedules.map(({ state }) => state.kind);
  }
  const fail = () => deploy(world, 'beef123', { succeeded: false });
  return { world, isNoticed, states, fail };
}

/** Lets the time of an outage pass: its beginning and its end step by step, between them at once. */
async function outlast(world: DigestWorld, ms: number): Promise<void> {
  await world.pass(3 * MINUTE);
  world.time.jump(ms - 5 * MINUTE);
  await world.pass(2 * MINUTE);
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
    await outlast(world, 65 * MINUTE);
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
    const accepted = world.logs.filter((line) => line.includes('workspace_token_accepted'));
    expect(accepted).toHaveLength(2);
    expect(await states()).toEqual(['active', 'active']);
  },
);

it('the service is not asked for what cannot be posted, and a digest of half a day ago is left out', async () => {
  const { world, isNoticed, fail } = await setUp();
  world.slack.fault({ method: '*', error: 'token_expired' });
  fail();
  await world.pass(5 * MINUTE);
  world.service.requests.clear();
  await world.pass(4 * MINUTE);
  expect(world.service.requests.all).toEqual([]);
  world.time.jump(DAY - 2 * HOUR);
  world.slack.clearFaults();
  await world.pass(MINUTE, isNoticed);
  await world.untilLast('missed');
  expect(world.posted()).toEqual([]);
});

/** A run that has begun, on a clock that the test moves. */
async function openRunning() {
  const world = await openDigestWorld();
  onTestFinished(() => world.stop());
  const replies = () => thread(world);
  const root = () => texts(world)[0] ?? '';
  async function passUntil(check: () => boolean): Promise<number> {
    const from = world.time.now();
    await world.passUntil(check);
    return world.time.now() - from;
  }
  await world.as('member').command(CHANNEL, '/deckhand test storefront');
  await passUntil(() => replies().some((text) => text.includes('The test started')));
  return { world, root, replies, passUntil };
}

it('a run shows its outcome once Slack is back, however long it was away', async () => {
  const { world, root, replies, passUntil } = await openRunning();
  const back = world.slack.fault({ method: '*', status: 503 });
  await outlast(world, 40 * MINUTE);
  expect(root()).toContain('running');
  back();
  const waited = await passUntil(() => root().includes('both servers are reachable') === true);
  expect(waited).toBeLessThan(2 * MINUTE);
  await passUntil(() => replies()[0]?.includes('Both servers are reachable') === true);
  expect(replies().filter((text) => text.includes('The test started'))).toEqual([]);
});

it('a run whose message Slack does not edit has its outcome in the thread, and in the message later', async () => {
  const { world, root, replies, passUntil } = await openRunning();
  const back = world.slack.fault({ method: 'chat.update', status: 500 });
  const waited = await passUntil(() => replies().some((text) => text.includes('both servers are reachable')));
  expect(waited).toBeLessThan(MINUTE);
  expect(root()).toContain('running');
  back();
  await passUntil(() => root().includes('both servers are reachable') === true);
});
