import { expect, test } from 'vitest';
import { normaliseInstant } from '../../src/core/time/clock.ts';

const INSTANT = Date.parse('2026-11-20T09:30:00Z');

/** The forms of ISO 8601 for one instant. API 1 (docs/service-api.md) names none. */
test.each([
  '2026-11-20T09:30:00Z',
  '2026-11-20T09:30:00,000Z',
  '2026-11-20T10:30:00+01:00',
  '2026-11-20T10:30:00+01',
  '2026-11-20 04:30:00 -0500',
  '2026-11-20 09:30:00 UTC',
  '2026-11-20T09:30:00',
  '20261120T093000Z',
])('%s is read', (text) => {
  expect(Date.parse(normaliseInstant(text))).toBe(INSTANT);
});

test.each(['2026-11-20T09:30:00.123Z', '2026-11-20T10:30:00+01:00', '2026-11-20'])(
  '%s stays as it is',
  (text) => {
    expect(normaliseInstant(text)).toBe(text);
  },
);

test.each(['yesterday', '', '2026-13-40T99:00:00Z', '2026-11-20T09', '2026-W47-5T09:30:00Z'])(
  '%j is no instant',
  (text) => {
    expect(normaliseInstant(text)).toBe(text);
    expect(Date.parse(normaliseInstant(text))).toBeNaN();
  },
);
