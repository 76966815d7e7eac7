import { describe, expect, it } from 'vitest';
import { money, monthly } from '../../../src/views/blocks/formats.ts';

describe('amounts of money', () => {
  it.each([
    [24, 'usd', '24.00 USD'],
    [7.6, 'eur', '7.60 EUR'],
    [1200, 'jpy', '1200 JPY'],
    ['1200.5', 'JPY', '1200.5 JPY'],
    ['19.999', 'usd', '19.999 USD'],
    ['-5.00', 'gbp', '-5.00 GBP'],
    ['1,234.50', 'usd', '1,234.50 USD'],
    ['12345678901234567.89', 'usd', '12345678901234567.89 USD'],
    [24, null, '24.00'],
    [24, 'not a currency', '24.00'],
    [24, '', '24.00'],
    [null, 'usd', '—'],
    ['a lot', 'usd', '—'],
    [Number.NaN, 'usd', '—'],
  ])('%j in %j is %s', (amount, currency, shown) => {
    expect(money(amount, currency)).toBe(shown);
  });

  it('says how much a month, or that nothing is known', () => {
    expect(monthly(8, 'usd')).toBe('8.00 USD a month');
    expect(monthly(null, 'usd')).toBe('—');
  });
});
