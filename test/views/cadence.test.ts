import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { unmarked } from '../../src/core/mrkdwn.ts';
import { nextOccurrence, parseCron } from '../../src/core/time/cron.ts';
import { CronError } from '../../src/core/time/zone.ts';
import { cadenceWords } from '../../src/views/schedules/details.ts';
import { byLength } from '../support/length.ts';

describe('when a schedule runs', () => {
  const describeLine = (cron: string) => cadenceWords({ cadence: { kind: 'cron', cron }, zone: 'UTC' });

  it.each([
    ['0 9 * * 1-5', 'from Monday to Friday at 09:00, UTC'],
    ['30 7 ? * ?', 'every day at 07:30, UTC'],
    ['5 18 * * 1,4', 'every Monday and Thursday at 18:05, UTC'],
    ['0 8 * * 0', 'every Sunday at 08:00, UTC'],
    ['0 9 * * 1-5/2', 'every Monday, Wednesday and Friday at 09:00, UTC'],
    ['*/15 * * * *', 'every 15 minutes, UTC'],
    ['*/45 * * * *', 'at `*/45 * * * *`, UTC'],
    ['42 * * * *', 'at 42 minutes past every hour, UTC'],
    ['0 */6 * * *', 'every 6 hours, UTC'],
    ['30 */6 * * *', 'at `30 */6 * * *`, UTC'],
    ['0 9 1-31 * 1', 'every day at 09:00, UTC'],
    ['0 9 * 1 *', 'at `0 9 * 1 *`, UTC'],
  ])('%s is %s', (cron, words) => {
    expect(describeLine(cron)).toBe(words);
  });

  it('is the line as it was typed in a menu, which has no markup', () => {
    expect(unmarked(`*acme* ${describeLine('*/45 * * * *')}`)).toBe('acme at */45 * * * *, UTC');
  });

  it('is described by words only if it runs then and at no other time', () => {
    fc.assert(
      fc.property(anyLine, (cron) => {
        const words = describeOrReject(cron);
        if (words !== 'rejected' && !words.startsWith('at `')) expectRuns(words, listRuns(cron));
      }),
      { numRuns: byLength(150, 5_000) },
    );
  });

  it.each(['*/90 * * * *', '0 9 * * */8', '10-20/30 * * * *'])(
    '%s is rejected: its step is larger than its field',
    (cron) => {
      expect(() => parseCron(cron)).toThrow('A step is larger than its field');
    },
  );

  const DAY_MS = 86_400_000;
  const start = Date.UTC(2026, 2, 2) - 1;

  /** Times of a week. */
  function listRuns(cron: string): string[] {
    const runs: string[] = [];
    for (let at = start; ; ) {
      at = nextOccurrence(cron, 'UTC', at);
      if (at > start + 7 * DAY_MS) return runs;
      runs.push(new Date(at).toISOString().slice(0, 16));
    }
  }

  function describeOrReject(cron: string): string {
    try {
      return describeLine(cron);
    } catch (error) {
      if (error instanceof CronError) return 'rejected';
      throw error;
    }
  }

  const DAYS = { 'every day': 7, 'from Monday to Friday': 5 };

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
    const days = Object.entries(DAYS).find(([beginning]) => words.startsWith(beginning))?.[1];
    expect(new Set(runs.map((run) => run.slice(0, 10))).size, words).toBe(
      days ?? words.match(/day/g)?.length ?? 0,
    );
  }
});

function anyField(min: number, max: number): fc.Arbitrary<string> {
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
}

const anyLine = fc
  .tuple(
    anyField(0, 59),
    anyField(0, 23),
    fc.oneof(fc.constantFrom('*', '1-31', '1'), anyField(1, 28)),
    fc.constantFrom('*', '*/1', '3'),
    fc.oneof(fc.constantFrom('*', '1-5', 'MON', '7'), anyField(0, 6)),
  )
  .map((fields) => fields.join(' '));
