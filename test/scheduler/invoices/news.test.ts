import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { knownFrom, newsOf } from '../../../src/scheduler/invoices/notices.ts';
import type { Invoice } from '../../../src/service/invoices.ts';

const DAY = 86_400_000;
const NOW = Date.parse('2026-11-20T12:00:00Z');

function invoice(number: number, { paid = false, daysAgo = 0 } = {}): Invoice {
  const created_at = new Date(NOW - daysAgo * DAY).toISOString();
  const paid_at = paid ? created_at : null;
  return {
    number,
    kind: 'subscription',
    currency: 'eur',
    total: '49.00',
    vat: null,
    paid,
    paid_at,
    created_at,
    download_url: null,
  };
}

/** What is told of each look, in words. */
function told(first: Invoice[], ...looks: Array<[days: number, invoices: Invoice[]]>): string[][] {
  let known = knownFrom(first, NOW);
  return looks.map(([days, invoices]) => {
    const found = newsOf(known, invoices, NOW + days * DAY);
    known = JSON.parse(JSON.stringify(found.known));
    return found.news.map((one) => `${one.invoice.number} ${one.kind}${'days' in one ? ` ${one.days}` : ''}`);
  });
}

describe('the news of invoices', () => {
  const open = invoice(1);
  const paid = invoice(1, { paid: true });

  it.each<[string, string[][], string[][]]>([
    ['nothing of what was there at first', told([open, invoice(2, { paid: true })], [0, [open]]), [[]]],
    ['a new one, once', told([], [0, [open]], [1, [open]]), [['1 new'], []]],
    ['one that is paid when it is new, once', told([], [0, [paid]], [1, [paid]]), [['1 new'], []]],
    ['one that became paid, once', told([open], [1, [paid]], [2, [paid]]), [['1 paid'], []]],
    [
      'several, the oldest first',
      told([], [0, [invoice(3), invoice(2), open]]),
      [['1 new', '2 new', '3 new']],
    ],
    [
      'reminders after 7 and 14 days, each once',
      told([open], [6.9, [open]], [7, [open]], [8, [open]], [14, [open]], [90, [open]]),
      [[], ['1 unpaid 7'], [], ['1 unpaid 14'], []],
    ],
    [
      'only the later of two that fell due together',
      told([open], [15, [open]], [16, [open]]),
      [['1 unpaid 15'], []],
    ],
    ['no reminder of one that was paid', told([open], [7, [paid]], [14, [paid]]), [['1 paid'], []]],
    [
      'no reminder whose time had passed at first, but the next',
      told(
        [invoice(1, { daysAgo: 8 })],
        [0, [invoice(1, { daysAgo: 8 })]],
        [6, [invoice(1, { daysAgo: 8 })]],
      ),
      [[], ['1 unpaid 14']],
    ],
    [
      'one that was made long ago as new, and then as unpaid',
      told([], [0, [invoice(1, { daysAgo: 9 })]], [0, [invoice(1, { daysAgo: 9 })]], [1, []]),
      [['1 new'], ['1 unpaid 9'], []],
    ],
    ['nothing again of one that was gone for a look', told([open], [1, []], [2, [open]]), [[], []]],
    ['no second payment', told([open], [1, [paid]], [2, [open]], [3, [paid]]), [['1 paid'], [], []]],
  ])('are %s', (_what, found, expected) => {
    expect(found).toEqual(expected);
  });

  it('are each told once, whatever is looked at when, over restarts and repeated looks', () => {
    fc.assert(
      fc.property(lives, days, (all, looks) => {
        const seen = told(
          at(all, 0),
          ...[...looks, 61, 62].map((day): [number, Invoice[]] => [day, at(all, day)]),
        );
        const words = seen.flat();
        expect(new Set(words).size, words.join()).toBe(words.length);
        const reminders = Map.groupBy(words.filter(isReminder), (word) => word.split(' ')[0]);
        for (const [, ofOne] of reminders) expect(ofOne.length).toBeLessThanOrEqual(2);
        for (const { number, born } of all) expect(words.includes(`${number} new`)).toBe(born > 0);
      }),
    );
  });
});

/** An invoice that is made some day, and paid so many days later or never. */
const life = fc.record({
  number: fc.integer({ min: 1, max: 30 }),
  born: fc.nat({ max: 20 }),
  paidAfter: fc.option(fc.nat({ max: 30 }), { nil: undefined }),
});
type Life = { number: number; born: number; paidAfter: number | undefined };
const lives = fc.uniqueArray(life, { selector: ({ number }) => number, maxLength: 10 });
const days = fc.array(fc.nat({ max: 60 }), { maxLength: 60 }).map((all) => all.toSorted((a, b) => a - b));

/** What there is on a day. */
function at(all: readonly Life[], day: number): Invoice[] {
  return all
    .filter(({ born }) => born <= day)
    .map(({ number, born, paidAfter = 99 }) =>
      invoice(number, { daysAgo: -born, paid: born + paidAfter <= day }),
    );
}

function isReminder(word: string): boolean {
  return word.includes('unpaid');
}
