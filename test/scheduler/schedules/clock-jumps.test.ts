import { describe, expect, it, onTestFinished } from 'vitest';
import { type Clock, DAY_MS, HOUR_MS, systemClock } from '../../../src/core/time/clock.ts';
import { isPostgres } from '../../../src/store/open-store.ts';
import { setDatabaseClock } from '../../process/database-clock.ts';
import { byLength } from '../../support/length.ts';
import { freshDatabase } from '../../support/postgres.ts';
import { CHANNEL, openTestWorld, TEAM } from '../../support/test-world.ts';
import { say } from '../channel.ts';

const JUMPS = byLength(12, 40);
/** So many times faster than the process looks at the time, which takes 30 s without `lookMs`. */
const SPEED = 10;
const LOOK_MS = (systemClock.lookMs ?? 30_000) / SPEED;
/** Mean real wait for a digest that is due. */
const WAIT_MS = 1_500;

/** A clock that is set forward while timers go on, as on a laptop that slept or a machine that was moved. */
function createJumpingClock(storeUrl: string | undefined) {
  let aheadMs = 0;
  const clock: Clock = { ...systemClock, lookMs: LOOK_MS, now: () => systemClock.now() + aheadMs };
  return {
    clock,
    async jumpTo(at: number): Promise<void> {
      aheadMs = at - systemClock.now();
      if (storeUrl !== undefined && isPostgres(storeUrl)) await setDatabaseClock(storeUrl, aheadMs);
    },
  };
}

describe.each([{ store: 'SQLite' }, { store: 'Postgres' }])('on $store', ({ store }) => {
  it('each daily digest is posted at once after the clock jumps by days', async () => {
    const storeUrl = store === 'Postgres' ? await freshDatabase() : undefined;
    const { clock: time, jumpTo } = createJumpingClock(storeUrl);
    const world = await openTestWorld({
      time,
      ...(storeUrl === undefined ? {} : { env: { STORE_URL: storeUrl } }),
    });
    onTestFinished(() => world.stop());
    await world.connect();
    world.slack.invite(TEAM, CHANNEL, 'bot');
    await say(world, 'watch all failures');
    await say(world, 'digest add daily 09:00 UTC');
    const posted = () =>
      world.slack.messages(TEAM, CHANNEL).filter(({ text }) => text.includes('Deployment digest')).length;
    let waitedMs = 0;
    let day = Math.floor(time.now() / DAY_MS);
    for (let jump = 1; jump <= JUMPS; jump += 1) {
      day += 1 + (jump % 3);
      await jumpTo(day * DAY_MS + 9 * HOUR_MS + 1_000);
      const began = performance.now();
      await world.slack.until(() => posted() >= jump, { what: `digest ${jump}` });
      waitedMs += performance.now() - began;
    }
    expect(waitedMs / JUMPS).toBeLessThan(WAIT_MS);
  });
});
