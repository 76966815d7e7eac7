import { describe, expect, it } from 'vitest';
import { FairGate } from '../../src/core/shares.ts';
import { Polling } from '../../src/scheduler/run-follower.ts';
import { createManualClock, type ManualClock } from '../support/manual-clock.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const config = { POLL_INTERVAL_MS: 1_000 };

/** Looks for ten minutes; `onLook` may find something. */
function start(
  clock: ManualClock,
  onLook: (answered: () => void) => Promise<string | undefined> | string | undefined,
  { polls = openGate(), signal = new AbortController().signal } = {},
) {
  const options = { account: 'acme', signal, deadline: clock.now() + 10 * MINUTE };
  const polling = new Polling({ clock, config, polls }, options);
  const outcome: { ended?: string } = {};
  polling
    .until(async (_, answered) => onLook(answered))
    .then(
      (found) => {
        outcome.ended = found ?? 'given up';
      },
      (error: Error) => {
        outcome.ended = error.message;
      },
    );
  return outcome;
}

/** For one look of an account at a time. */
function openGate(): FairGate {
  return new FairGate({ most: 2, mostOfKey: 1 });
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

describe('while another look of the account goes on', () => {
  /** The service does not answer it. */
  function lookInVain(clock: ManualClock, polls: FairGate): { answer(): void } {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    start(clock, () => promise, { polls });
    return { answer: () => resolve(undefined) };
  }

  it('waits until the service has answered that one', async () => {
    const clock = createManualClock();
    const polls = openGate();
    const first = lookInVain(clock, polls);
    await clock.advance(1_000);
    const outcome = start(clock, () => 'found', { polls });
    await clock.advance(3_000);
    expect(outcome.ended).toBeUndefined();
    first.answer();
    await expect.poll(() => outcome.ended).toBe('found');
  });

  it('waits no longer once the answer is there, whatever follows from that', async () => {
    const clock = createManualClock();
    const polls = openGate();
    const follow = async (answered: () => void) => {
      await clock.sleep(100);
      answered();
      return new Promise<undefined>(() => undefined);
    };
    start(clock, follow, { polls });
    await clock.advance(1_000);
    const outcome = start(clock, () => 'found', { polls });
    await clock.advance(2_000);
    await expect.poll(() => outcome.ended).toBe('found');
  });

  it('waits no more than five seconds for a service that does not answer', async () => {
    const clock = createManualClock();
    const polls = openGate();
    lookInVain(clock, polls);
    await clock.advance(1_000);
    const outcomes = [1, 2, 3].map(() => start(clock, () => 'found', { polls }));
    await clock.advance(6_000);
    expect(outcomes).toEqual([{ ended: 'found' }, { ended: 'found' }, { ended: 'found' }]);
  });

  it('waits no more once it is not wanted, and takes the turn of no other', async () => {
    const clock = createManualClock();
    const polls = openGate();
    const first = lookInVain(clock, polls);
    await clock.advance(1_000);
    const abort = new AbortController();
    let looks = 0;
    const look = () => {
      looks += 1;
      return undefined;
    };
    const outcome = start(clock, look, { polls, signal: abort.signal });
    await clock.advance(2_000);
    abort.abort(new Error('not wanted'));
    await expect.poll(() => outcome.ended).toBe('not wanted');
    const other = start(clock, () => 'found', { polls });
    await clock.advance(2_000);
    first.answer();
    await expect.poll(() => other.ended).toBe('found');
    expect(looks).toBe(0);
  });
});

it('ends its pause once it is not wanted', async () => {
  const clock = createManualClock();
  const abort = new AbortController();
  const outcome = start(clock, () => 'found', { signal: abort.signal });
  await clock.advance(500);
  abort.abort(new Error('not wanted'));
  await expect.poll(() => outcome.ended).toBe('not wanted');
});
