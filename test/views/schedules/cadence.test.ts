import { expect, it } from 'vitest';
import { cadenceWords } from '../../../src/views/schedules/timed.ts';

it.each([
  ['0 9 * * 1-5', 'from Monday to Friday at 09:00, UTC'],
  ['30 7 * * *', 'every day at 07:30, UTC'],
  ['5 18 * * 1,4', 'every Monday and Thursday at 18:05, UTC'],
  ['0 8 * * 0', 'every Sunday at 08:00, UTC'],
  ['*/15 * * * *', 'every 15 minutes, UTC'],
  ['0 */6 * * *', 'every 6 hours, UTC'],
  ['0 9 1 * *', 'at `0 9 1 * *`, UTC'],
  ['0 9-17 * * 1', 'at `0 9-17 * * 1`, UTC'],
  ['0 9 * * mon', 'at `0 9 * * mon`, UTC'],
])('%s is %s', (cron, words) => {
  expect(cadenceWords({ cadence: { kind: 'cron', cron }, zone: 'UTC' })).toBe(words);
});
