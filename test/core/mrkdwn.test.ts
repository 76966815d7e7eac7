import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cleanCommandText } from '../../src/commands/typed-words.ts';
import {
  bold,
  code,
  joinLinesWithin,
  link,
  mrkdwn,
  sanitize,
  truncate,
  truncateMarkup,
  unmarked,
  withoutLiveAddresses,
} from '../../src/core/mrkdwn.ts';
import { isNamed } from '../../src/core/names.ts';
import { asSlackShows, copyFromSlack } from '../support/as-slack-shows.ts';

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

  it.each([
    'connect to 2001:db8:100:b::1 port 22',
    '_staging_',
    '__init__.py and snake_case_name',
    '*prod*',
    '~old~ ~/.config',
    '> quoted',
    '＞ ＊prod＊ ＿staging＿',
    '`rm -rf` and ```more```',
    ':tada: at 10:30:45',
    ':チェックマーク: :marca_de_verificación:',
    '&amp; &lt;b&gt;',
    '<!channel> <@U0EVIL> <https://evil.example|ok>',
    '*_~`nested`~_* _*',
    '2*3*4 a*b* (*c*)',
    'ends with _',
    'acme:100',
  ])('%j is shown letter for letter', (foreign) => {
    for (const text of [
      mrkdwn(foreign),
      bold(foreign),
      code(foreign),
      link('https://a.example', mrkdwn(foreign)),
    ])
      expect(asSlackShows(text).replace(/ \(open\)$/, '')).toBe(foreign);
    expect(asSlackShows(`:x: *${mrkdwn(foreign)}* and _by ${mrkdwn(foreign)}_`)).toBe(
      `☺ ${foreign} and by ${foreign}`,
    );
    expect(asSlackShows(`${mrkdwn(foreign)}: failed`)).toBe(`${foreign}: failed`);
    expect(unmarked(`*${mrkdwn(foreign)}* ${code(foreign)}`)).toBe(`${foreign} ${foreign}`);
  });

  it.each(['_staging_', ':tada: shop', 'db:8:1', '`x`', '> next', '*prod*'])(
    '%j can be copied into a command',
    (name) => {
      expect(isNamed({ name }, cleanCommandText(copyFromSlack(bold(name))))).toBe(true);
      expect(isNamed({ name }, copyFromSlack(mrkdwn(name)))).toBe(true);
    },
  );

  it('is cut outside its escapes', () => {
    const text = `${mrkdwn('_a_')} & more`;
    for (let max = 1; max < text.length; max += 1)
      expect(truncateMarkup(text, max)).toMatch(/^(?:[^<>]|<!date\^[^<>]+>)*…$/);
    expect(truncateMarkup('a &amp; b', 5)).toBe('a …');
  });

  it('is never left live or half', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', maxLength: 400 }),
        fc.integer({ min: 1, max: 200 }),
        (foreign, max) => {
          expect(asSlackShows(mrkdwn(foreign, max))).toBe(sanitize(foreign, max));
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
