import process from 'node:process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cleanCommandText, splitWords } from '../../src/commands/typed-words.ts';

describe('what a person types', () => {
  it.each([
    ['  test   storefront ', 'test storefront'],
    ['connect <https://acme.example.com|acme.example.com>', 'connect acme.example.com'],
    ['test\u00a0storefront\u200b', 'test storefront'],
    ['test —account acme', 'test --account acme'],
    ['test <#C0DEPLOYS|storefront>', 'test storefront'],
    ['me <@U0BEN|ben>', 'me <@U0BEN|ben>'],
    ['watch --mention <@U0KIM|Kim Lee>', 'watch --mention "<@U0KIM|Kim Lee>"'],
    ['status?!…', 'status'],
    ["'activity last_7_days'.", 'activity last_7_days'],
    ["'use ann's shop'", "'use ann's shop'"],
    ['/deckhand test storefront', 'test storefront'],
    ['me "Kim Jr."', 'me "Kim Jr."'],
    ['/deckhand\u2060 te\u00adst \u2068storefront\u2069', 'test storefront'],
    ['projects\u0000 \u001bshop\u0007\tweb', 'projects shop web'],
  ])('%j is cleaned to %j', (typed, cleaned) => {
    expect(cleanCommandText(typed)).toBe(cleaned);
  });

  it.each([
    ["use ann's bob's", ['use', "ann's", "bob's"], {}],
    ['test shop --account acme', ['test', 'shop'], { account: 'acme' }],
    ['digest add --skip-quiet daily', ['digest', 'add', 'daily'], { 'skip-quiet': true }],
    ['digest add ―skip\u2011quiet daily', ['digest', 'add', 'daily'], { 'skip-quiet': true }],
    ['digest add -skip−quiet daily', ['digest', 'add', 'daily'], { 'skip-quiet': true }],
    ['test --account', ['test'], { account: true }],
    ['test `shop` *web-1* _x_', ['test', 'shop', 'web-1', 'x'], {}],
    ['test "', ['test'], {}],
  ])('%j is split', (typed, words, flags) => {
    expect(splitWords(typed, ['skip-quiet'])).toEqual({ words, flags });
  });

  const PARTS = ['<http://a|', 'a"b', '\u3000', '`', '<#C1|'];
  it.each(PARTS)('forty thousand times %j holds nothing up, and is cut to 3,000 characters', (part) => {
    const typed = part.repeat(40_000);
    const before = process.cpuUsage();
    const clean = cleanCommandText(typed);
    splitWords(clean);
    const { user } = process.cpuUsage(before);
    // Some milliseconds; what grows with the square of the length takes many seconds.
    expect(user / 1000).toBeLessThan(1_000);
    expect(clean.length).toBeLessThanOrEqual(3_000);
  });

  it('never throws, and cleaning twice changes nothing more', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (typed) => {
        const once = cleanCommandText(typed.replaceAll('&', ''));
        expect(cleanCommandText(once)).toBe(once);
        splitWords(typed);
      }),
    );
  });
});
