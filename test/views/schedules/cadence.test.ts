import fc from 'fast-check';
import { expect, it } from 'vitest';
import { unmarked } from '../../../src/core/mrkdwn.ts';
import { nextOccurrence, parseCron } from '../../../src/core/time/cron.ts';
import { CronError } from '../../../src/core/time/zone.ts';
import { cadenceWords } from '../../../src/views/schedules/words.ts';
import { byLength } from '../../support/length.ts';

const wordsFor = (cron: string) => cadenceWords({ cadence: { kind: 'cron', cron }, zone: 'UTC' });

it.each([
  ['0 9 * * 1-5', 'from Monday to Friday at 09:00, UTC'],
  ['0 9 * * MON-FRI', 'from Monday to Friday at 09:00, UTC'],
  ['30 7 * * *', 'every day at 07:30, UTC'],
  ['30 7 ? * ?', 'every day at 07:30, UTC'],
  ['5 18 * * 1,4', 'every Monday and Thursday at 18:05, UTC'],
  ['0 8 * * 0', 'every Sunday at 08:00, UTC'],
  ['0 8 * * 7', 'every Sunday at 08:00, UTC'],
  ['0 9 * * mon', 'every Monday at 09:00, UTC'],
  ['0 9 * * 1-5/2', 'every Monday, Wednesday and Friday at 09:00, UTC'],
  ['0 9,17 * * *', 'every day at 09:00 and 17:00, UTC'],
  ['0 8-20/6 * * *', 'every day at 08:00, 14:00 and 20:00, UTC'],
  ['*/15 * * * *', 'every 15 minutes, UTC'],
  ['0,30 * * * *', 'every 30 minutes, UTC'],
  ['*/45 * * * *', 'at `*/45 * * * *`, UTC'],
  ['*/60 * * * *', 'every hour, UTC'],
  ['42 * * * *', 'at 42 minutes past every hour, UTC'],
  ['0 */6 * * *', 'every 6 hours, UTC'],
  ['30 */6 * * *', 'at `30 */6 * * *`, UTC'],
  ['0 */5 * * *', 'at `0 */5 * * *`, UTC'],
  ['0 */24 * * *', 'every day at 00:00, UTC'],
  ['0 9 1 * *', 'at `0 9 1 * *`, UTC'],
  ['0 9 1-31 * 1', 'every day at 09:00, UTC'],
  ['0 9 * 1 *', 'at `0 9 * 1 *`, UTC'],
  ['0 9-17 * * 1', 'at `0 9-17 * * 1`, UTC'],
])('%s is %s', (cron, words) => {
  expect(wordsFor(cron)).toBe(words);
});

it('shows a line in a menu, which has no markup, as it was typed', () => {
  expect(unmarked(`*acme* ${wordsFor('*/45 * * * *')}`)).toBe('acme at */45 * * * *, UTC');
});

const DAY_MS = 86_400_000;
const start = Date.UTC(2026, 2, 2) - 1;

function runsWithin(cron: string, days: number): string[] {
  const runs: string[] = [];
  for (let at = start; ; ) {
    at = nextOccurrence(cron, 'UTC', at);
    if (at > start + days * DAY_MS) return runs;
    runs.push(new Date(at).toISOString().slice(0, 16));
  }
}

function wordsOrRefusal(cron: string): string {
  try {
    return wordsFor(cron);
  } catch (error) {
    if (error instanceof CronError) return 'refused';
    throw error;
  }
}

const DAYS = { 'every day': 7, 'from Monday to Friday': 5 };

/** @param runs of a week */
function expectRuns(words: string, runs: readonly string[]): void {
  const [, step, unit] = /^every (\d+) (minute|hour)s/.exec(words) ?? [];
  if (step !== undefined) {
    const gapMs = Number(step) * (unit === 'hour' ? 60 : 1) * 60_000;
    expect(runs.length, words).toBe((7 * DAY_MS) / gapMs);
    expect(new Set(runs.map((run, at) => Date.parse(`${run}Z`) - at * gapMs)).size, words).toBe(1);
  }
  const times = words.match(/\d\d:\d\d/g);
  if (times === null) return;
  expect([...new Set(runs.map((run) => run.slice(11)))], words).toEqual(times);
  const days = Object.entries(DAYS).find(([said]) => words.startsWith(said))?.[1];
  expect(new Set(runs.map((run) => run.slice(0, 10))).size, words).toBe(
    days ?? words.match(/day/g)?.length ?? 0,
  );
}

it('says “every n minutes” or “hours”, a time or a day of any line only if it runs then and at no other time', () => {
  const field = (min: number, max: number): fc.Arbitrary<string> => {
    const value = fc.integer({ min, max });
    const step = fc.integer({ min: 1, max: max + 1 });
    const part = fc.oneof(
      fc.constant('*'),
      value.map(String),
      step.map((each) => `*/${each}`),
      fc.tuple(value, value, step).map(([from, to, each]) => `${from}-${to}/${each}`),
    );
    return fc.oneof(
      part,
      fc.array(part, { minLength: 2, maxLength: 3 }).map((parts) => parts.join(',')),
    );
  };
  const day = fc.oneof(fc.constantFrom('*', '1-31', '1'), field(1, 28));
  const weekday = fc.oneof(fc.constantFrom('*', '1-5', 'MON', '7'), field(0, 6));
  const line = fc.tuple(field(0, 59), field(0, 23), day, fc.constantFrom('*', '*/1', '3'), weekday);
  fc.assert(
    fc.property(line, (fields) => {
      const cron = fields.join(' ');
      const words = wordsOrRefusal(cron);
      if (words !== 'refused' && !words.startsWith('at `')) expectRuns(words, runsWithin(cron, 7));
    }),
    { numRuns: byLength(1_000, 5_000) },
  );
});

it.each(['*/90 * * * *', '0 */36 * * *', '0 9 */40 * *', '0 9 * */13 *', '0 9 * * */8', '10-20/30 * * * *'])(
  '%s is refused: its step is larger than its field',
  (cron) => {
    expect(() => parseCron(cron)).toThrow('A step is larger than its field');
  },
);
