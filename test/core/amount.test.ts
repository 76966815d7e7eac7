import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { add, parseAmount, writeDecimal, ZERO } from '../../src/core/amount.ts';

const read = (text: string, currency: string): string | undefined => {
  const amount = parseAmount(text, currency);
  return amount && writeDecimal(amount, 0);
};

describe('an amount', () => {
  it.each([
    ['49.00', 'usd', '49.00'],
    ['-120.00', 'eur', '-120.00'],
    ['−120.00', 'eur', '-120.00'],
    ['(12.00)', 'eur', '-12.00'],
    ['(€12.00)', 'eur', '-12.00'],
    ['12.00-', 'eur', '-12.00'],
    ['€12.00', 'eur', '12.00'],
    ['-€12.00', 'EUR', '-12.00'],
    ['€ -12,50', 'eur', '-12.50'],
    ['12,50 €', 'eur', '12.50'],
    ['12.00 EUR', 'eur', '12.00'],
    ['US$1,234.50', 'usd', '1234.50'],
    ['$1,234', 'usd', '1234'],
    ['1 234.50', 'usd', '1234.50'],
    ['1\u00a0234\u202f567,89', 'eur', '1234567.89'],
    ["1'234.50", 'chf', '1234.50'],
    ['1’234.50', 'chf', '1234.50'],
    ['1.234.567', 'eur', '1234567'],
    ['1.234,50', 'eur', '1234.50'],
    ['1,234,567.89', 'usd', '1234567.89'],
    ['¥12,000', 'jpy', '12000'],
    ['12000', 'jpy', '12000'],
    ['12.345', 'kwd', '12.345'],
    ['0,500', 'kwd', '0.500'],
    ['+7', 'usd', '7'],
    ['12345678901234567890.01', 'usd', '12345678901234567890.01'],
    ['-0.00', 'usd', '0.00'],
  ])('%s in %s is %s', (text, currency, number) => {
    expect(read(text, currency)).toBe(number);
  });

  it.each([
    ['1,234', 'kwd'],
    ['1,234', ''],
    ['€12.00', 'usd'],
    ['12.00 USD', 'eur'],
    ['a lot', 'usd'],
    ['', 'usd'],
    ['12.00 or so', 'usd'],
    ['1.2.3', 'usd'],
    ['1,23,4', 'usd'],
    ['--12', 'usd'],
    ['(-12)', 'usd'],
    ['1e21', 'usd'],
    ['NaN', 'usd'],
    ['=1+1', 'usd'],
    ['9'.repeat(100), 'usd'],
  ])('%j in %j is not guessed', (text, currency) => {
    expect(read(text, currency)).toBeUndefined();
  });

  it('is summed exactly, in any order', () => {
    const cents = fc.array(fc.integer({ min: -1_000_000_000, max: 1_000_000_000 }), { maxLength: 50 });
    fc.assert(
      fc.property(cents, (all) => {
        const texts = all.map((one) => `${one < 0 ? '-' : ''}${(Math.abs(one) / 100).toFixed(2)}`);
        const sum = texts.map((text) => parseAmount(text, 'eur') ?? ZERO).reduce(add, ZERO);
        expect(sum.units * 10n ** BigInt(2 - sum.digits)).toBe(
          BigInt(all.reduce((one, other) => one + other, 0)),
        );
      }),
    );
    const mixed = ['0.1', '0.2', '1200', '0.345'].map((text) => parseAmount(text, 'kwd') ?? ZERO);
    expect(writeDecimal(mixed.reduce(add, ZERO), 3)).toBe('1200.645');
  });
});
