import { describe, expect, it } from 'vitest';
import { readActivityWords } from '../../../src/commands/activity/activity-words.ts';

const NOTHING = { range: undefined, stats: false, project: undefined };

describe('the words after activity', () => {
  it.each([
    ['', {}],
    ['the last 7 days', { range: 'last_7_days' }],
    ['this week', { range: 'this_week' }],
    ['storefront today stats', { range: 'today', stats: true, project: 'storefront' }],
    ['90d stats storefront', { range: 'last_90_days', stats: true, project: 'storefront' }],
    ['the last 2 weeks', { range: 'last_14_days' }],
    ['quarter', { range: 'last_90_days' }],
    ['storefront 400 days', { range: 'last_400_days', project: 'storefront' }],
    ['7 days', { range: 'last_7_days' }],
    ['7d Billing API', { range: 'last_7_days', project: 'Billing API' }],
  ])('%j', (typed, expected) => {
    expect(readActivityWords(typed === '' ? [] : typed.split(' '))).toEqual({ ...NOTHING, ...expected });
  });

  it.each(['401d', '2 years', '24h', 'this year', 'yesterday 7d', 'today 7d'])(
    '%j is refused with the ranges there are',
    (typed) => {
      expect(() => readActivityWords(typed.split(' '))).toThrow(
        /`today`, `7d`, `30d`, `week`, and any number of days such as `90d`/,
      );
    },
  );
});
