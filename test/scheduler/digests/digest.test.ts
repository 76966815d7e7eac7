import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Account } from '../../../src/workspace/accounts.ts';
import {
  ACCOUNT,
  CHANNEL,
  DAY,
  type DigestHouse,
  HOUR,
  MINUTE,
  openDigestHouse,
  PEOPLE,
  TEAM,
} from './digest-house.ts';

describe('a digest', () => {
  let house: DigestHouse;
  beforeEach(async () => {
    house = await openDigestHouse();
  });
  afterEach(() => house.stop());

  const shown = (at = -1) => JSON.stringify(house.posted().at(at)?.blocks);
  const dms = () => house.slack.dms(TEAM, PEOPLE.admin).map(({ text }) => text);

  it('tells figures, failures and a picture at its time, and the events in its thread', async () => {
    house.deploy(true, 2);
    house.deploy(false, 3);
    house.deploy(true, 9 * 24);
    expect(await house.say('digest add daily 09:00 UTC')).toContain(
      'the last 7 days of every connected account',
    );
    await house.time.advance(HOUR - 1000);
    expect(house.posted()).toEqual([]);
    await house.time.advance(1000);
    await house.untilPosted(1);

    expect(house.posted()[0]?.text).toBe(
      'Deployment digest, the last 7 days. `acme`: 2 deployments, 50 % succeeded',
    );
    expect(shown()).toContain('*Deployments*\\n2  ▲ 1');
    expect(shown()).toContain('*Success rate*\\n50 %  ▼ 50 points');
    expect(shown()).toContain('▲ ▼ compare with the 7 days before');
    expect(shown()).toContain('*1 failed deployment*');
    expect(shown()).not.toContain('Late');
    const [file] = house.slack.files(TEAM);
    expect(shown()).toContain(`"slack_file":{"id":"${file?.id}"}`);
    expect(shown()).toContain('2 deployments: 1 succeeded, 1 failed');
    expect(file?.bytes?.subarray(1, 4).toString()).toBe('PNG');
    expect(file?.altText).toContain('2 deployments: 1 succeeded, 1 failed');
    const root = house.posted()[0]?.ts ?? '';
    await house.slack.until(() => house.slack.thread(TEAM, CHANNEL, root).length === 1);
    expect(JSON.stringify(house.slack.thread(TEAM, CHANNEL, root)[0]?.blocks)).toContain('by Kim');
    await house.untilLast('posted');
  });

  it('shows an em dash where nothing was deployed, never 0 %, and draws no picture', async () => {
    await house.say('digest add daily 09:00 UTC today');
    await house.time.advance(HOUR);
    await house.untilPosted(1);
    expect(shown()).toContain('*Success rate*\\n—  —');
    expect(shown()).toContain('No deployments in this time');
    expect(house.slack.files(TEAM)).toEqual([]);
  });

  it('comes once a day, at the same local time over a change of the clocks', async () => {
    await house.time.advance(25 * DAY);
    await house.say('digest add daily 09:00 Europe/Lisbon');
    for (const [at, day] of ['09:00Z', '09:00Z', '08:00Z', '08:00Z'].map(
      (text, n) => [text, 27 + n] as const,
    )) {
      const due = Date.parse(`2026-03-${day}T${at}`);
      await house.time.advance(due - house.time.now());
      await house.untilPosted(day - 26);
      await house.untilLast('posted');
      expect(
        house
          .posted()
          .at(-1)
          ?.ts.startsWith(String(Math.floor(due / 1000))),
      ).toBe(true);
    }
    expect(house.posted()).toHaveLength(4);
  });

  it('is silent without deployments where it is asked to be', async () => {
    await house.say('digest add daily 09:00 UTC --skip-quiet');
    await house.time.advance(HOUR);
    await house.untilLast('quiet');
    expect(house.posted()).toEqual([]);
    expect(
      await house.say('digest list').then(() => JSON.stringify(house.slack.messages(TEAM, CHANNEL).at(-1))),
    ).toContain('silent, as nothing was deployed');
    house.deploy(true, -20);
    await house.time.advance(DAY);
    await house.untilPosted(1);
  });

  it('is kept to one project, whose figures are said to be the account’s', async () => {
    house.deploy(false, 2, 'billing-api');
    house.deploy(true, 2, 'storefront');
    await house.say('digest add daily 09:00 UTC --project billing-api');
    await house.time.advance(HOUR);
    await house.untilPosted(1);
    expect(shown()).toContain('*Billing API* in `acme`: 1 deployment: 1 failed');
    expect(shown()).toContain('The figures are of the whole account');
    const replies = () => house.slack.thread(TEAM, CHANNEL, house.posted()[0]?.ts ?? '');
    await house.slack.until(() => replies().length === 1);
    expect(JSON.stringify(replies()[0]?.blocks)).not.toContain('Storefront');
  });

  it('draws the line of its own past once there are four', async () => {
    await house.say('digest add daily 09:00 UTC');
    for (let day = 1; day <= 4; day += 1) {
      house.deploy(day !== 2, -0.5);
      await house.time.advance(day === 1 ? HOUR : DAY);
      await house.untilPosted(day);
      await house.slack.until(() => house.slack.files(TEAM).length === day);
      await house.untilLast('posted');
    }
    const told = house.slack
      .files(TEAM)
      .map(({ altText = '' }) => altText.includes('Success rate from 100 %'));
    expect(told).toEqual([false, false, false, true]);
  });

  it('is posted late, once, and says so, where everything was down for some hours', async () => {
    await house.say('digest add daily 09:00 UTC');
    await house.restart(() => house.time.advance(5 * HOUR));
    await house.untilPosted(1);
    expect(house.posted()[0]?.text).toContain('Late: this was due');
    await house.untilLast('late');
    await house.restart(() => house.time.advance(MINUTE));
    await house.time.advance(MINUTE);
    expect(house.posted()).toHaveLength(1);
  });

  it('is not posted where everything was down for more than twelve hours', async () => {
    await house.say('digest add daily 09:00 UTC');
    await house.restart(() => house.time.advance(HOUR + 12 * HOUR + MINUTE));
    await house.time.advance(12 * HOUR - MINUTE);
    await house.untilPosted(1);
    expect(house.posted()).toHaveLength(1);
    expect(house.posted()[0]?.text).not.toContain('Late');
  });

  it('pauses in an archived channel, tells whoever set it up once, and goes on when it is resumed', async () => {
    await house.say('digest add daily 09:00 UTC');
    const id = await house.id();
    house.slack.archiveChannel(TEAM, CHANNEL);
    await house.time.advance(HOUR);
    await house.slack.until(() => dms().length > 0);
    await house.time.advance(3 * DAY);
    expect(dms()).toHaveLength(1);
    expect(dms()[0]).toContain(
      `I paused the digest \`${id}\` in <#${CHANNEL}>, because the channel is archived`,
    );
    expect(dms()[0]).toContain(`/deckhand digest resume ${id}`);
    house.slack.unarchiveChannel(TEAM, CHANNEL);
    house.slack.invite(TEAM, CHANNEL, 'bot');
    expect(await house.say(`digest resume ${id}`)).toContain('resumed the digest');
    await house.time.advance(DAY);
    await house.untilPosted(1);
  });

  it('pauses where the plan loses its API access', async () => {
    await house.say('digest add daily 09:00 UTC');
    house.service.faults.add({
      path: '/acme/activity',
      status: 403,
      body: { error_code: 'api_access_restricted' },
    });
    await house.time.advance(HOUR);
    await house.slack.until(() => dms().length > 0);
    expect(dms()[0]).toContain('because the plan of the account `acme` has no API access');
    await house.time.advance(2 * DAY);
    expect(dms()).toHaveLength(1);
    expect(house.posted()).toEqual([]);
  });

  it('asks a service that is down again, and in the end says that it is', async () => {
    await house.say('digest add daily 09:00 UTC');
    const fault = house.service.faults.add({ path: '/acme/activity', status: 500 });
    await house.time.advance(HOUR);
    await house.passUntil(() => fault.hits() > 8);
    expect(house.posted()).toEqual([]);
    await house.passUntil(() => house.posted().length > 0);
    expect(shown()).toContain('`acme`  :warning: The service answered unexpectedly');
  });

  it('waits for a Slack that does not answer, and is posted once', async () => {
    await house.say('digest add daily 09:00 UTC');
    house.slack.fault({ method: 'chat.postMessage', drop: 'before', times: 7 });
    await house.time.advance(HOUR);
    await house.passUntil(() => house.posted().length > 0);
    await house.untilLast('posted');
    await house.time.advance(HOUR);
    expect(house.posted()).toHaveLength(1);
  });

  it('tells whoever set it up where something is broken on our side, and stays in the list', async () => {
    await house.say('digest add daily 09:00 UTC');
    const accounts = house.app.parts.store.collection('accounts', Account);
    await accounts.update(TEAM, ACCOUNT, (account) => account && { ...account, sealedKey: 'torn' });
    await house.time.advance(HOUR);
    for (let hour = 0; dms().length === 0 && hour < 12; hour += 0.5) {
      await house.time.advance(HOUR / 2);
      await house.passUntil(async () => (await house.app.parts.engine.stats()).queues.digest?.running === 0);
    }
    expect(dms()).toHaveLength(1);
    expect(dms()[0]).toContain('something went wrong on our side');
    expect(await house.app.workspaces.open(TEAM).digests.list()).toMatchObject([
      { state: { kind: 'active' }, last: { outcome: 'failed' } },
    ]);
  });

  it('posts without its picture where Slack takes no files', async () => {
    house.deploy(true);
    await house.say('digest add daily 09:00 UTC');
    house.slack.fault({ method: 'files.getUploadURLExternal', error: 'missing_scope' });
    await house.time.advance(HOUR);
    await house.untilPosted(1);
    expect(shown()).not.toContain('slack_file');
    expect(shown()).toContain('*Deployments*');
  });

  it('puts the picture into the thread where the message may not show it', async () => {
    house.deploy(true);
    await house.say('digest add daily 09:00 UTC');
    house.slack.fault({ method: 'chat.postMessage', error: 'invalid_blocks', times: 3 });
    await house.time.advance(HOUR);
    await house.passUntil(() => house.posted().length > 0);
    const root = house.posted()[0]?.ts ?? '';
    expect(shown()).not.toContain('slack_file');
    await house.slack.until(() =>
      house.slack.thread(TEAM, CHANNEL, root).some(({ files }) => files !== undefined),
    );
    expect(house.posted()).toHaveLength(1);
  });
});
