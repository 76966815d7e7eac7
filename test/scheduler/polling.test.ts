import { expect, it } from 'vitest';
import { Polling } from '../../src/scheduler/run-follower.ts';
import { createManualClock, type ManualClock } from '../support/manual-clock.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const config = { POLL_INTERVAL_MS: 1_000 };

/** Looks for ten minutes; `onLook` may find something. */
function start(clock: ManualClock, onLook: () => string | undefined) {
  const polling = new Polling(
    { clock, config },
    {
      signal: new AbortController().signal,
      deadline: clock.now() + 10 * MINUTE,
    },
  );
  const outcome: { ended?: string } = {};
  void polling
    .until(async () => onLook())
    .then((found) => {
      outcome.ended = found ?? 'given up';
    });
  return outcome;
}

it.each([HOUR, -HOUR])('looks for its ten minutes though the clock is set by %d ms meanwhile', async (ms) => {
  const clock = createManualClock();
  let looks = 0;
  const outcome = start(clock, () => {
    looks += 1;
    return undefined;
  });
  await clock.advance(5 * MINUTE);
  clock.jump(ms);
  await clock.advance(4 * MINUTE);
  expect(outcome.ended).toBeUndefined();
  const before = looks;
  await clock.advance(2 * MINUTE);
  expect(outcome.ended).toBe('given up');
  expect(looks).toBeGreaterThan(before);
});

it('looks once more after its time, for what ended while nobody looked', async () => {
  const clock = createManualClock();
  const outcome = start(clock, () => (clock.now() >= ends ? 'found' : undefined));
  const ends = clock.now() + 10 * MINUTE;
  await clock.advance(11 * MINUTE);
  expect(outcome.ended).toBe('found');
});
