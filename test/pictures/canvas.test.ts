import { createRequire } from 'node:module';
import { describe, expect, it } from 'vitest';
import { type Canvas, createCanvas, type Style } from '../../src/pictures/canvas.ts';
import { openLettering } from '../../src/pictures/lettering.ts';
import { GREEN, INK, SHADES, WHITE } from '../../src/pictures/palette.ts';

const lettering = openLettering(
  createRequire(import.meta.url).resolve(
    '@expo-google-fonts/atkinson-hyperlegible/400Regular/AtkinsonHyperlegible_400Regular.ttf',
  ),
);
const STYLE: Style = { font: 'regular', size: 20, ink: INK };

function canvasOf(width: number, height: number): Canvas {
  return createCanvas(width, height, { regular: lettering, bold: lettering });
}

/** Lines of a canvas: `#` where it is quite dark, `.` where it is white, `+` between. */
function drawn({ bitmap: { width, height, lines } }: Canvas): string[] {
  const mark = (pixel = 0) => (pixel === WHITE ? '.' : pixel === INK + SHADES || pixel === GREEN ? '#' : '+');
  const line = (y: number) =>
    [...lines.subarray(y * (width + 1) + 1, (y + 1) * (width + 1))].map(mark).join('');
  return Array.from({ length: height }, (_, y) => line(y));
}

/** The first and the last column that are not white. */
function spanOf(canvas: Canvas): [number, number] {
  const columns = drawn(canvas).flatMap((line) => [...line].flatMap((mark, x) => (mark === '.' ? [] : [x])));
  return [Math.min(...columns), Math.max(...columns)];
}

function written(text: string, align?: 'start' | 'middle' | 'end'): Canvas {
  const canvas = canvasOf(200, 40);
  canvas.write(text, 100, 30, STYLE, align);
  return canvas;
}

describe('what is drawn', () => {
  it('fills a box, in one color or by a pattern from its upper left', () => {
    const canvas = canvasOf(5, 3);
    canvas.fillBox(1, 1, 3, 2, (x, y) => (x === y ? GREEN : WHITE));
    expect(drawn(canvas)).toEqual(['.....', '.#...', '..#..']);
    canvas.fillBox(0, 0, 2, 1, GREEN);
    expect(drawn(canvas)[0]).toBe('##...');
  });

  it('draws a line with soft edges, and leaves out what lies outside', () => {
    const canvas = canvasOf(6, 5);
    canvas.drawLine([2, 2], [90, 2], 1, INK);
    expect(drawn(canvas)).toEqual(['......', '.+++++', '.+####', '.+++++', '......']);
  });
});

describe('words', () => {
  it('are filled letters on their line, with holes', () => {
    expect(drawn(written('I')).filter((line) => line.includes('#')).length).toBeGreaterThan(10);
    const [middle = ''] = drawn(written('o')).slice(24);
    expect(middle).toMatch(/^\.+[#+]+\.+[#+]+\.+$/);
    expect(drawn(written('o')).slice(31).join('')).toMatch(/^\.+$/);
    expect(drawn(written('g')).slice(31).join('')).toMatch(/#/);
  });

  it('start, end or have their middle where they should', () => {
    const width = lettering.set('Nov 20', 20);
    const [start] = spanOf(written('Nov 20'));
    const [, end] = spanOf(written('Nov 20', 'end'));
    const [from, to] = spanOf(written('Nov 20', 'middle'));
    expect(Math.abs(start - 100)).toBeLessThan(3);
    expect(Math.abs(end - 100)).toBeLessThan(3);
    expect(Math.abs((from + to) / 2 - 100)).toBeLessThan(3);
    expect(to - from).toBeGreaterThan(width - 6);
  });

  it('have one letter for an accent that follows its letter, and none for what is not seen', () => {
    const one = drawn(written('caf\u00e9'));
    expect(drawn(written('cafe\u0301'))).toEqual(one);
    expect(drawn(written('c\u200da\u202ef\u00e9'))).toEqual(one);
    expect(drawn(written('\ud800'))).toEqual(drawn(written('')));
  });

  it('have a box for each letter that the font does not know', () => {
    expect(lettering.set('日本', 20)).toBeCloseTo(2 * lettering.set('語', 20));
    expect(drawn(written('日'))).toEqual(drawn(written('語')));
    expect(drawn(written('日'))).not.toEqual(drawn(written('')));
  });
});
