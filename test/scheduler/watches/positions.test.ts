import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { identifyEvent } from '../../../src/records/feed-cursor.ts';
import { Feeds } from '../../../src/records/feeds.ts';
import { ACTIVE, type Watch } from '../../../src/records/schedules.ts';
import { ACTIVITY, newFeed } from '../../../src/scheduler/watches/feed.ts';
import { type ActivityEvent, getActivity } from '../../../src/service/activity.ts';
import { ask } from '../../support/asking.ts';
import { ACCOUNT, CHANNEL, PEOPLE, TEAM } from '../../support/test-world.ts';
import { DAY, type DigestWorld, HOUR, MINUTE, openDigestWorld } from '../digests/digest-world.ts';

describe('the channels of an account', () => {
  let world: DigestWorld;
  beforeEach(async () => {
    world = await openDigestWorld();
  });
  afterEach(() => world.stop());

  const workspace = () => world.app.workspaces.open(TEAM);
  const deploy = (endRef: string, { succeeded = true, endedAt = world.time.now() } = {}) =>
    world.service.world.addDeployment({
      account: ACCOUNT,
      project: 'storefront',
      succeeded,
      endedAt,
      endRef,
      user: 'Kim',
    });
  const shown = (channel = CHANNEL) => JSON.stringify(world.slack.messages(TEAM, channel));
  const count = (words: string, channel = CHANNEL) => shown(channel).split(words).length - 1;
  const readPage = async (): Promise<ActivityEvent[]> => {
    const { accounts } = workspace();
    const account = await accounts.get(ACCOUNT);
    if (account === undefined) throw new Error('there is no account');
    return [...(await accounts.use(account, (client) => getActivity(client, { keepTwins: true }))).events];
  };
  const listWatches = () => workspace().schedules.list('watch');
  const tell = async () =>
    ACTIVITY.takePage(workspace(), ACCOUNT, { events: await readPage() }, await listWatches());

  /** A watch of all projects in each channel, which begins now. */
  async function watchIn(channels: readonly string[], more: Partial<Watch> = {}): Promise<void> {
    const { feeds, ledger, schedules } = workspace();
    const next = await ledger.take(ACCOUNT, { events: await readPage() });
    for (const [at, channel] of channels.entries()) {
      const id = `w${at}`;
      const common = { account: ACCOUNT, createdBy: PEOPLE.admin, createdAt: world.time.now() };
      await feeds.update('watch', { channel, account: ACCOUNT }, () =>
        newFeed({ channel, account: ACCOUNT }, next),
      );
      await schedules.put({
        kind: 'watch',
        id,
        requestId: id,
        channel,
        mode: 'all',
        state: ACTIVE,
        ...common,
        ...more,
      });
    }
  }

  it('hear of nothing of long ago that somebody looks up', async () => {
    deploy('weeks01', { succeeded: false, endedAt: world.time.now() - 20 * DAY });
    await world.say('watch all failures');
    deploy('fresh01', { succeeded: false });
    await world.passUntil(() => count('fresh01') > 0);
    expect(await ask(world, '/deckhand history storefront')).toContain('weeks01');
    deploy('fresh02', { succeeded: false });
    await world.passUntil(() => shown().includes('2 deployments failed'));
    expect(count('weeks01')).toBe(0);
  });

  it('hear of an event that is hours late, and of 97 in one minute', async () => {
    await watchIn([CHANNEL]);
    deploy('first01');
    await tell();
    deploy('late001', { endedAt: world.time.now() - 5 * HOUR });
    await tell();
    await world.passUntil(() => count('late001') > 0);
    for (let at = 0; at < 97; at += 1) deploy(`many${at}x`, { endedAt: world.time.now() - at * 500 });
    await tell();
    await world.passUntil(() => shown().includes('97 events'));
    expect(shown()).not.toContain('some may be missing');
    expect(world.slack.messages(TEAM, CHANNEL)).toHaveLength(2);
  });

  it('hear of an event once, in a hundred channels', async () => {
    const channels = Array.from({ length: 100 }, (_, at) => `C0MANY${at}`);
    for (const id of channels) {
      world.slack.addChannel(TEAM, { id, name: id.toLowerCase(), members: Object.values(PEOPLE) });
      world.slack.invite(TEAM, id, 'bot');
    }
    await watchIn(channels);
    deploy('first01');
    await tell();
    await world.pass(HOUR, () => channels.every((channel) => count('first01', channel) > 0));
    expect(channels.filter((channel) => count('first01', channel) === 0)).toEqual([]);
    for (const channel of channels) expect(world.slack.messages(TEAM, channel)).toHaveLength(1);
  });

  it('hear nothing twice if two polls read one page at the same time', async () => {
    await watchIn([CHANNEL]);
    deploy('both001');
    deploy('both002', { succeeded: false });
    const events = await readPage();
    const watches = await listWatches();
    const tellThis = () => ACTIVITY.takePage(workspace(), ACCOUNT, { events }, watches);
    await Promise.all([tellThis(), tellThis(), tellThis()]);
    await world.passUntil(() => count('both001') > 0 && count('rotating_light') > 0);
    await world.pass(MINUTE);
    expect(world.slack.messages(TEAM, CHANNEL)).toHaveLength(2);
  });

  it('miss and repeat nothing if Deckhand is killed between two of its steps', async () => {
    await watchIn([CHANNEL]);
    await tell();
    const before = await workspace().feeds.getHeard(ACCOUNT);
    if (before === undefined) throw new Error('nobody has heard');
    deploy('failed1', { succeeded: false });
    // The page was stored, and nobody was told.
    await workspace().ledger.take(ACCOUNT, { events: await readPage() });
    await world.restart(async () => undefined);
    await tell();
    await world.passUntil(() => count('rotating_light') > 0);
    // The channel was told, and the account's document was not stored.
    await workspace().store.collection('feeds', Feeds).put(`account ${ACCOUNT}`, before);
    await tell();
    deploy('passed1');
    await tell();
    await world.passUntil(() => count('Storefront recovered') > 0);
    await world.pass(MINUTE);
    expect(world.slack.messages(TEAM, CHANNEL)).toHaveLength(1);
    const thread = world.slack.thread(TEAM, CHANNEL, world.slack.messages(TEAM, CHANNEL)[0]?.ts ?? '');
    expect(thread).toHaveLength(1);
  });

  it('hear of what happened while they could not, however little was news before, and of nothing twice', async () => {
    await watchIn([CHANNEL], { mode: 'failures' });
    const tellActive = async () => {
      const active = (await listWatches()).filter(({ state }) => state.kind === 'active');
      await ACTIVITY.takePage(workspace(), ACCOUNT, { events: await readPage() }, active);
    };
    for (const ref of ['quiet01', 'quiet02']) {
      deploy(ref);
      await tellActive();
    }
    const { schedules } = workspace();
    const [watch] = await listWatches();
    if (watch === undefined) throw new Error('there is no watch');
    const paused = { kind: 'paused', cause: 'account', reason: 'its key', at: world.time.now() } as const;
    await schedules.change(watch, (current) => ({ ...current, state: paused }));
    await tellActive();
    deploy('failed1', { succeeded: false });
    await tellActive();
    // All is told from now on, and what came before the pause is still no news.
    await schedules.change(watch, (current) => ({ ...current, mode: 'all', state: ACTIVE }));
    await tellActive();
    await world.passUntil(() => count('rotating_light') > 0);
    await world.pass(MINUTE);
    expect(shown()).toContain('Last good: `quiet02`');
    expect(shown().replaceAll('Last good: `quiet02`', '')).not.toContain('quiet0');
    expect(world.slack.messages(TEAM, CHANNEL)).toHaveLength(1);
  });

  it('go on where release 1.0.0 left them: what was pending, what waited for working hours, and what they had heard', async () => {
    await watchIn([CHANNEL], { hours: { from: '09:00', to: '18:00', zone: 'UTC' } });
    deploy('heard01');
    const [event] = await readPage();
    const mark = event === undefined ? '' : identifyEvent(event);
    const { ledger, store } = workspace();
    await ledger.forget(ACCOUNT);
    const place = { channel: CHANNEL, account: ACCOUNT };
    const section = { type: 'section', text: { type: 'mrkdwn', text: 'pending1' } };
    const root = { text: 'pending1', blocks: [section] };
    await store.collection('feeds', z.looseObject({})).put(`watch ${CHANNEL} ${ACCOUNT}`, {
      kind: 'watch',
      ...place,
      cursor: { recentMarks: [[mark, world.time.now()]], floor: null, lookedAt: world.time.now() },
      failing: { storefront: [{ server: '', at: world.time.now() }] },
      backlog: {
        lines: [{ kind: 'deploy_completed', line: 'waited1', for: ['w0'] }],
        dropped: 0,
        isTruncated: false,
      },
      announced: [],
      pending: [{ id: 'b1', at: world.time.now(), root, replies: [], what: '1 event', for: ['w0'] }],
    });
    deploy('after01');
    // It is eight o'clock.
    await tell();
    await world.passUntil(() => count('pending1') > 0);
    expect(shown()).not.toContain('waited1');
    await world.pass(HOUR + MINUTE);
    await tell();
    await world.passUntil(() => count('waited1') > 0);
    await world.pass(MINUTE);
    expect(shown()).toContain('after01');
    expect(shown()).toContain('2 events outside working hours');
    expect(shown()).not.toContain('heard01');
  });
});
