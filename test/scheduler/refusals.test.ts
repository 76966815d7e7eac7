import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, onTestFinished, test as plain } from 'vitest';
import { ask } from '../support/asking.ts';
import { ACCOUNT, CHANNEL, PEOPLE, TEAM, type TestWorld } from '../support/test-world.ts';
import {
  breakServer,
  deploy,
  dms,
  polls,
  press,
  roots,
  say,
  shown,
  test,
  texts,
  thread,
  untilShown,
} from './channel.ts';
import { openDigestWorld } from './digests/digest-world.ts';

const run = (world: TestWorld) => world.as('member').command(CHANNEL, '/deckhand test storefront');
/** Replies to the run, the first message of the channel. */
const replies = (world: TestWorld) => world.slack.thread(TEAM, CHANNEL, roots(world)[0]?.ts ?? '');

test('a channel that cannot be posted in and is bound to a project is said privately to be bound', async ({
  world,
}) => {
  for (const [line, words] of [
    ['use storefront', 'bound this channel to Storefront'],
    ['use none', 'unbound this channel'],
  ] as const) {
    world.slack.fault({ method: 'chat.postMessage', error: 'not_in_channel', times: 1 });
    expect(await ask(world, `/deckhand ${line}`, 'admin')).toContain(words);
  }
  expect((await world.app.workspaces.open(TEAM).channels.get(CHANNEL)).project).toBeUndefined();
});

describe('a channel where replies are refused', () => {
  test.for(['restricted_action', 'cannot_reply_to_message'] as const)(
    'with %s has a run in its root message alone, with a button that goes away once used',
    async (threads, { world }) => {
      breakServer(world, 'web-2');
      world.slack.policy(TEAM, { channel: CHANNEL, threads });
      await run(world);
      await untilShown(world, '1 of 2 servers is unreachable');
      await world.logged('"event":"follow_ended"');
      expect(roots(world)).toHaveLength(1);
      expect(replies(world)).toEqual([]);
      expect(shown(world)).toContain('Connection refused');
      expect(JSON.stringify(roots(world)[0]?.blocks).split('Test web-2 again')).toHaveLength(2);
      await press(world, 'test:server#0', { who: 'member' });
      await untilShown(world, 'web-2 in Storefront: unreachable');
      expect(JSON.stringify(roots(world)[0]?.blocks)).not.toContain('Test web-2 again');
    },
  );

  test('has no replies of later runs, until the settings turn threads on', async ({ world }) => {
    const allow = world.slack.policy(TEAM, { threads: 'cannot_reply_to_message' });
    await run(world);
    await world.slack.until(() => texts(world)[0]?.includes('both servers are reachable'));
    allow();
    await run(world);
    await world.slack.until(() => texts(world)[1]?.includes('both servers are reachable'));
    expect(thread(world)).toEqual([]);
    const ann = world.as('admin');
    await ann.command(CHANNEL, '/deckhand settings');
    await world.slack.until(() => ann.openView());
    expect(JSON.stringify(ann.openView()?.content)).toContain(
      '"initial_option":{"text":{"type":"plain_text","text":"Off',
    );
    await ann.submit('settings', { threads: 'on' });
    await run(world);
    await world.slack.until(() => thread(world).length === 1);
  });
});

describe('a message that may not be edited', () => {
  test.for(['edit_window_closed', 'a_word_that_nobody_has_seen'])(
    '(%s) has the outcome in its thread',
    async (error, { world }) => {
      breakServer(world, 'web-2');
      world.slack.fault({ method: 'chat.update', error });
      await run(world);
      const outcome = () => replies(world).find(({ text }) => text.startsWith('Storefront: 1 of 2'));
      expect(JSON.stringify(await world.slack.until(outcome))).toContain('Connection refused');
      expect(roots(world)).toHaveLength(1);
    },
  );

  test('nor replied to has the outcome in a new message', async ({ world }) => {
    breakServer(world, 'web-2');
    world.slack.policy(TEAM, { edits: 'cant_update_message', threads: 'cannot_reply_to_message' });
    await run(world);
    await world.slack.until(() => roots(world).length > 1);
    expect(texts(world)[1]).toContain('1 of 2 servers is unreachable');
    expect(JSON.stringify(roots(world)[1])).toContain('Connection refused');
    expect(replies(world)).toEqual([]);
  });

  test('in a channel that takes nothing more has the outcome sent to the one who asked', async ({
    world,
  }) => {
    breakServer(world, 'web-2');
    world.slack.policy(TEAM, { channel: CHANNEL, edits: 'cant_update_message' });
    await run(world);
    await world.slack.until(() => roots(world).length > 0);
    world.slack.policy(TEAM, { channel: CHANNEL, posts: 'restricted_action' });
    const sent = () =>
      world.slack.dms(TEAM, PEOPLE.member).find(({ text }) => text.includes('1 of 2 servers is unreachable'));
    expect(JSON.stringify(await world.slack.until(sent))).toContain('Connection refused');
    await world.logged('"event":"follow_ended"');
    expect(roots(world)).toHaveLength(1);
  });

  describe('of a run that takes too long', () => {
    test.override({ worldOptions: { env: { FOLLOW_TIMEOUT_MINUTES: '0.01' } } });

    test('has a button in its thread, which takes the run up again', async ({ world }) => {
      world.slack.policy(TEAM, { edits: 'edit_window_closed' });
      const slow = { account: ACCOUNT, project: 'storefront', durationMs: 3_600_000 };
      world.service.world.setRunOutcome(slow);
      await run(world);
      const reply = (words: string) => replies(world).find(({ text }) => text.includes(words));
      const { ts } = await world.slack.until(() => reply('no longer followed'));
      await world.logged('"event":"follow_ended"');
      world.service.clock.advance(3_600_000);
      await press(world, 'test:check', { who: 'member', ts });
      await world.slack.until(() => reply('Storefront: both servers'));
    });
  });
});

describe('a message that is deleted before its replies', () => {
  /** Deletes messages of the channel with such words as soon as they are there, as a quick admin does. */
  const deleteWith = ({ slack }: TestWorld, words: string) =>
    slack.onChange((change) => {
      if (change.type !== 'message') return;
      const messages = slack.workspace(TEAM).messages.get(change.channel);
      if (messages?.get(change.ts)?.record.text.includes(words)) messages.delete(change.ts);
    });

  test('of a run ends the run, and leaves nothing in the channel', async ({ world }) => {
    deleteWith(world, 'Storefront');
    await run(world);
    await world.logged('"event":"follow_abandoned"');
    expect(roots(world)).toEqual([]);
  });

  test('of a failure stops no watch, and the next failure has a message', async ({ world }) => {
    await say(world, 'watch all failures');
    deploy(world, 'failed1', { succeeded: false });
    await untilShown(world, 'failed at');
    await world.logged('"event":"follow_ended"');
    const end = deleteWith(world, '2 deployments failed');
    deploy(world, 'failed2', { succeeded: false });
    await world.slack.until(() => !shown(world).includes('failed at'));
    await polls(world);
    end();
    expect(roots(world)).toHaveLength(1);
    deploy(world, 'failed3', { succeeded: false });
    await untilShown(world, '3 deployments failed');
    expect(roots(world)).toHaveLength(2);
    expect(dms(world)).toEqual([]);
  });

  plain('of a digest pauses no digest', async () => {
    const world = await openDigestWorld();
    onTestFinished(() => world.stop());
    const schedules = () => world.app.workspaces.open(TEAM).schedules.all();
    await world.say('digest add cron:"*/5 * * * *" UTC last_7_days');
    world.deploy(false, 0);
    deleteWith(world, 'Deployment digest');
    await world.passUntil(async () => (await schedules())[0]?.last !== undefined);
    expect(shown(world)).not.toContain('failed');
    expect(await world.app.workspaces.open(TEAM).schedules.all()).toMatchObject([
      { state: { kind: 'active' } },
    ]);
  });
});

/** Slack's word for what a workspace does not allow, and the sentence about it. */
const POLICIES = [
  ['file_uploads_disabled', 'the workspace does not allow file uploads'],
  ['file_uploads_except_images_disabled', 'the workspace allows uploads of images only'],
  ['storage_limit_reached', 'the workspace’s storage for files is full'],
  ['file_type_not_allowed', 'the workspace does not allow files of this type'],
  ['posting_to_channel_denied', 'the channel does not allow Deckhand to post there'],
  ['enterprise_is_restricted', 'the Slack organisation of this workspace restricts Deckhand'],
  ['msg_blocks_too_long', 'the message is longer than Slack accepts'],
  ['msg_too_long', 'the message is longer than Slack accepts'],
  ['accesslimited', 'the workspace does not take requests from Deckhand’s network'],
  ['team_access_not_granted', 'the Slack organisation has not given Deckhand access to this workspace'],
  ['user_disabled', 'the person’s Slack account is deactivated'],
] as const;

test('a policy of the workspace is answered by a sentence of its own, and by no advice that does not help', async ({
  world,
}) => {
  for (const [error, words] of POLICIES) {
    world.slack.fault({ method: 'chat.postMessage', error, times: 1 });
    const said = await ask(world, '/deckhand test storefront');
    expect(said.toLowerCase()).toContain(words.toLowerCase());
    expect(said).not.toMatch(/in a minute|Reference/);
  }
});

test.for([
  ['posting_to_channel_denied', 'the channel does not allow Deckhand to post there'],
  ['restricted_action', 'Slack does not let Deckhand post there'],
  ['not_in_channel', 'Deckhand is no longer in the channel, or the channel is gone'],
] as const)(
  'a watch that Slack refuses with %s pauses at once, and its owner reads why',
  async (row, { world }) => {
    const [error, words] = row;
    await say(world, 'watch all');
    world.slack.fault({ method: 'chat.postMessage', error, times: 1 });
    deploy(world, 'failed1', { succeeded: false });
    await world.slack.until(() => dms(world).length > 0);
    expect(dms(world)).toEqual([expect.stringContaining(`because ${words}.`)]);
  },
);

plain(
  'a policy that refuses every message is told to the owner of what it has paused once they are let through, once',
  async () => {
    const world = await openDigestWorld();
    onTestFinished(() => world.stop());
    await world.say('watch all');
    const refusal = world.slack.fault({ method: 'chat.postMessage', error: 'enterprise_is_restricted' });
    world.deploy(true, 0);
    const isRefused = (line: string) => line.includes('"job_failed"') && line.includes('"late-notices"');
    await world.passUntil(() => world.logs.some(isRefused));
    await world.restart(nextTurn);
    const from = world.time.now();
    await world.pass(20 * 60_000);
    const paused = () => dms(world).filter((text) => text.includes('paused'));
    expect(paused()).toEqual([]);
    refusal();
    await world.passUntil(() => paused().length > 0);
    expect(paused()[0]).toContain('the Slack organisation of this workspace restricts Deckhand');
    expect(world.time.now() - from).toBeLessThan(2 * 3_600_000);
    await world.pass(2 * 3_600_000);
    expect(paused()).toHaveLength(1);
  },
);
