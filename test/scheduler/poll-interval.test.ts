import fc from 'fast-check';
import { expect, it } from 'vitest';
import { nextPollMs } from '../../src/core/retry.ts';
import { pollUntil } from '../../src/scheduler/follow.ts';
import { createManualClock } from '../support/manual-clock.ts';

const NOW = Date.parse('2026-03-02T09:00:00Z');
const INTERVAL = { intervalMs: 2_500, failures: 0, retryAt: undefined, now: NOW };
const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

it('a pause is at most a tenth shorter than the interval, and never under two seconds', () => {
  fc.assert(
    fc.property(random, fc.integer({ min: 2_000, max: 3_000 }), (given, intervalMs) => {
      const pause = nextPollMs({ ...INTERVAL, intervalMs, random: given });
      expect(pause).toBeGreaterThanOrEqual(Math.max(2_000, Math.floor(intervalMs * 0.9)));
      expect(pause).toBeLessThanOrEqual(intervalMs);
    }),
  );
});

it('a pause is never shorter than what the service asks for', () => {
  fc.assert(
    fc.property(random, fc.nat(100), fc.nat(10_000_000), (given, failures, asked) => {
      const pause = nextPollMs({ ...INTERVAL, failures, retryAt: NOW + asked, random: given });
      expect(pause).toBeGreaterThanOrEqual(asked);
    }),
  );
});

it('the last poll comes after the time for following is over, for what ended while nobody looked', async () => {
  const clock = createManualClock();
  const ends = clock.now() + 600_000;
  const loop = { signal: new AbortController().signal, deadline: ends };
  const found = pollUntil({ clock, config: { POLL_INTERVAL_MS: 1_000 } }, loop, async () =>
    clock.now() >= ends ? 'found' : undefined,
  );
  await clock.advance(660_000);
  expect(await found).toBe('found');
});
