import { request } from 'undici';
import { describe, expect } from 'vitest';
import { test } from './support/fixtures.ts';
import { ACCOUNT, CHANNEL, PEOPLE, TEAM, type TestWorld } from './support/test-world.ts';

/** Longer than a test may take: whatever waits for it makes the test fail. */
const GRACE_MS = 60_000;

describe('a process that is told to end', () => {
  test.override({ connected: true });

  const get = async (world: TestWorld, path: string) => {
    const { statusCode, body } = await request(`${world.origin}${path}`);
    return { status: statusCode, text: await body.text() };
  };
  /** A person's command that waits for the service. */
  const beginSlowAnswer = async (world: TestWorld): Promise<void> => {
    world.service.faults.add({ path: `/${ACCOUNT}/profile`, delayMs: 1_000, times: 1 });
    const asked = world.service.requests.nextArrival(({ path }) => path.includes('profile'));
    await world.as('member').command(CHANNEL, '/deckhand whoami');
    await asked;
  };
  /** Slack's own notice of a command that failed aside. */
  const answers = (world: TestWorld) =>
    world.slack
      .ephemerals(TEAM, PEOPLE.member)
      .map(({ text }) => text)
      .filter((text) => !text.includes('http_service_error'));

  test('a process that is told to end says so until its end, takes nothing new, and finishes what it has begun', async ({
    world,
  }) => {
    await beginSlowAnswer(world);

    const stopped = world.app.stop(GRACE_MS);
    expect(await get(world, '/readyz')).toEqual({ status: 503, text: 'draining' });
    expect((await get(world, '/healthz')).status).toBe(200);
    const { outcome } = await world.as('member').command(CHANNEL, '/deckhand projects');
    expect(outcome).toBe('http_service_error');
    expect(answers(world)).toEqual([]);

    await stopped;
    expect(answers(world)).toEqual([expect.stringContaining(ACCOUNT)]);
    await expect(get(world, '/readyz')).rejects.toThrow();
  });

  describe('behind Socket Mode', () => {
    test.override({ worldOptions: { slackApp: { socketMode: true } } });

    test('a process that is told to end takes nothing new from Socket Mode, and finishes what it has begun', async ({
      world,
    }) => {
      await beginSlowAnswer(world);

      const stopped = world.app.stop(GRACE_MS);
      // Slack waits for its acknowledgement for long.
      void world.as('member').command(CHANNEL, '/deckhand projects');

      await stopped;
      expect(answers(world).filter((text) => text.includes(ACCOUNT))).toHaveLength(1);
      expect(answers(world).join()).not.toContain('storefront');
    });
  });

  test('a process that is told to end hands followed runs back at once', async ({ world }) => {
    world.service.world.setRunOutcome({ account: ACCOUNT, project: 'storefront', durationMs: 3_600_000 });
    await world.as('member').command(CHANNEL, '/deckhand test storefront');
    await world.slack.until(() => world.slack.messages(TEAM, CHANNEL)[0]?.text.includes('running'));
    await world.app.stop(GRACE_MS);
    expect((await world.app.parts.engine.stats()).queues['follow-test']).toMatchObject({
      waiting: 1,
      running: 0,
    });
  });
});
