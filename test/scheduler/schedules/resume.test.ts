import { expect, onTestFinished, test } from 'vitest';
import { resumeSchedule } from '../../../src/scheduler/schedules/start.ts';
import { openProxy } from '../../support/proxy.ts';
import { ACCOUNT, CHANNEL, openTestWorld, TEAM } from '../../support/test-world.ts';

test('a watch that is resumed while its last poll ends goes on being polled', async () => {
  const proxy = await openProxy();
  onTestFinished(() => proxy.close());
  const world = await openTestWorld({
    env: { NOTICE_INTERVAL_MS: '40', SERVICE_BASE_URL: `${proxy.origin}/{account}` },
  });
  onTestFinished(() => world.stop());
  proxy.target = world.service.origin;
  world.slack.invite(TEAM, CHANNEL, 'bot');
  await world.connect();
  const blocks = () => JSON.stringify(world.slack.messages(TEAM, CHANNEL));
  const say = (words: string) => world.as('admin').command(CHANNEL, `/deckhand ${words}`);
  await say('watch all');
  await world.slack.until(() => blocks().includes('now hears'), { what: 'the watch' });

  const asked = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  proxy.change = async (body, path) => {
    if (!path.includes('/activity')) return body;
    asked.resolve();
    await gate.promise;
    return body;
  };
  await asked.promise;
  await say('watch pause');
  await world.slack.until(() => blocks().includes('paused the watch'), { what: 'the pause' });
  const workspace = world.app.workspaces.open(TEAM);
  const [schedule] = await workspace.schedules.list('watch');
  if (schedule === undefined) throw new Error('there is no watch');

  /** The last poll ends after the watch was begun again, and before it is stored as active. */
  async function endPoll(): Promise<void> {
    gate.resolve();
    const polls = async () => (await world.app.parts.engine.stats())['watch-activity'];
    await expect.poll(polls, { timeout: 10_000 }).toMatchObject({ waiting: 0, running: 0 });
  }
  await resumeSchedule(workspace, schedule, { prepared: endPoll });

  world.service.world.addDeployment({
    account: ACCOUNT,
    project: 'storefront',
    succeeded: true,
    endRef: 'after01',
  });
  await world.slack.until(() => blocks().includes('after01'), { what: 'the event' });
});
