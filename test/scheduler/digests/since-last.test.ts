import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ask } from '../../support/asking.ts';
import { connectAccount } from '../../support/test-world.ts';
import { breakServer } from '../channel.ts';
import {
  ACCOUNT,
  CHANNEL,
  DAY,
  type DigestWorld,
  HOUR,
  MINUTE,
  openDigestWorld,
  PEOPLE,
  TEAM,
} from './digest-world.ts';

/** A Friday, an hour before the digest of 09:00. */
const FRIDAY = '2026-03-06T08:00:00Z';

describe('a digest since the last one', () => {
  let world: DigestWorld;
  let number = 0;
  beforeEach(async () => {
    world = await openDigestWorld(FRIDAY);
    number = 0;
  });
  afterEach(() => world.stop());

  /** A deployment, with a revision of its own. */
  function deploy(hoursAgo = 0, project = 'storefront', succeeded = true): void {
    number += 1;
    const endedAt = world.time.now() - hoursAgo * HOUR;
    const endRef = `d${String(number).padStart(6, '0')}`;
    world.service.world.addDeployment({ account: ACCOUNT, project, succeeded, endedAt, endRef });
  }

  /** The numbers of the deployments that each digest lists in its thread. */
  async function listed(): Promise<number[][]> {
    await world.untilIdle();
    return world.posted().map(({ ts }) => {
      const replies = JSON.stringify(world.slack.thread(TEAM, CHANNEL, ts).map(({ blocks }) => blocks));
      return [...replies.matchAll(/`d(\d{6})`/g)].map(([, one]) => Number(one)).toSorted((a, b) => a - b);
    });
  }

  async function pass(ms: number): Promise<void> {
    await world.time.advance(ms);
    await world.untilIdle();
  }

  it('has nothing of long ago that somebody looked up since', async () => {
    deploy(20 * 24, 'storefront', false);
    deploy(24);
    await world.say('digest add daily 09:00 UTC');
    await pass(HOUR);
    deploy();
    expect(await ask(world, '/deckhand history storefront')).toContain('d000001');
    await pass(24 * HOUR);
    expect(await listed()).toEqual([[], [3]]);
  });

  it('is what a new digest covers, in words and in the form, and begins one cadence before the first', async () => {
    for (const hoursAgo of [24, 22, 2]) deploy(hoursAgo);
    expect(await world.say('digest add weekdays 09:00 UTC')).toContain('since the last digest');
    await world.as('admin').command(CHANNEL, '/deckhand digest add');
    const form = () => JSON.stringify(world.as('admin').openView()?.content.blocks ?? []);
    await world.slack.until(() => form().includes('Since the last digest'));
    expect(form()).toContain('"initial_option":{"text":{"type":"plain_text","text":"Since the last digest"');
    await pass(HOUR);
    expect(await listed()).toEqual([[2, 3]]);
    expect(world.posted()[0]?.text).toContain('acme: 2 deployments: 2 succeeded');
    const shown = JSON.stringify(world.posted()[0]?.blocks);
    expect(shown).toMatch(
      /\*Deployments\*.{2}2 {2}▲ 1.*\*Success rate\*.{2}100 %.*Whole account since <!date\^1772701200\^/,
    );
  });

  it('has what came in the evening and at the weekend, once, and figures against as much time before', async () => {
    deploy(2);
    await world.say('digest add weekdays 09:00 UTC --project storefront');
    await pass(HOUR);
    await pass(9 * HOUR);
    deploy(1);
    await pass(2 * DAY);
    deploy(1, 'storefront', false);
    deploy(1, 'billing-api');
    await pass(15 * HOUR);
    expect(await listed()).toEqual([[1], [2, 3]]);
    const shown = JSON.stringify(world.posted()[1]?.blocks);
    expect(shown).toContain(
      '/projects/storefront|*Storefront*> in `acme`: 2 deployments: 1 succeeded, 1 failed',
    );
    expect(shown).not.toMatch(/Whole account|Billing API/);

    deploy(0);
    await pass(DAY);
    expect(await listed()).toEqual([[1], [2, 3], [5]]);
    const tuesday = JSON.stringify(world.posted()[2]?.blocks);
    expect(tuesday).toContain(
      'as many deployments, success rate 100 % ▲ 100 points, against the same length of time before',
    );
  });

  it('covers an account that is connected later since the last digest, like the others', async () => {
    await world.say('digest add daily 09:00 UTC');
    await pass(HOUR);
    await pass(5 * DAY);
    const key = { email: 'gus@example.com', apiKey: 'g'.repeat(40) };
    const projects = [{ name: 'Lamp', permalink: 'lamp', servers: [] }];
    world.service.world.addAccount({ name: 'globex', users: [{ ...key, role: 'admin' }], projects });
    const { accounts } = world.app.workspaces.open(TEAM);
    await accounts.connect({ name: 'globex', ...key, createdBy: PEOPLE.admin, state: 'ok' });
    for (const [endRef, hoursAgo] of [
      ['d000001', 70],
      ['d000002', 1],
    ] as const) {
      const endedAt = world.time.now() - hoursAgo * HOUR;
      world.service.world.addDeployment({ account: 'globex', project: 'lamp', endedAt, endRef });
    }
    await pass(DAY);
    expect((await listed()).at(-1)).toEqual([]);
    world.service.world.addDeployment({
      account: 'globex',
      project: 'lamp',
      endedAt: world.time.now(),
      endRef: 'd000003',
    });
    await pass(DAY);
    expect((await listed()).at(-1)).toEqual([3]);
  });

  it('has what the service tells late, and what it dates days ahead, once', async () => {
    await world.say('digest add daily 09:00 UTC');
    await pass(HOUR);
    await pass(HOUR);
    deploy(3);
    const [storefront] = world.service.world.state.accounts.get(ACCOUNT)?.projects ?? [];
    const { identifier, permalink, name } = storefront ?? {};
    const created_at = new Date(world.time.now() + 3 * DAY).toISOString();
    const properties = { end_ref: 'd000002', servers: ['web-1'] };
    const ahead = {
      event: 'deploy_failed',
      properties,
      project: { identifier, permalink, name },
      created_at,
    };
    world.service.faults.add({ path: '/acme/activity', status: 200, body: [ahead], times: 1 });
    await ask(world, '/deckhand activity', 'admin');
    await pass(23 * HOUR);
    for (let day = 0; day < 4; day += 1) await pass(DAY);
    expect((await listed()).flat()).toEqual([1, 2]);
    expect((await listed())[1]).toEqual([1, 2]);
  });

  it('misses nothing over a pause, a snooze, silence and days without Deckhand', async () => {
    await world.say('digest add daily 09:00 UTC --skip-quiet');
    await pass(HOUR);
    expect(await listed()).toEqual([]);
    deploy();
    await world.say('digest pause');
    await pass(2 * DAY);
    await world.say('digest resume');
    await pass(DAY);
    expect(await listed()).toEqual([[1]]);

    deploy();
    await ask(world, `/deckhand digest preview`, 'admin');
    await world.restart(() => world.time.advance(5 * DAY + 14 * HOUR));
    await world.untilIdle();
    expect(world.posted()).toHaveLength(1);
    await pass(10 * HOUR);
    expect(await listed()).toEqual([[1], [2]]);
    await pass(DAY);
    expect(world.posted()).toHaveLength(2);
  });

  it('is consumed neither by a preview, nor by a post that Slack refuses', async () => {
    await world.say('digest add daily 09:00 UTC');
    await pass(HOUR);
    deploy();
    expect(await ask(world, '/deckhand digest preview', 'admin')).toContain('1 deployment');
    const allow = world.slack.fault({ method: 'chat.postMessage', channel: CHANNEL, error: 'is_archived' });
    await pass(DAY);
    allow();
    deploy();
    await world.say('digest resume');
    await pass(DAY);
    expect(await listed()).toEqual([[], [1, 2]]);
  });

  it('says the same under the same message if the answer to the post was lost', async () => {
    await world.say('digest add daily 09:00 UTC');
    deploy();
    world.slack.fault({ method: 'chat.postMessage', channel: CHANNEL, drop: 'after', times: 1 });
    await world.time.advance(HOUR);
    await world.untilPosted(1);
    deploy();
    await ask(world, '/deckhand activity', 'admin');
    await world.pass(10 * MINUTE);
    const posts = world.slack.calls.filter(
      ({ method, args }) => method === 'chat.postMessage' && String(args.text).includes('Deployment digest'),
    );
    expect(posts).toHaveLength(2);
    for (const { args } of posts) expect(args.text).toContain('acme: 1 deployment: 1 succeeded');
    expect(posts[1]?.args.client_msg_id).toBe(posts[0]?.args.client_msg_id);
    await pass(DAY);
    expect((await listed()).flat()).toEqual([1, 2]);
  });

  it('is one if two replicas run it, with what the first of them stored', async () => {
    await world.say('digest add daily 09:00 UTC');
    await pass(HOUR);
    deploy();
    await ask(world, '/deckhand activity', 'admin');
    const { schedules } = world.app.workspaces.open(TEAM);
    const id = await world.id();
    const scheduledAt = Date.parse('2026-03-07T09:00:00Z');
    const before = (await schedules.get('digest', id))?.reported;
    const next = (before?.marks[ACCOUNT]?.next ?? 0) + 1;
    const posting = { scheduledAt, at: scheduledAt, marks: { [ACCOUNT]: { next, at: scheduledAt } } };
    await world.time.advance(HOUR);
    deploy();
    await schedules.change({ kind: 'digest', id }, (one) => ({
      ...one,
      reported: { from: 0, marks: {}, ...one.reported, posting },
    }));
    await pass(23 * HOUR);
    expect(await listed()).toEqual([[], [1]]);
    await pass(DAY);
    expect(await listed()).toEqual([[], [1], [2]]);
  });

  it('repeats nothing after the account was connected again under another key', async () => {
    await world.say('digest add daily 09:00 UTC');
    deploy();
    await pass(HOUR);
    await pass(HOUR);
    deploy();
    const workspace = world.app.workspaces.open(TEAM);
    await workspace.accounts.disconnect(ACCOUNT);
    await workspace.ledger.forget(ACCOUNT);
    await connectAccount(world.slack);
    await pass(23 * HOUR);
    expect(await listed()).toEqual([[1], [2]]);
  });

  it('has the outages that tests saw, how long, who was on them, and what still fails', async () => {
    const { ledger } = world.app.workspaces.open(TEAM);
    await world.say('digest add daily 09:00 UTC --project storefront');
    await pass(HOUR);
    const [storefront] = world.service.world.state.accounts.get(ACCOUNT)?.projects ?? [];
    const { identifier = '' } = storefront ?? {};
    const project = { account: ACCOUNT, project: identifier, name: 'Storefront', permalink: 'storefront' };
    /** A test of two servers, those of which are reachable. */
    const test = (request: string, reachable: string[], owner?: string) =>
      ledger.noteTest(
        { ...project, owner },
        {
          items: ['web-1', 'web-2'].map((title) => {
            const isReachable = reachable.includes(title);
            return {
              key: `server:${title}`,
              title,
              isReachable,
              reason: isReachable ? null : 'No route to host. Is the firewall open?',
            };
          }),
          isWhole: true,
          at: world.time.now(),
        },
        request,
      );
    // Once is no outage.
    await test('a', ['web-1']);
    await pass(2 * MINUTE);
    await test('b', ['web-1', 'web-2']);
    await pass(HOUR);
    await test('c', []);
    await pass(2 * MINUTE);
    await test('d', []);
    await pass(3 * HOUR);
    await test('e', ['web-1', 'web-2'], PEOPLE.member);
    await test('e', ['web-1', 'web-2'], PEOPLE.member);
    await pass(HOUR);
    await test('f', ['web-1']);
    await pass(2 * MINUTE);
    await test('g', ['web-1']);
    deploy(0, 'billing-api', false);
    await pass(20 * HOUR);
    const shown = JSON.stringify(world.posted().at(-1)?.blocks);
    expect(shown).toMatch(
      /\*1 outage\*\\n:large_green_circle: <[^|]*\/projects\/storefront\|Storefront>: web-1 and web-2 were unreachable for 3 h 2 min, until <!date[^>]*>: No route to host\. Is the firewall open\? <@U0BEN> was on it\./,
    );
    expect(shown).toMatch(
      /\*Still failing\*\\n:rotating_light: <[^|]*\/projects\/storefront\|Storefront>: web-2 is unreachable since <!date[^>]*>: No route to host\. Is the firewall open\?"/,
    );
    expect(shown).not.toContain('Billing');
    await pass(DAY);
    expect(JSON.stringify(world.posted().at(-1)?.blocks)).not.toContain('1 outage');
  });

  it('hears of an outage by the tests that anybody asks for', async () => {
    await world.say('digest add daily 09:00 UTC');
    await pass(HOUR);
    deploy(0, 'billing-api', false);
    for (const status of ['error', 'error', 'ok'] as const) {
      breakServer(world, 'web-2', status);
      const { runs } = world.app.workspaces.open(TEAM);
      await world.say('test storefront');
      await world.passUntil(async () => (await runs.newest(1))[0]?.status === 'completed');
      await pass(3 * MINUTE);
    }
    await pass(DAY);
    const shown = JSON.stringify(world.posted().at(-1)?.blocks);
    expect(shown).toContain('|Storefront>: web-2 was unreachable for ');
    expect(shown).toMatch(/Still failing.*Billing API>: deployments to .* have been failing since <!date/);
  });
});
