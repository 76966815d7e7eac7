import fc from 'fast-check';
import { expect, it } from 'vitest';
import { StoreUnavailable } from '../../src/core/errors.ts';
import { formatDay } from '../../src/core/time/clock.ts';
import { linkLine } from '../../src/views/accounts/identity-messages.ts';
import { explain } from '../../src/views/blocks/failures.ts';
import { dateName, money, monthly } from '../../src/views/blocks/formats.ts';
import { safeUrl } from '../../src/views/blocks/make-blocks.ts';
import { linkedPage, renderPage } from '../../src/views/public/pages.ts';
import { shortRevision, statusWords } from '../../src/views/servers/server.ts';
import { anyText } from '../support/arbitraries.ts';

it.each([
  [24, 'usd', '24.00 USD'],
  [7.6, 'eur', '7.60 EUR'],
  [1200, 'jpy', '1200 JPY'],
  ['1200.5', 'JPY', '1200.5 JPY'],
  ['1,234.50', 'usd', '1,234.50 USD'],
  ['12345678901234567.89', 'usd', '12345678901234567.89 USD'],
  [24, null, '24.00'],
  [24, 'not a currency', '24.00'],
  [null, 'usd', '—'],
  ['a lot', 'usd', 'a lot'],
  ['(12.00)', 'eur', '-12.00 EUR'],
  ['−12.00', 'eur', '-12.00 EUR'],
  ['€12.00', 'eur', '12.00 EUR'],
  ['€12.00', 'usd', '€12.00'],
  ['1 234.50', 'eur', '1 234.50 EUR'],
  ['12.5', 'kwd', '12.5 KWD'],
  [12.5, 'kwd', '12.500 KWD'],
  ['', 'usd', '—'],
])('money: %j in %j is %s', (amount, currency, shown) => {
  expect(money(amount, currency)).toBe(shown);
});

it('money a month is said so if it is known', () => {
  expect([monthly(8, 'usd'), monthly(null, 'usd')]).toEqual(['8.00 USD a month', '—']);
});

it.each([
  ['2026-11-20T23:30:00Z', 'Europe/Berlin', '2026-11-21', 'Nov 21, 2026'],
  ['0099-06-01T12:00:00Z', 'UTC', '0099-06-01', 'Jun 1, 99'],
  ['+012026-11-20T12:00:00Z', 'UTC', '+012026-11-20', 'Nov 20, 12026'],
  ['+275760-09-12T23:00:00Z', 'Europe/Berlin', '+275760-09-13', 'Sep 13, 275760'],
])('%s in %s is the day %s, by name %s, in any zone of the machine', (instant, zone, day, name) => {
  expect(formatDay(zone, instant)).toBe(day);
  expect(dateName(formatDay(zone, instant))).toBe(name);
});

it.each([
  ['https://acme.example.com/beta_features', true],
  ['http://127.0.0.1:4000/acme/beta', true],
  ['http://acme.localhost:4000/beta_features', true],
  ['http://acme.localhost.example.com/beta', false],
  ['http://notlocalhost/beta', false],
  ['http://acme.example.com/beta', false],
  ['https://user:pass@acme.example.com/', false],
  ['javascript:alert(1)', false],
  ['slack://open', false],
  [`https://example.com/${'a'.repeat(3000)}`, false],
  [null, false],
])('%j may be on a button: %j', (url, isSafe) => {
  expect(safeUrl(url)).toBe(isSafe ? url : undefined);
});

it.each([
  ['re-wiring', '`re-wiring`'],
  ['toString', '`toString`'],
  ['<!here>', '`&lt;!here&gt;`'],
])('the status %s is %s', (given, words) => {
  expect(statusWords(given)).toBe(words);
});

it.each([
  ['0123456789abcdef', '`0123456`'],
  ['abc', '`abc`'],
  ['', 'never deployed'],
  [null, 'never deployed'],
])('the revision %j is %s', (given, words) => {
  expect(shortRevision(given)).toBe(words);
});

it.each([
  [undefined, 'Try again. If it keeps happening, ask whoever runs Deckhand.'],
  ['https://help.example.com', 'Try again. If it keeps happening, get help: https://help.example.com'],
  ['mailto:help@example.com', 'Try again. If it keeps happening, get help: help@example.com'],
])('an unexpected failure alone leads to help at %s', (supportUrl, words) => {
  const at = { word: '/deckhand', now: 0, supportUrl };
  expect(explain(new Error('a bug'), at).next).toBe(words);
  expect(explain(new StoreUnavailable(undefined), at).next).toBe('Try again in a minute.');
});

const NOW = Date.parse('2026-03-02T09:00:00Z');

it.each([
  [undefined, 'is not linked. `/deckhand link`'],
  [{ linkedAt: NOW }, 'Linked <!date^'],
  [{ linkedAt: NOW, name: '<!here>' }, 'You are *&lt;!here&gt;* at the service'],
])('the link %j is %s', (link, words) => {
  expect(linkLine(link, '/deckhand')).toContain(words);
});

it('no name becomes markup of a page', () => {
  fc.assert(
    fc.property(anyText(), (name) => {
      const tags = renderPage(linkedPage('T1', `${name}<b>`, '/deckhand')).match(/<\/?[a-z0-9]+/gi) ?? [];
      const known = ['html', 'head', 'meta', 'title', 'style', 'body', 'main', 'h1', 'p', 'a'];
      expect(tags.filter((tag) => tag === '<a')).toHaveLength(1);
      expect(tags.filter((tag) => !known.includes(tag.replace(/<\/?/, '').toLowerCase()))).toEqual([]);
    }),
  );
});
