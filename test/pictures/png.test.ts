import { inflateSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { encodePng } from '../../src/pictures/png.ts';

const WHITE = [255, 255, 255];
const RED = [200, 65, 79];

function bitmapOf(width: number, colors: readonly number[][]) {
  const pixels = Uint8Array.from(colors.flatMap((color) => [...color, 255]));
  return { width, height: colors.length / width, pixels };
}

/** The colors that a reader of the format sees. */
function colorsOf(png: Buffer): number[][] {
  const chunks = new Map<string, Buffer>();
  for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at))
    chunks.set(png.toString('latin1', at + 4, at + 8), png.subarray(at + 8, at + 8 + png.readUInt32BE(at)));
  const [header, palette, data] = ['IHDR', 'PLTE', 'IDAT'].map((name) => chunks.get(name) ?? Buffer.of());
  expect(header?.subarray(8)).toEqual(Buffer.from([8, 3, 0, 0, 0]));
  const line = (header?.readUInt32BE(0) ?? 0) + 1;
  return [...inflateSync(data ?? Buffer.of())]
    .filter((_, at) => at % line !== 0)
    .map((index) => [...(palette?.subarray(index * 3, index * 3 + 3) ?? [])]);
}

it('shows each pixel in its color', async () => {
  const colors = [WHITE, RED, WHITE, WHITE, RED, RED];
  expect(colorsOf(await encodePng(bitmapOf(3, colors)))).toEqual(colors);
});

it('gives a color that has no room in the palette the nearest that has', async () => {
  const greens = Array.from({ length: 32 }, (_, at) => at * 8);
  const many = greens.flatMap((green) => Array.from({ length: 8 }, (_, at) => [at * 8, green, 0]));
  const seen = colorsOf(await encodePng(bitmapOf(257, [...many, [60, 40, 200]])));
  expect(seen.slice(0, 256)).toEqual(many);
  expect(seen[256]).toEqual([56, 40, 0]);
});
