import { expect, it } from 'vitest';
import { createOutlines } from '../../src/pictures/outlines.ts';

const words = (text: string, at = 1): string =>
  `<text style="font-size:14px" y="7" transform="translate(${at} 2)" fill="#616061">${text}</text>`;

it('puts the outline where the words stood, in their color, and makes it once', () => {
  const made: string[] = [];
  const outlined = createOutlines((svg) => {
    made.push(svg);
    return '<svg><path fill="#000" d="M 0.123456 1"/><path d="M 2 -3.9999"/></svg>';
  });
  const outline = (at: number): string =>
    `<path transform="translate(${at} 2)" fill="#616061" d="M 0.12 1 M 2 -4"/>`;
  expect(outlined(`<g>${words('Fri')}${words('Fri', 5)}</g>`)).toBe(`<g>${outline(1)}${outline(5)}</g>`);
  expect(outlined(words('Fri', 9))).toBe(outline(9));
  expect(made).toEqual([expect.stringContaining('<text style="font-size:14px" y="7">Fri</text>')]);
});

it('keeps what was made last, of any number of different words', () => {
  let made = 0;
  const outlined = createOutlines(() => `<path d="M ${made++} 0"/>`);
  for (let at = 0; at < 2_000; at += 1) outlined(words(`title ${at}`));
  outlined(words('title 1999'));
  expect(made).toBe(2_000);
  outlined(words('title 0'));
  expect(made).toBe(2_001);
});
