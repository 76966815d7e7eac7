import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nextPollMs } from '../../src/core/retry.ts';

const NOW = Date.parse('2026-03-02T09:00:00Z');
const INTERVAL = { intervalMs: 2_500, failures: 0, retryAt: undefined, now: NOW };
const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

describe('the pause before the next look', () => {
  it('is at most a tenth shorter than the interval, and so within the 2 to 3 seconds of the specification', () => {
    fc.assert(
      fc.property(random, (given) => {
        const pause = nextPollMs({ ...INTERVAL, random: given });
        expect(pause).toBeGreaterThanOrEqual(2_250);
        expect(pause).toBeLessThanOrEqual(2_500);
      }),
    );
  });

  it('is never under two seconds, whatever interval from 2 to 3 seconds is configured', () => {
    fc.assert(
      fc.property(random, fc.integer({ min: 2_000, max: 3_000 }), (given, intervalMs) => {
        const pause = nextPollMs({ ...INTERVAL, intervalMs, random: given });
        expect(pause).toBeGreaterThanOrEqual(2_000);
        expect(pause).toBeLessThanOrEqual(intervalMs);
      }),
    );
  });

  it('doubles with each failure, up to a minute', () => {
    const pauses = [1, 2, 3, 4, 5, 6, 50].map((failures) => nextPollMs({ ...INTERVAL, failures, random: 0 }));
    expect(pauses).toEqual([5_000, 10_000, 20_000, 40_000, 60_000, 60_000, 60_000]);
  });

  it('is never shorter than what the service asks for', () => {
    fc.assert(
      fc.property(random, fc.nat(100), fc.nat(10_000_000), (given, failures, asked) => {
        const pause = nextPollMs({ ...INTERVAL, failures, retryAt: NOW + asked, random: given });
        expect(pause).toBeGreaterThanOrEqual(asked);
      }),
    );
  });
});
