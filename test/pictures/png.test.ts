import { expect, it } from 'vitest';
import { GREEN, palette, RED, WHITE } from '../../src/pictures/palette.ts';
import { encodePng } from '../../src/pictures/png.ts';
import { readPng } from '../support/read-png.ts';

it('shows each pixel in its color', () => {
  const last = palette.length - 1;
  const png = readPng(
    encodePng({ width: 3, height: 2, lines: Uint8Array.of(0, WHITE, RED, last, 0, WHITE, GREEN, RED) }),
  );
  expect([png.width, png.height]).toEqual([3, 2]);
  expect([0, 1, 2].map((x) => png.colorAt(x, 0))).toEqual(['#ffffff', '#c8414f', '#2b5fd9']);
  expect([0, 1, 2].map((x) => png.colorAt(x, 1))).toEqual(['#ffffff', '#12967a', '#c8414f']);
});
