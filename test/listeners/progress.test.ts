import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../src/core/clock.ts';
import {
  ACCOUNT,
  API_KEY,
  CHANNEL,
  EMAIL,
  openTestWorld,
  PEOPLE,
  TEAM,
  type TestWorld,
} from '../support/test-world.ts';

/** Waits are ten times shorter, so that ten seconds of patience are over in one. */
const clock: Clock = {
  now: systemClock.now,
  sleep: (ms, signal) => systemClock.sleep(ms / 10, signal),
};

describe('what takes its time', () => {
  let house: TestWorld;
  beforeEach(async () => {
    house = await openTestWorld({ clock, serviceTimeoutMs: 10_000 });
  });
  afterEach(() => house.stop());

  const said = () => house.slack.ephemerals(TEAM, PEOPLE.member).map(({ text }) => text);

  it('as a command says so after two seconds, and from ten on for how long', async () => {
    await house.connect();
    house.service.faults.add({ path: `/${ACCOUNT}/profile`, delayMs: 2_500, times: 1 });
    await house.as('member').command(CHANNEL, '/deckhand whoami');
    await house.slack.until(() => said().at(-1)?.includes('ann@example.com'));
    expect(said().slice(0, 2)).toEqual([
      expect.stringMatching(/Still working on it:/),
      expect.stringContaining('10 s so far'),
    ]);
  });

  it('as a click says so too', async () => {
    await house.connect();
    await house.as('member').command(CHANNEL, '/deckhand activity');
    const feed = await house.slack.until(() => house.slack.ephemerals(TEAM, PEOPLE.member).at(-1));
    house.service.faults.add({ path: `/${ACCOUNT}/activity`, delayMs: 500, times: 1 });
    await house.as('member').click({ channel: CHANNEL, ts: feed.ts }, { actionId: 'activity:share' });
    await house.slack.until(() => said().some((text) => text.includes('Still working')));
  });

  it('as a form says for how long, until the outcome takes its place', async () => {
    const ann = house.as('admin');
    await ann.command(CHANNEL, '/deckhand connect');
    await house.slack.until(() => ann.openView()?.content.callback_id === 'connect');
    house.service.faults.add({ path: `/${ACCOUNT}/profile`, delayMs: 2_500, times: 1 });
    await ann.submit('connect', { account: ACCOUNT, email: EMAIL, api_key: API_KEY });
    const shown = () => JSON.stringify(ann.openView()?.content.blocks ?? []);
    expect(shown()).toContain('One moment');
    await house.slack.until(() => shown().includes('10 s so far'));
    await house.slack.until(() => shown().includes('Done'));
  });

  it('as a test run shows how many have their result', async () => {
    await house.stop();
    const quick: Clock = { ...clock, now: () => systemClock.now() };
    house = await openTestWorld({ clock: quick });
    await house.connect();
    const running = { identifier: 'run-1', status: 'running', created_at: new Date().toISOString() };
    const results = {
      repository: { status: 'ok' },
      servers: [{ identifier: 'web-1', name: 'web-1', status: 'ok' }],
    };
    const path = `/${ACCOUNT}/projects/*/test_access/*`;
    house.service.faults.add({ path, status: 503, times: 3 });
    house.service.faults.add({ path, status: 200, body: { ...running, results } });
    await house.as('member').command(CHANNEL, '/deckhand test storefront');
    await house.slack.until(() =>
      house.slack.messages(TEAM, CHANNEL).at(-1)?.text.includes('running, 2 tested so far'),
    );
  });
});
