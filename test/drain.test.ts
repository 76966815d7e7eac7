import { request } from 'undici';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ACCOUNT, CHANNEL, openTestWorld, PEOPLE, TEAM, type TestWorld } from './support/test-world.ts';

/** Longer than a test may take: whatever waits for it makes the test fail. */
const GRACE_MS = 60_000;

describe('a process that is told to end', () => {
  let house: TestWorld;

  beforeEach(async () => {
    house = await openTestWorld();
    await house.connect();
  });
  afterEach(() => house.stop());

  const get = async (path: string) => {
    const { statusCode, body } = await request(`${house.origin}${path}`);
    return { status: statusCode, text: await body.text() };
  };
  /** Slack's own notice of a command that failed aside. */
  const answers = () =>
    house.slack
      .ephemerals(TEAM, PEOPLE.member)
      .map(({ text }) => text)
      .filter((text) => !text.includes('http_service_error'));

  it('says so until its end, takes nothing new, and finishes what it has begun', async () => {
    house.service.faults.add({ path: `/${ACCOUNT}/profile`, delayMs: 1_000, times: 1 });
    const asked = house.service.requests.nextArrival(({ path }) => path.includes('profile'));
    await house.as('member').command(CHANNEL, '/deckhand whoami');
    await asked;

    const stopped = house.app.stop(GRACE_MS);
    expect(await get('/readyz')).toEqual({ status: 503, text: 'draining' });
    expect((await get('/healthz')).status).toBe(200);
    const { outcome } = await house.as('member').command(CHANNEL, '/deckhand projects');
    expect(outcome).toBe('http_service_error');
    expect(answers()).toEqual([]);

    await stopped;
    expect(answers()).toEqual([expect.stringContaining(ACCOUNT)]);
    await expect(get('/readyz')).rejects.toThrow();
  });

  it('hands followed runs back at once', async () => {
    house.service.world.setRunOutcome({ account: ACCOUNT, project: 'storefront', durationMs: 3_600_000 });
    await house.as('member').command(CHANNEL, '/deckhand test storefront');
    await house.slack.until(() => house.slack.messages(TEAM, CHANNEL)[0]?.text.includes('running'));
    await house.app.stop(GRACE_MS);
    expect((await house.app.parts.engine.stats()).queues['follow-test']).toMatchObject({
      waiting: 1,
      running: 0,
    });
  });
});
