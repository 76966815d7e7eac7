import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ask } from '../support/asking.ts';
import { type Disk, mountDisk } from '../support/disk.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { CHANNEL, openTestWorld, TEAM, type TestWorld } from '../support/test-world.ts';

describe('a disk that is full', () => {
  let disk: Disk | undefined;
  let world: TestWorld | undefined;

  beforeEach(async (context) => {
    const folder = await temporaryFolder();
    disk = mountDisk(folder);
    if (disk === undefined) context.skip('a small disk can be mounted by root on Linux alone');
    world = await openTestWorld({ env: { STORE_URL: `sqlite://${folder}/deckhand.sqlite` } });
  });
  afterEach(async () => {
    disk?.free();
    await world?.stop();
    disk?.close();
  });

  const bound = ({ slack }: TestWorld) =>
    slack.messages(TEAM, CHANNEL).filter(({ text }) => text.includes('bound this channel'));

  it('is told to the asker and by the readiness, and forgotten once there is room', async () => {
    if (world === undefined) return;
    const { origin, slack } = world;
    const readiness = async () => {
      const answer = await fetch(`${origin}/readyz`);
      return `${answer.status} ${await answer.text()}`;
    };
    const metrics = async () => (await fetch(`${origin}/metrics`)).text();
    await world.connect();
    disk?.fill();
    await expect.poll(readiness).toBe('200 ready, store: does not answer');
    expect(await metrics()).toContain('deckhand_engine_up 0');
    expect(await ask(world, '/deckhand use storefront', 'admin')).toMatch(
      /cannot store anything at the moment, so nothing was done\. Try again in a minute\. Reference `\w+`/,
    );
    disk?.free();
    await expect.poll(readiness).toBe('200 ready');
    await world.as('admin').command(CHANNEL, '/deckhand use storefront');
    await slack.until(() => bound(world as TestWorld).length === 1);
  });
});
