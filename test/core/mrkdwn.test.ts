import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  bold,
  code,
  joinLinesWithin,
  mrkdwn,
  sanitize,
  truncate,
  withoutLiveAddresses,
} from '../../src/core/mrkdwn.ts';

describe('text from outside', () => {
  it.each([
    ['<!channel>', '&lt;!channel&gt;'],
    ['<https://evil.example|https://ok.example>', '&lt;https://evil.example|https://ok.example&gt;'],
    ['one\ntwo\tthree', 'one two three'],
    ['\u202egnp.exe', 'gnp.exe'],
    ['shop\u{e0049}\u{e0050}', 'shop'],
    ['half \ud835of \u{1d518}', 'half of \u{1d518}'],
    ['\u0000\u001b[31m', '[31m'],
    [null, '—'],
    ['👩‍👩‍👧', '👩‍👩‍👧'],
  ])('%j is shown as %j', (foreign, shown) => {
    expect(mrkdwn(foreign)).toBe(shown);
  });

  it('cannot end its own code or bold', () => {
    expect(code('a`*b*`')).toBe('`aˋ*b*ˋ`');
    expect(bold('a*b')).toBe('*a∗b*');
  });

  it('is never left live or half', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', maxLength: 400 }),
        fc.integer({ min: 1, max: 200 }),
        (foreign, max) => {
          expect(mrkdwn(foreign, max)).not.toMatch(/[<>]/);
          expect(sanitize(foreign, max).length).toBeLessThanOrEqual(Math.max(1, max));
          expect(sanitize(foreign, max).isWellFormed()).toBe(
            foreign.isWellFormed() || sanitize(foreign, max).isWellFormed(),
          );
        },
      ),
    );
  });

  it('is cut by code point, never through an emoji', () => {
    expect(truncate('😀😀😀', 4)).toBe('😀…');
    expect(truncate('abc', 3)).toBe('abc');
  });

  it('tells how many lines are left out', () => {
    const lines = Array.from({ length: 100 }, (_, at) => `line ${at}`);
    const text = joinLinesWithin(lines, 200);
    expect(text.length).toBeLessThanOrEqual(200);
    const shown = text.split('\n').length - 1;
    expect(text.endsWith(`_and ${100 - shown} more_`)).toBe(true);
  });
});

describe('the plain text of a message', () => {
  it.each(['https://evil.example/login', 'mailto:ops@evil.example', 'javascript:alert(1)'])(
    'has a mark in %s, so that Slack makes no link of it',
    (address) => {
      const said = withoutLiveAddresses(`see ${address} now`);
      expect(said).not.toContain(address);
      expect(said.replaceAll('\u2060', '')).toBe(`see ${address} now`);
    },
  );

  it('keeps the links that we named, e-mail addresses, amounts, times and versions', () => {
    const said =
      '<https://acme.example|Open> ann@example.com at 10:30, 1,250.50 EUR, v1.2.3, <@U0BEN>: 2.5 s';
    expect(withoutLiveAddresses(said)).toBe(said);
  });
});
