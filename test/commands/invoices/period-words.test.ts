import { describe, expect, it } from 'vitest';
import { readPeriod } from '../../../src/commands/invoices/period-words.ts';

const NOVEMBER = { year: 2026, month: 11, day: 29 };
const JANUARY = { year: 2027, month: 1, day: 1 };
const read = (words: string, today = NOVEMBER) => {
  const { from, to } = readPeriod(words, today) ?? {};
  return from && `${from} ${to}`;
};

describe('words for a span of time', () => {
  it.each([
    ['q3', '2026-07-01 2026-09-30'],
    ['Q3 2025', '2025-07-01 2025-09-30'],
    ['2025-q3', '2025-07-01 2025-09-30'],
    ['3q', '2026-07-01 2026-09-30'],
    ['third quarter', '2026-07-01 2026-09-30'],
    ['the 1st quarter of 2025', '2025-01-01 2025-03-31'],
    ['quarter 2', '2026-04-01 2026-06-30'],
    ['q4', '2026-10-01 2026-12-31'],
    ['h1', '2026-01-01 2026-06-30'],
    ['first half of 2025', '2025-01-01 2025-06-30'],
    ['october', '2026-10-01 2026-10-31'],
    ['in October', '2026-10-01 2026-10-31'],
    ['oct', '2026-10-01 2026-10-31'],
    ['december', '2025-12-01 2025-12-31'],
    ['feb 2024', '2024-02-01 2024-02-29'],
    ['2024 february', '2024-02-01 2024-02-29'],
    ['2026-10', '2026-10-01 2026-10-31'],
    ['10/2026', '2026-10-01 2026-10-31'],
    ['2026', '2026-01-01 2026-12-31'],
    ['last month', '2026-10-01 2026-10-31'],
    ['previous quarter', '2026-07-01 2026-09-30'],
    ['last year', '2025-01-01 2025-12-31'],
    ['this quarter', '2026-10-01 2026-12-31'],
    ['month', '2026-11-01 2026-11-30'],
    ['last week', '2026-11-16 2026-11-22'],
    ['this week', '2026-11-23 2026-11-29'],
    ['ytd', '2026-01-01 2026-11-29'],
    ['year to date', '2026-01-01 2026-11-29'],
    ['last 3 months', '2026-08-01 2026-10-31'],
    ['last 2 quarters', '2026-04-01 2026-09-30'],
    ['90d', '2026-09-01 2026-11-29'],
    ['last 30 days', '2026-10-31 2026-11-29'],
    ['2026-10-05', '2026-10-05 2026-10-05'],
    ['yesterday', '2026-11-28 2026-11-28'],
    ['july to september', '2026-07-01 2026-09-30'],
    ['from 2026-10-05 to 2026-10-20', '2026-10-05 2026-10-20'],
    ['q1 - q2', '2026-01-01 2026-06-30'],
    ['october to december', '2026-10-01 2026-12-31'],
    ['november 2025 to february', '2025-11-01 2026-02-28'],
    ['since october', '2026-10-01 2026-11-29'],
    ['since 2026-03-01', '2026-03-01 2026-11-29'],
  ])('%s', (words, days) => {
    expect(read(words)).toBe(days);
  });

  it.each([
    ['last month', '2026-12-01 2026-12-31'],
    ['last quarter', '2026-10-01 2026-12-31'],
    ['december', '2026-12-01 2026-12-31'],
    ['january', '2027-01-01 2027-01-31'],
    ['q4', '2026-10-01 2026-12-31'],
    ['q1', '2027-01-01 2027-03-31'],
    ['november to january', '2026-11-01 2027-01-31'],
    ['this year', '2027-01-01 2027-12-31'],
    ['last week', '2026-12-21 2026-12-27'],
  ])('%s on the first day of a year', (words, days) => {
    expect(read(words, JANUARY)).toBe(days);
  });

  it.each([
    'storefront',
    'q5',
    'h3',
    'ma',
    '2026-13',
    '2026-02-30',
    'last',
    'to',
    'since 2027',
    '12',
    '9999',
    'x'.repeat(3000),
  ])('%s is none', (words) => {
    expect(read(words)).toBeUndefined();
  });
});
