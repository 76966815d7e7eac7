import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { noteOutcomes } from '../../../src/scheduler/episodes/change-episodes.ts';
import { answerTo, ask } from '../../support/asking.ts';
import { jobsToEnd } from '../../support/jobs-to-end.ts';
import {
  ACCOUNT,
  CHANNEL,
  connectAccount,
  EMAIL,
  PEOPLE,
  TEAM,
  type TestWorld,
} from '../../support/test-world.ts';
import {
  breakServer,
  deploy,
  OTHER,
  roots as posts,
  press,
  say,
  test,
  thread,
  untilShown,
} from '../channel.ts';
import { type DigestWorld, HOUR, MINUTE, openDigestWorld } from '../digests/digest-world.ts';

const STOREFRONT = { account: ACCOUNT, project: 'storefront' };
const POST = { method: 'POST', path: '/acme/projects/*/test_access' };
const NOT_THE_CAUSE = 'Repository and both servers are reachable, so the connection is not the cause.';

const roots = (world: TestWorld, channel = CHANNEL) =>
  posts(world, channel).filter(({ text }) => /the deployment|been failing|recovered after/.test(text));
const shown = (world: TestWorld, channel = CHANNEL) => JSON.stringify(roots(world, channel).at(-1)?.blocks);
const replies = (world: TestWorld) => thread(world, roots(world).at(-1)?.ts);
const started = (world: TestWorld) =>
  world.service.requests.all.filter(({ method, path }) => method === 'POST' && path.endsWith('/test_access'));
const line = (world: TestWorld, channel = CHANNEL) => /:mag: ([^"]*)"/.exec(shown(world, channel))?.[1];

let deployed = 0;
function deployAgain(world: TestWorld, succeeded: boolean, servers?: string[]): void {
  deployed += 1;
  deploy(world, `ref${1_000 + deployed}`, { succeeded, ...(servers && { servers }) });
}

async function fails(world: TestWorld, servers?: string[]): Promise<void> {
  const before = roots(world).at(-1)?.text;
  deployAgain(world, false, servers);
  await world.slack.until(() => roots(world).at(-1)?.text !== before, { what: 'the failure' });
}

async function recovers(world: TestWorld): Promise<void> {
  deployAgain(world, true);
  await world.slack.until(() => shown(world).includes('recovered after'));
}

const explained = (world: TestWorld, words = '', channel = CHANNEL) =>
  world.slack.until(() => line(world, channel)?.includes(words), { what: `the diagnosis ${words}` });

/** All runs of the service take so long. */
function takeLong({ service }: TestWorld, durationMs: number): void {
  for (const project of service.world.state.accounts.get(ACCOUNT)?.projects ?? [])
    project.runOutcome.durationMs = durationMs;
}

describe('a failed deployment', () => {
  test('says that its server cannot be reached, with the details in its thread, until it recovers', async ({
    world,
  }) => {
    breakServer(world, 'web-1');
    await say(world, 'watch storefront failures');
    await fails(world, ['web-1']);
    await explained(world);
    expect(line(world)).toMatch(/^web-1 cannot be reached: Connection refused \(tested at <!date/);
    await world.slack.until(() => replies(world).length > 0, { what: 'the details' });
    expect(replies(world)).toEqual([expect.stringContaining('web-1 Connection refused')]);
    expect(started(world)).toHaveLength(1);
    breakServer(world, 'web-1', 'ok');
    const [details] = world.slack.thread(TEAM, CHANNEL, roots(world).at(-1)?.ts ?? '');
    await press(world, 'test:again', { who: 'member', ...details });
    await explained(world, 'reachable again');
    expect(line(world)).toMatch(
      /^Repository and both servers are reachable again \(tested at <!date[^>]*>\)\.$/,
    );
    await recovers(world);
    expect(line(world)).toBeUndefined();
    expect(replies(world).filter((text) => text.includes('Connection refused'))).toHaveLength(1);
  });

  test('says that the connection is not the cause, in its message alone, as Deckhand’s own in the audit log', async ({
    world,
  }) => {
    // The service is busy at first.
    world.service.faults.add({ ...POST, status: 429, retryAfter: '1', times: 2 });
    await say(world, 'watch storefront');
    await say(world, 'watch all failures');
    await say(world, 'watch storefront transitions', OTHER);
    await fails(world);
    await explained(world);
    await explained(world, '', OTHER);
    expect(started(world), 'for two channels and three watches').toHaveLength(3);
    expect(line(world)).toBe(NOT_THE_CAUSE);
    expect(replies(world)).toEqual([]);
    const audit = await ask(world, '/deckhand audit', 'admin');
    expect(audit).toMatch(/Deckhand, Test access: acme\/storefront/);
  });

  test('draws a conclusion only from a test that began after it, and offers one beside an older result', async ({
    world,
  }) => {
    await say(world, 'watch storefront failures');
    breakServer(world, 'web-2');
    await world.as('member').command(CHANNEL, '/deckhand test storefront');
    await untilShown(world, '1 of 2 servers is unreachable');
    await fails(world);
    await explained(world, 'web-2 cannot be reached: Connection refused');
    expect(started(world), 'the person’s and its own').toHaveLength(2);
    await recovers(world);
    // The hour has had its test.
    breakServer(world, 'web-2', 'ok');
    await world.as('member').command(CHANNEL, '/deckhand test storefront');
    await untilShown(world, 'both servers are reachable');
    await fails(world);
    await explained(world, 'before this failure');
    expect(line(world)).toMatch(/^At <!date[^>]*>, before this failure, everything was reachable\.$/);
    expect(started(world)).toHaveLength(3);
    await press(world, 'failure:test', { who: 'member', ...roots(world).at(-1) });
    await explained(world, NOT_THE_CAUSE);
    expect(replies(world)).toContainEqual(expect.stringContaining('both servers are reachable'));
    expect(shown(world)).not.toContain('Test now');
    await recovers(world);
    breakServer(world, 'web-1');
    await world.as('member').command(CHANNEL, '/deckhand test storefront');
    await expect.poll(() => started(world).length).toBe(5);
    await fails(world, ['web-1']);
    await explained(world, 'before this failure, web-1 could not be reached: Connection refused');
    expect(replies(world).join(), 'no details of an older test').not.toContain('*web-1* Connection');
  });

  test('is what a test of its project points to meanwhile, here with its message and elsewhere by its channel', async ({
    world,
  }) => {
    takeLong(world, 60_000);
    await say(world, 'watch storefront failures');
    await fails(world);
    await expect.poll(() => started(world).length).toBe(1);
    const here = await ask(world, '/deckhand test storefront');
    expect(here).toContain('looking for the cause of a failed deployment');
    expect(here).toContain(`/archives/${CHANNEL}/p${(roots(world)[0]?.ts ?? '').replace('.', '')}`);
    const there = await answerTo(world, 'member', () =>
      world.as('member').command(OTHER, '/deckhand test storefront'),
    );
    expect(there).toContain(`looking for the cause of a failed deployment in <#${CHANNEL}>`);
    await explained(world);
    for (const channel of [CHANNEL, OTHER]) await untilShown(world, 'both servers are reachable', channel);
    expect(started(world)).toHaveLength(1);
  });

  test.for([
    ['the run has no results', { results: 'none' }, undefined],
    ['the service fails', {}, 500],
  ] as const)('adds nothing where %s, and is not tested again', async ([, outcome, status], { world }) => {
    world.service.world.setRunOutcome?.({ ...STOREFRONT, ...outcome });
    if (status !== undefined) world.service.faults.add({ ...POST, status });
    await say(world, 'watch storefront failures');
    await fails(world);
    await expect.poll(() => started(world).length).toBeGreaterThan(0);
    await jobsToEnd(world);
    const before = started(world).length;
    await fails(world);
    await jobsToEnd(world);
    expect(started(world)).toHaveLength(before);
    expect(line(world)).toBeUndefined();
    expect(replies(world)).toHaveLength(1);
    expect(await ask(world, '/deckhand watch list', 'admin')).not.toContain('Paused');
  });

  test('is not tested where diagnosis or the command `test` is switched off', async ({ world }) => {
    await say(world, 'watch storefront failures');
    const { channels } = world.app.workspaces.open(TEAM);
    const ann = world.as('admin');
    await ann.command(CHANNEL, '/deckhand settings');
    await world.slack.until(() => ann.openView()?.content.callback_id === 'settings');
    await ann.submit('settings', { diagnose: 'off' });
    await fails(world);
    await jobsToEnd(world);
    await recovers(world);
    await channels.change(CHANNEL, () => ({ diagnose: true, commands: ['watch', 'settings'] }));
    await fails(world);
    await jobsToEnd(world);
    await recovers(world);
    expect(started(world)).toEqual([]);
    await channels.change(CHANNEL, () => ({ commands: undefined }));
    await fails(world);
    await explained(world);
  });

  test('is not tested any more once it has recovered, and shows nothing of a run that ends later', async ({
    world,
  }) => {
    takeLong(world, 40_000);
    await say(world, 'watch storefront failures');
    await fails(world);
    await expect.poll(() => started(world).length).toBe(1);
    await recovers(world);
    await jobsToEnd(world);
    expect(roots(world)).toHaveLength(1);
    expect(line(world)).toBeUndefined();
    expect(replies(world)).toEqual([expect.stringContaining('Recovered')]);
  });

  test('of one’s own is explained in the direct message, which is not named to others', async ({ world }) => {
    takeLong(world, 40_000);
    deployAgain(world, true);
    await ask(world, '/deckhand me Kim');
    await ask(world, '/deckhand watch mine failures');
    deployAgain(world, false);
    await expect.poll(() => started(world).length).toBe(1);
    const pointed = await ask(world, '/deckhand test storefront', 'admin');
    expect(pointed).toContain(
      'is looking for the cause of a failed deployment. The outcome will be posted here',
    );
    const dms = () => JSON.stringify(world.slack.dms(TEAM, PEOPLE.member));
    await world.slack.until(() => dms().includes(NOT_THE_CAUSE), { what: 'the diagnosis' });
  });
});

describe('the diagnosis of a failed deployment, as time passes', () => {
  let world: DigestWorld;
  beforeEach(async () => {
    world = await openDigestWorld();
    await world.say('watch storefront failures');
  });
  afterEach(() => world.stop());

  const explainedIn = (words = '') => world.passUntil(() => line(world)?.includes(words) === true);
  const failsAgain = async () => {
    const before = roots(world).at(-1)?.text;
    deployAgain(world, false);
    await world.passUntil(() => roots(world).at(-1)?.text !== before);
  };

  it('is made again by a failure an hour later, and before that shows the last result with its time', async () => {
    await failsAgain();
    await explainedIn();
    expect(line(world)).toBe(NOT_THE_CAUSE);
    await failsAgain();
    await explainedIn('before this failure');
    deployAgain(world, true);
    await world.passUntil(() => shown(world).includes('recovered after'));
    await world.time.advance(55 * MINUTE);
    await failsAgain();
    await explainedIn();
    expect(roots(world)).toHaveLength(2);
    expect(line(world)).toMatch(/^At <!date[^>]*>, before this failure, everything was reachable\.$/);
    expect(started(world)).toHaveLength(1);
    await world.time.advance(5 * MINUTE);
    breakServer(world, 'web-1');
    await failsAgain();
    await explainedIn('web-1 cannot be reached');
    expect(started(world)).toHaveLength(2);
  });

  it('is not taken from a person’s test that ended before', async () => {
    await world.as('member').command(CHANNEL, '/deckhand test storefront');
    await world.passUntil(() => JSON.stringify(posts(world)).includes('are reachable'));
    await failsAgain();
    await explainedIn(NOT_THE_CAUSE);
    expect(started(world)).toHaveLength(2);
  });

  it('is not taken from a person’s test that was under way, whose result says so', async () => {
    takeLong(world, 3 * MINUTE);
    await world.as('member').command(CHANNEL, '/deckhand test storefront');
    await world.passUntil(() => started(world).length === 1);
    await world.pass(MINUTE);
    await failsAgain();
    await explainedIn('before this failure, everything was reachable.');
    expect(started(world)).toHaveLength(1);
  });

  it.each([
    ['stays', [], true],
    ['leaves', [true], false],
    ['leaves and comes back', [true, false], true],
  ])('of one’s own comes if the person %s', async (_, changes, comes) => {
    takeLong(world, 3 * MINUTE);
    deployAgain(world, true);
    await ask(world, '/deckhand me Kim');
    await ask(world, '/deckhand watch mine failures');
    const dms = () => JSON.stringify(world.slack.dms(TEAM, PEOPLE.member));
    deployAgain(world, false);
    await world.passUntil(() => dms().includes('the deployment') && started(world).length > 0);
    for (const deleted of changes) {
      world.slack.changePerson(TEAM, PEOPLE.member, { deleted });
      await world.pass(MINUTE);
    }
    await world.pass(4 * MINUTE);
    expect(dms().includes(NOT_THE_CAUSE)).toBe(comes);
  });

  it.each([
    ['works', 1],
    ['was revoked since the failure was read', 0],
  ])('is made with a key that %s %i times', async (condition, tests) => {
    const workspace = world.app.workspaces.open(TEAM);
    if (condition !== 'works') world.service.world.revokeKey({ account: ACCOUNT, email: EMAIL });
    const state = condition === 'works' ? 'ok' : 'broken';
    await world.passUntil(async () => (await workspace.accounts.get(ACCOUNT))?.state === state);
    const failure = { kind: 'failure' as const, id: 'f1', at: world.time.now(), lines: ['deploy failed'] };
    const subject = { kind: 'deployments', channel: CHANNEL, ...STOREFRONT, name: 'Storefront' } as const;
    await noteOutcomes(workspace, subject, [failure]);
    await world.pass(MINUTE);
    expect(started(world)).toHaveLength(tests);
  });

  it('is tried again a day after a 403, or an hour after it with another key', async () => {
    const fault = world.service.faults.add({ ...POST, status: 403 });
    await failsAgain();
    await world.passUntil(() => started(world).length === 1);
    await world.pass(10_000);
    fault.remove();
    await world.time.advance(2 * HOUR);
    await failsAgain();
    await world.pass(MINUTE);
    expect(started(world)).toHaveLength(1);
    await connectAccount(world.slack);
    await failsAgain();
    await explainedIn();
    expect(started(world)).toHaveLength(2);
  });
});
