import { describe, expect, test } from 'vitest';
import type { Period } from '../../../service/activity/periods.ts';
import { describeDuration, statisticsOf } from '../../../service/activity/statistics.ts';

const period: Period = { from: 1_000, to: 2_000, previous: { from: 0, to: 500 } };

/** Deployments as text: `+` went well, `-` failed; each at the given time. */
function deployments(marks: [string, number][]) {
  return marks.map(([mark, endedAt]) => ({ endedAt, durationMs: 60_000, succeeded: mark === '+' }));
}

describe('statistics', () => {
  test.each<[string, [string, number][], object]>([
    ['nothing at all', [], { totalDeployments: 0, totalDelta: 0, successRate: null, successRateDelta: null }],
    [
      'nothing before',
      [['+', 1_500]],
      { totalDeployments: 1, totalDelta: 1, successRate: 100, successRateDelta: null },
    ],
    [
      'nothing now',
      [['+', 100]],
      { totalDeployments: 0, totalDelta: -1, successRate: null, successRateDelta: null },
    ],
    [
      'better than before',
      [
        ['+', 1_500],
        ['+', 1_600],
        ['-', 1_700],
        ['-', 100],
        ['+', 200],
      ],
      { totalDeployments: 3, totalDelta: 1, successRate: 66.7, successRateDelta: 16.7 },
    ],
    [
      'only failures',
      [
        ['-', 1_500],
        ['+', 100],
      ],
      { totalDeployments: 1, totalDelta: 0, successRate: 0, successRateDelta: -100 },
    ],
    [
      'edges: the first moment counts, the one after the last does not, nor does the gap between',
      [
        ['+', 1_000],
        ['+', 2_000],
        ['+', 500],
        ['+', 999],
        ['+', 0],
      ],
      { totalDeployments: 1, totalDelta: 0, successRate: 100, successRateDelta: 0 },
    ],
  ])('%s', (_, marks, expected) => {
    expect(statisticsOf(deployments(marks), period)).toMatchObject(expected);
  });

  test('the average is over the period alone', () => {
    const some = [
      { endedAt: 1_500, durationMs: 60_000, succeeded: true },
      { endedAt: 1_600, durationMs: 121_000, succeeded: false },
      { endedAt: 100, durationMs: 900_000, succeeded: true },
    ];
    expect(statisticsOf(some, period).averageDuration).toBe('1m 31s');
  });

  test.each([
    [0, '0s'],
    [44_600, '45s'],
    [60_000, '1m 0s'],
    [59_700, '1m 0s'],
    [3_720_000, '1h 2m'],
  ])('%i ms are %s', (ms, text) => {
    expect(describeDuration(ms)).toBe(text);
  });
});
