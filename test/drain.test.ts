import { request } from 'undici';
import { describe, expect } from 'vitest';
import { test } from './support/fixtures.ts';
import { sendEvent } from './support/signed.ts';
import { storedText } from './support/stored-text.ts';
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
  const answers = (world: TestWorld) => world.slack.ephemerals(TEAM, PEOPLE.member).map(({ text }) => text);
  const roots = (world: TestWorld) =>
    world.slack.messages(TEAM, CHANNEL).filter(({ text }) => text.includes('Storefront'));

  describe('behind Socket Mode', () => {
    test.override({ worldOptions: { slackApp: { socketMode: true } } });

    test('a process behind Socket Mode that is told to end says so until its end, answers what it can, and leaves changes to the next', async ({
      world,
    }) => {
      await beginSlowAnswer(world);

      const stopped = world.app.stop(GRACE_MS);
      expect(await get(world, '/readyz')).toEqual({ status: 503, text: 'draining' });
      expect((await get(world, '/healthz')).status).toBe(200);
      const ben = world.as('member');
      expect((await ben.command(CHANNEL, '/deckhand projects')).outcome).toBe('ok');
      expect((await ben.command(CHANNEL, '/deckhand test storefront')).outcome).toBe('ok');

      await stopped;
      for (const words of ['You use the shared key', '2 projects in'])
        expect(answers(world).filter((text) => text.includes(words))).toHaveLength(1);
      expect(roots(world)).toEqual([]);
      await expect(get(world, '/readyz')).rejects.toThrow();
      await world.restart(async () => undefined);
      await world.slack.until(() => roots(world)[0]?.text.includes('both servers are reachable'));
    });
  });

  test('a process that is told to end hands back what does not end in time as if it had not begun: nothing failed, and the next carries it out', async ({
    world,
  }) => {
    const { service, slack } = world;
    const hanging = service.faults.add({ path: `/${ACCOUNT}/projects.json`, delayMs: 3_600_000 });
    const begun = service.requests.nextArrival(({ path }) => path.includes('projects'));
    await world.as('member').command(CHANNEL, '/deckhand test storefront');
    await begun;
    await world.app.stop(200);
    await world.restart(async () => hanging.remove());
    await slack.until(() => roots(world)[0]?.text.includes('both servers are reachable'));
    expect(roots(world)).toHaveLength(1);
    expect(world.logs.filter((line) => /"event":"(?:bug|job_failed)"/.test(line))).toEqual([]);
    const entries = await world.app.workspaces.open(TEAM).audit.latest(10);
    expect(entries.map(({ entry }) => entry.result)).not.toContain('failed');
    expect(answers(world)).toEqual([]);
  });

  test('a process that is told to end stores the step of a workflow for the next, without its token', async ({
    world,
  }) => {
    await beginSlowAnswer(world);
    const stopped = world.app.stop(GRACE_MS);
    const event = {
      type: 'function_executed',
      function: { callback_id: 'test_access' },
      function_execution_id: 'Fx0STORED',
      inputs: {},
      bot_access_token: 'xwfp-of-a-step',
    };
    expect((await sendEvent(world, event, { token: 'verification' })).status).toBe(200);
    const stored = await storedText(world.config.STORE_URL);
    await stopped;
    expect(stored).toContain('Fx0STORED');
    expect(stored).not.toMatch(/xwfp-of-a-step|verification/);
  });
});
