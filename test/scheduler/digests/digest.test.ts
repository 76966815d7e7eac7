import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Policy } from '../../../sandbox/slack/state/types.ts';
import { Account } from '../../../src/records/accounts.ts';
import { ask } from '../../support/asking.ts';
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

const NO_CHARTS: Policy = { refusedBlocks: ['data_visualization'] };

describe('a digest', () => {
  let world: DigestWorld;
  beforeEach(async () => {
    world = await openDigestWorld();
  });
  afterEach(() => world.stop());

  const shown = (at = -1) => JSON.stringify(world.posted().at(at)?.blocks);
  const dms = () => world.slack.dms(TEAM, PEOPLE.admin).map(({ text }) => text);

  it('tells figures, failures and a chart at its time, and the events in its thread', async () => {
    world.deploy(true, 2);
    world.deploy(false, 3);
    world.deploy(true, 9 * 24);
    expect(await world.say('digest add daily 09:00 UTC last_7_days')).toContain(
      'every connected account (the last 7 days',
    );
    await world.time.advance(HOUR - 1000);
    expect(world.posted()).toEqual([]);
    await world.time.advance(1000);
    await world.untilPosted(1);

    expect(world.posted()[0]?.text).toContain(
      'Deployment digest, the last 7 days. acme: 2 deployments, 50 % succeeded. Deployments: 2 up 1. Success rate: 50 % down 50 points.',
    );
    expect(shown()).toContain('*Deployments*\\n2  ▲ 1');
    expect(shown()).toContain('*Success rate*\\n50 %  ▼ 50 points');
    expect(shown()).toContain('Compared with the 7 days before');
    expect(shown()).toContain('*1 failed deployment*');
    expect(shown()).toContain('/projects/storefront|Storefront>: 1 failed, by Kim, passing again');
    expect(shown()).not.toContain('Late');
    expect(`${world.posted()[0]?.text} ${shown()}`).not.toContain('<@');
    const chart = world.posted()[0]?.blocks?.find(({ type }) => type === 'data_visualization');
    expect(JSON.stringify(chart)).toContain('{"name":"Failed","data":[{"label":"Tue, Feb 24","value":0}');
    expect(JSON.stringify(chart)).toContain('{"label":"Mon, Mar 2","value":1}');
    const root = world.posted()[0]?.ts ?? '';
    await world.slack.until(() => world.slack.thread(TEAM, CHANNEL, root).length === 1);
    expect(JSON.stringify(world.slack.thread(TEAM, CHANNEL, root)[0]?.blocks)).toContain('by Kim');
    await world.untilLast('posted');
  });

  it('gives the number of failures that the figures imply, where the feed of 100 events holds fewer', async () => {
    const many = { account: ACCOUNT, project: 'storefront', everyMs: 1000 };
    const { addDeployments } = world.service.world;
    addDeployments({ ...many, count: 37, succeeded: false, endedAt: world.time.now() - 9 * HOUR });
    addDeployments({ ...many, count: 3, succeeded: false, endedAt: world.time.now() - 2 * HOUR });
    addDeployments({ ...many, count: 97, endedAt: world.time.now() - HOUR });
    addDeployments({ ...many, count: 3, endedAt: world.time.now() - 10 * HOUR });
    await world.say('digest add daily 09:00 UTC last_7_days');
    await world.time.advance(HOUR);
    await world.untilPosted(1);
    expect(shown()).toContain('*40 failed. The latest 100 events show 3 of them*');
    await world.as('admin').command(CHANNEL, '/deckhand activity stats');
    const answer = () => JSON.stringify(world.slack.ephemerals(TEAM, PEOPLE.admin).at(-1)?.blocks);
    await world.slack.until(() => answer()?.includes('*40 failed. The latest 100 events show 3 of them*'));
  });

  it('is silent without deployments where it is asked to be, but not if an unread entry may have been one', async () => {
    await world.say('digest add daily 09:00 UTC --skip-quiet');
    await world.time.advance(HOUR);
    await world.untilLast('quiet');
    expect(world.posted()).toEqual([]);
    expect(await ask(world, '/deckhand digest list', 'admin')).toContain(
      'skipped, because there were no deployments',
    );
    world.service.faults.add({ path: '/acme/activity', status: 200, body: { events: ['gone'] } });
    await world.time.advance(DAY);
    await world.untilPosted(1);
    const [, reference = 'none'] =
      /1 entry could not be read\. Reference `([0-9a-f]{8})`/.exec(shown()) ?? [];
    expect(await world.logged(reference)).toContain('rows_skipped');
  });

  it('of one project shows nothing of the account and its other projects', async () => {
    world.deploy(false, 2, 'billing-api');
    world.deploy(true, 2, 'storefront');
    await world.say('digest add daily 09:00 UTC --project billing-api');
    await world.time.advance(HOUR);
    await world.untilPosted(1);
    expect(shown()).toContain('/projects/billing-api|*Billing API*> in `acme`: 1 deployment: 1 failed');
    expect(JSON.stringify(world.posted())).not.toMatch(/Whole account|Storefront/);
    const replies = () => world.slack.thread(TEAM, CHANNEL, world.posted()[0]?.ts ?? '');
    await world.slack.until(() => replies().length === 1);
    expect(JSON.stringify(replies()[0]?.blocks)).not.toContain('Storefront');
    expect(replies()[0]?.text).toMatch(/^1 event of Billing API in acme\. Mon/);
  });

  it('is posted late, once, and says so, where everything was down, and the next although its job was lost', async () => {
    await world.say('digest add daily 09:00 UTC');
    await world.restart(() => world.time.advance(5 * HOUR));
    await world.untilPosted(1);
    expect(world.posted()[0]?.text).toContain('Late: this was due');
    await world.untilLast('late');
    await world.restart(() => world.time.advance(MINUTE));
    await world.time.advance(MINUTE);
    expect(world.posted()).toHaveLength(1);
    await world.restart(async () => {
      const database = new DatabaseSync(world.config.STORE_URL.slice('sqlite://'.length));
      database.exec('DELETE FROM deckhand_jobs');
      database.close();
    });
    await world.time.advance(DAY);
    await world.untilPosted(2);
  });

  it('asks a service that is down again, and in the end says that it is', async () => {
    await world.say('digest add daily 09:00 UTC');
    const fault = world.service.faults.add({ path: '/acme/activity', status: 500 });
    await world.time.advance(HOUR);
    await world.passUntil(() => fault.hits() > 8);
    expect(world.posted()).toEqual([]);
    await world.passUntil(() => world.posted().length > 0);
    expect(shown()).toContain('`acme`  :warning: The service answered unexpectedly');
  });

  it('pauses where the stored key cannot be read, and tells its owner what to do', async () => {
    await world.say('digest add daily 09:00 UTC');
    const accounts = world.app.parts.store.of(TEAM).collection('accounts', Account);
    await accounts.update(ACCOUNT, (account) => account && { ...account, sealedKey: 'torn' });
    await world.time.advance(HOUR);
    for (let hour = 0; dms().length < 1 && hour < 12; hour += 0.5) {
      await world.time.advance(HOUR / 2);
      await world.passUntil(async () => (await world.app.parts.engine.stats()).digest?.running === 0);
    }
    expect(dms()).toEqual([expect.stringMatching(/Deckhand paused the digest.*\/deckhand connect acme/)]);
    expect(dms()[0]).toContain('because the stored key of the account acme cannot be read');
    expect(await world.app.workspaces.open(TEAM).schedules.list('digest')).toMatchObject([
      { state: { kind: 'paused', cause: 'account' } },
    ]);
    expect(await ask(world, '/deckhand accounts', 'admin')).toContain(':x: the stored key cannot be read');
    expect(await ask(world, '/deckhand start', 'admin')).toContain('The key of `acme` cannot be read');

    await world.connect();
    expect(await ask(world, '/deckhand accounts', 'admin')).toContain(':white_check_mark: works');
  });

  it('tells its owner once where an error that is not expected kept it from being posted to the end', async () => {
    await world.say('digest add daily 09:00 UTC');
    const allow = world.slack.fault({ method: 'chat.postMessage', channel: CHANNEL, error: 'odd_new_error' });
    await world.time.advance(HOUR);
    await world.passUntil(() => dms().length > 0);
    expect(dms()).toEqual([
      expect.stringMatching(
        /could not run the digest of every connected account.* because of an unexpected error\. It runs again at its next time/,
      ),
    ]);

    allow();
    expect(await ask(world, '/deckhand digest list', 'admin')).toContain('an unexpected error');
    await world.time.advance(DAY);
    await world.passUntil(() => world.posted().length > 0);
    expect(dms()).toHaveLength(1);
  });

  it('shows words where Slack draws no chart, and asks for a chart only once', async () => {
    world.deploy(true);
    await world.say('digest add daily 09:00 UTC');
    world.slack.policy(TEAM, NO_CHARTS);
    await world.time.advance(HOUR);
    await world.untilPosted(1);
    expect(shown()).toContain('▇ 1 succeeded');
    expect(shown()).not.toContain('data_visualization');
    await world.untilLast('posted');
    world.deploy(false);
    await world.time.advance(DAY);
    await world.untilPosted(2);
    expect(shown()).toContain('1 failed');
    const posts = world.slack.calls.filter(({ method }) => method === 'chat.postMessage');
    expect(posts.filter(({ error }) => error === 'invalid_blocks')).toHaveLength(1);
  });
});
