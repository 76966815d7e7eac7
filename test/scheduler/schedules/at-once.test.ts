import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { undoRemoval } from '../../../src/scheduler/schedules/remove-schedules.ts';
import { jobsToEnd } from '../../support/jobs-to-end.ts';
import { freshDatabase } from '../../support/postgres.ts';
import { sendCommand } from '../../support/signed.ts';
import { CHANNEL, openTestWorld, TEAM, type TestWorld } from '../../support/test-world.ts';
import { say } from '../channel.ts';

interface Button {
  action_id?: string;
  value?: string;
}

/** What several people ask for at the same moment. On Postgres, where each step waits for the database. */
describe('at the same time', () => {
  let world: TestWorld;
  beforeEach(async () => {
    world = await openTestWorld({ env: { STORE_URL: await freshDatabase() } });
    onTestFinished(() => world.stop());
    await world.connect();
    world.slack.invite(TEAM, CHANNEL, 'bot');
  });

  const watches = () => world.app.workspaces.open(TEAM).schedules.list('watch');
  const untilDone = () => jobsToEnd(world, ['requests']);

  it('a watch that is set up by several is one', async () => {
    const modes = ['all', 'failures', 'transitions', 'all', 'failures', 'transitions'];
    await Promise.all(modes.map((mode) => sendCommand(world, `watch storefront ${mode}`)));
    await untilDone();
    expect(await watches()).toHaveLength(1);
  });

  it('a removal that is undone by several is undone once', async () => {
    await say(world, 'watch storefront all');
    const answer = JSON.parse(await say(world, 'unwatch storefront'));
    const blocks: Array<{ elements?: Button[] }> = answer.blocks;
    const buttons = blocks.flatMap(({ elements = [] }) => elements);
    const undo = buttons.find(({ action_id }) => action_id === 'watch:undo')?.value;
    expect(undo).toContain('removal');
    const { removal: removalRequest } = JSON.parse(undo ?? '{}');
    const workspace = world.app.workspaces.open(TEAM);
    const restore = (undoRequest: string) =>
      undoRemoval(workspace, 'watch', { removalRequest, undoRequest }, async () => undefined);
    const restored = await Promise.all(['ann', 'ben', 'bea', 'bob'].map(restore));
    expect(restored.filter((one) => one !== undefined)).toHaveLength(1);
    expect(await watches()).toHaveLength(1);
  });
});
