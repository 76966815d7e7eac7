import { expect, it } from 'vitest';
import { pollUntil } from '../../src/scheduler/follow.ts';
import { createManualClock, type ManualClock } from '../support/manual-clock.ts';

const MINUTE = 60_000;
const config = { POLL_INTERVAL_MS: 1_000 };

/** Looks for ten minutes; `onLook` may find something. */
function start(clock: ManualClock, onLook: () => string | undefined, signal = new AbortController().signal) {
  const outcome: { ended?: string } = {};
  const loop = { signal, deadline: clock.now() + 10 * MINUTE };
  pollUntil({ clock, config }, loop, async () => onLook()).then(
    (found) => {
      outcome.ended = found ?? 'given up';
    },
    (error: Error) => {
      outcome.ended = error.message;
    },
  );
  return outcome;
}

it('looks once more after its time, for what ended while nobody looked', async () => {
  const clock = createManualClock();
  const outcome = start(clock, () => (clock.now() >= ends ? 'found' : undefined));
  const ends = clock.now() + 10 * MINUTE;
  await clock.advance(11 * MINUTE);
  expect(outcome.ended).toBe('found');
});

it('gives up after its time', async () => {
  const clock = createManualClock();
  const outcome = start(clock, () => undefined);
  await clock.advance(11 * MINUTE);
  expect(outcome.ended).toBe('given up');
});

it('ends its pause once it is not wanted', async () => {
  const clock = createManualClock();
  const abort = new AbortController();
  const outcome = start(clock, () => 'found', abort.signal);
  await clock.advance(500);
  abort.abort(new Error('not wanted'));
  await expect.poll(() => outcome.ended).toBe('not wanted');
});
