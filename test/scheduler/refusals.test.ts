import { describe, expect, onTestFinished } from 'vitest';
import type { Policy } from '../../sandbox/slack/state/types.ts';
import { confirmSite } from '../commands/servers/ordering.ts';
import { ask } from '../support/asking.ts';
import { test } from '../support/fixtures.ts';
import { ACCOUNT, CHANNEL, PEOPLE, TEAM, type TestWorld } from '../support/test-world.ts';
import { openDigestWorld } from './digests/digest-world.ts';

const roots = ({ slack }: TestWorld) => slack.messages(TEAM, CHANNEL);
const thread = (world: TestWorld) => world.slack.thread(TEAM, CHANNEL, roots(world)[0]?.ts ?? '');
const shown = (messages: unknown) => JSON.stringify(messages);
const run = (world: TestWorld, line: string) => world.as('member').command(CHANNEL, `/deckhand ${line}`);

function failOneServer({ service }: TestWorld): void {
  const where = { account: ACCOUNT, project: 'storefront', server: 'web-2' };
  service.world.setOutcome({ ...where, status: 'error', message: 'Connection refused' });
}

describe('a private answer', () => {
  test.override({ connected: true });

  test.for(['user_not_in_channel', 'is_archived'] as const)(
    'that the response address and the channel (%s) refuse comes by direct message',
    async (ephemerals, { world }) => {
      world.slack.policy(TEAM, { responseUrls: 'expired_url' });
      world.slack.policy(TEAM, { ephemerals });
      await run(world, 'whoami');
      const [answer] = await world.slack.until(() => {
        const messages = world.slack.dms(TEAM, PEOPLE.member);
        return messages.length === 0 ? undefined : messages;
      });
      expect(shown(answer)).toContain(ACCOUNT);
    },
  );
});

describe('a channel that is bound to a project and cannot be posted in', () => {
  test.override({ connected: true });

  test.for([
    ['not_in_channel', 'use storefront', 'bound this channel to *Storefront*'],
    ['not_in_channel', 'use none', 'unbound this channel'],
  ] as const)(
    'where Slack answers %s, %s is said privately to be done',
    async ([error, line, words], { world }) => {
      world.slack.fault({ method: 'chat.postMessage', error, times: 1 });
      await world.as('admin').command(CHANNEL, `/deckhand ${line}`);
      const [said] = await world.slack.until(() => {
        const told = world.slack.ephemerals(TEAM, PEOPLE.admin);
        return told.length === 0 ? undefined : told;
      });
      expect(said?.text).toContain(words);
      const { project } = await world.app.workspaces.open(TEAM).channels.get(CHANNEL);
      expect(project?.permalink).toBe(line === 'use storefront' ? 'storefront' : undefined);
    },
  );
});

describe('a channel where replies are refused', () => {
  test.override({ connected: true });

  test.for(['restricted_action', 'cannot_reply_to_message'] as const)(
    'with %s has a run in its root message alone, with a button that goes away once used',
    async (threads, { world }) => {
      failOneServer(world);
      world.slack.policy(TEAM, { channel: CHANNEL, threads });
      await run(world, 'test storefront');
      await world.slack.until(() => roots(world)[0]?.text.includes('1 of 2 servers is unreachable'));
      await world.logged('"event":"follow_ended"');
      expect(roots(world)).toHaveLength(1);
      expect(thread(world)).toEqual([]);
      expect(shown(roots(world)[0])).toContain('Connection refused');
      const ts = roots(world)[0]?.ts ?? '';
      expect(shown(roots(world)[0]?.blocks).split('Test web-2 again')).toHaveLength(2);
      await world.as('member').click({ channel: CHANNEL, ts }, { actionId: 'test:server#0' });
      await world.slack.until(() => roots(world)[1]?.text.includes('web-2 in Storefront: unreachable'));
      expect(shown(roots(world)[0]?.blocks)).not.toContain('Test web-2 again');
    },
  );

  test('has no replies of later runs, until the settings turn threads on', async ({ world }) => {
    const allow = world.slack.policy(TEAM, { threads: 'cannot_reply_to_message' });
    await run(world, 'test storefront');
    await world.slack.until(() => roots(world)[0]?.text.includes('all 2 servers are reachable'));
    allow();
    await run(world, 'test storefront');
    await world.slack.until(() => roots(world)[1]?.text.includes('all 2 servers are reachable'));
    const later = () => roots(world).at(-1)?.ts ?? '';
    expect(world.slack.thread(TEAM, CHANNEL, later())).toEqual([]);
    const ann = world.as('admin');
    await ann.command(CHANNEL, '/deckhand settings');
    await world.slack.until(() => ann.openView());
    expect(shown(ann.openView()?.content)).toContain(
      '"initial_option":{"text":{"type":"plain_text","text":"Off',
    );
    await ann.submit('settings', { threads: 'on' });
    await run(world, 'test storefront');
    await world.slack.until(() => world.slack.thread(TEAM, CHANNEL, later()).length === 1);
  });
});

describe('a message that may not be edited', () => {
  test.override({ connected: true });

  test.for(['edit_window_closed', 'a_word_that_nobody_has_seen'])(
    '(%s) has the outcome in its thread',
    async (error, { world }) => {
      failOneServer(world);
      world.slack.fault({ method: 'chat.update', error });
      await run(world, 'test storefront');
      const outcome = await world.slack.until(() =>
        thread(world).find(({ text }) => text.startsWith('Storefront: 1 of 2')),
      );
      expect(shown(outcome)).toContain('Connection refused');
      expect(roots(world)).toHaveLength(1);
    },
  );

  test('nor replied to has the outcome in a new message', async ({ world }) => {
    failOneServer(world);
    const policy: Policy = { edits: 'cant_update_message', threads: 'cannot_reply_to_message' };
    world.slack.policy(TEAM, policy);
    await run(world, 'test storefront');
    await world.slack.until(() => roots(world).length > 1);
    expect(roots(world)[1]?.text).toContain('1 of 2 servers is unreachable');
    expect(shown(roots(world)[1])).toContain('Connection refused');
    expect(thread(world)).toEqual([]);
  });

  test('in a channel that takes nothing more has the outcome sent to the one who asked', async ({
    world,
  }) => {
    failOneServer(world);
    world.slack.policy(TEAM, { channel: CHANNEL, edits: 'cant_update_message' });
    await run(world, 'test storefront');
    await world.slack.until(() => roots(world).length > 0);
    world.slack.policy(TEAM, { channel: CHANNEL, posts: 'restricted_action' });
    const sent = await world.slack.until(() =>
      world.slack.dms(TEAM, PEOPLE.member).find(({ text }) => text.includes('1 of 2 servers is unreachable')),
    );
    expect(shown(sent)).toContain('Connection refused');
    await world.logged('"event":"follow_ended"');
    expect(roots(world)).toHaveLength(1);
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

describe('a policy of the workspace', () => {
  test.override({ connected: true });

  test('is answered by a sentence of its own, and by no advice that does not help', async ({ world }) => {
    for (const [error, words] of POLICIES) {
      world.slack.fault({ method: 'chat.postMessage', error, times: 1 });
      const said = await ask(world, '/deckhand test storefront');
      expect(said.toLowerCase()).toContain(words.toLowerCase());
      expect(said).not.toMatch(/in a minute|Reference/);
    }
  });
});

describe('a watch that cannot be posted', () => {
  test.override({ connected: true, worldOptions: { env: { NOTICE_INTERVAL_MS: '40' } } });

  test.for([
    ['posting_to_channel_denied', 'the channel does not allow Deckhand to post there'],
    ['restricted_action', 'Slack does not let Deckhand post there'],
    ['not_in_channel', 'Deckhand is no longer in the channel, or the channel is gone'],
  ] as const)('(%s) pauses at once, and its owner reads why', async ([error, words], { world }) => {
    world.slack.invite(TEAM, CHANNEL, 'bot');
    await world.as('admin').command(CHANNEL, '/deckhand watch all');
    await world.slack.until(() => shown(roots(world)).includes('now hears'));
    world.slack.fault({ method: 'chat.postMessage', error, times: 1 });
    const endedAt = Date.now();
    const where = { account: ACCOUNT, project: 'storefront' };
    world.service.world.addDeployment({ ...where, succeeded: false, endedAt, user: 'Kim' });
    const dms = () => world.slack.dms(TEAM, PEOPLE.admin);
    await world.slack.until(() => shown(dms()).includes('watch:resume'));
    expect(shown(dms())).toContain(`because ${words}.`);
    expect(dms()).toHaveLength(1);
  });
});

test('a policy that refuses every message is told to the owner of what it has paused once they are let through, once', async () => {
  const world = await openDigestWorld();
  onTestFinished(() => world.stop());
  await world.say('watch all');
  const refusal = world.slack.fault({ method: 'chat.postMessage', error: 'enterprise_is_restricted' });
  world.deploy(true, 0);
  const dms = () => world.slack.dms(TEAM, PEOPLE.admin).filter(({ text }) => text.includes('paused'));
  const isRefused = (line: string) => line.includes('"job_failed"') && line.includes('"late-notices"');
  await world.passUntil(() => world.logs.some(isRefused));
  await world.restart(async () => {});
  const from = world.time.now();
  await world.pass(20 * 60_000);
  expect(dms()).toEqual([]);
  refusal();
  await world.passUntil(() => dms().length > 0);
  expect(shown(dms())).toContain('the Slack organisation of this workspace restricts Deckhand');
  expect(shown(dms())).toContain('watch:resume');
  expect(world.time.now() - from).toBeLessThan(2 * 3_600_000);
  await world.pass(2 * 3_600_000);
  expect(dms()).toHaveLength(1);
});

describe('a server that is ordered', () => {
  test.override({ connected: true, worldOptions: { speed: 0 } });

  /** Orders a static site, which is ready some seconds of the service later. */
  async function order(world: TestWorld): Promise<void> {
    await confirmSite(world);
    await world.as('admin').submit('server.add');
    await world.slack.until(() => roots(world).length > 0);
    world.service.clock.advance(10_000);
  }

  test('is followed in its root message alone where replies are refused', async ({ world }) => {
    world.slack.policy(TEAM, { channel: CHANNEL, threads: 'restricted_action' });
    await order(world);
    await world.slack.until(() => roots(world)[0]?.text.includes(': active'));
    expect(thread(world)).toEqual([]);
    expect(shown(roots(world)[0]?.blocks)).toContain('https://shop-front.sites.example.net');
  });
});

describe('a run that takes too long in a message that may not be edited', () => {
  test.override({ connected: true, worldOptions: { env: { FOLLOW_TIMEOUT_MINUTES: '0.01' } } });

  test('is taken up again by the button in its thread', async ({ world }) => {
    world.slack.policy(TEAM, { edits: 'edit_window_closed' });
    const slow = { account: ACCOUNT, project: 'storefront', durationMs: 3_600_000 };
    world.service.world.setRunOutcome(slow);
    await run(world, 'test storefront');
    const reply = (words: string) => thread(world).find(({ text }) => text.includes(words));
    const { ts } = await world.slack.until(() => reply('no longer followed'));
    world.service.clock.advance(3_600_000);
    await world.as('member').click({ channel: CHANNEL, ts }, { actionId: 'test:check' });
    await world.slack.until(() => reply('Storefront: all 2 servers'));
  });
});
