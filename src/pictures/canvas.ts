import { type Lettering, MARGIN } from './lettering.ts';
import { SHADES } from './palette.ts';
import type { Mask } from './pen.ts';

/** An image whose pixels are indexes into the palette. */
export interface Bitmap {
  width: number;
  height: number;
  /** As a PNG has them: each behind the byte of its filter, which is none. */
  lines: Uint8Array;
}

export function bytesOf(width: number, height: number): number {
  return (width + 1) * height;
}

/** An index, or one for each pixel of what is filled, counted from its upper left. */
export type Fill = number | ((x: number, y: number) => number);

export type Fonts = Record<'regular' | 'bold', Lettering>;

export interface Style {
  font: keyof Fonts;
  size: number;
  ink: number;
}

type Point = readonly [x: number, y: number];

export interface Canvas {
  readonly bitmap: Bitmap;
  fillBox(left: number, top: number, width: number, height: number, fill: Fill): void;
  /** With round ends, so from a point to itself it is a dot. */
  drawLine(from: Point, to: Point, radius: number, ink: number): void;
  widthOf(text: string, style: Style): number;
  /** Stands on the line `y`; `x` is its start, its middle or its end. */
  write(text: string, x: number, y: number, style: Style, align?: keyof typeof SHARE_BEFORE): void;
}

const SHARE_BEFORE = { start: 0, middle: 0.5, end: 1 };

/**
 * A white one. Boxes lie within it; of lines and letters, what does not is left out. All numbers are pixels.
 * @param memory of at least as many bytes; what was drawn there before is gone
 */
export function createCanvas(
  width: number,
  height: number,
  fonts: Fonts,
  memory = new Uint8Array(bytesOf(width, height)),
): Canvas {
  const lines = memory.subarray(0, bytesOf(width, height)).fill(0);
  const indexOf = (x: number, y: number): number => y * (width + 1) + 1 + x;

  function fillBox(left: number, top: number, boxWidth: number, boxHeight: number, fill: Fill): void {
    for (let y = top; y < top + boxHeight; y += 1) {
      const from = indexOf(left, y);
      if (typeof fill === 'number') lines.fill(fill, from, from + boxWidth);
      else for (let x = 0; x < boxWidth; x += 1) lines[from + x] = fill(x, y - top);
    }
  }

  function shade(x: number, y: number, ink: number, shades: number): void {
    if (shades <= 0 || x < 0 || x >= width || y < 0 || y >= height) return;
    const at = indexOf(x, y);
    lines[at] = Math.max(lines[at] ?? 0, ink + shades);
  }

  function drawLine([fromX, fromY]: Point, [toX, toY]: Point, radius: number, ink: number): void {
    const [alongX, alongY] = [toX - fromX, toY - fromY];
    const squared = alongX ** 2 + alongY ** 2 || 1;
    const [right, bottom] = [Math.max(fromX, toX) + radius, Math.max(fromY, toY) + radius];
    for (let y = Math.floor(Math.min(fromY, toY) - radius); y <= bottom; y += 1)
      for (let x = Math.floor(Math.min(fromX, toX) - radius); x <= right; x += 1) {
        const share = ((x - fromX) * alongX + (y - fromY) * alongY) / squared;
        const near = Math.min(1, Math.max(0, share));
        const distance = Math.sqrt((x - fromX - near * alongX) ** 2 + (y - fromY - near * alongY) ** 2);
        shade(x, y, ink, Math.round(Math.min(1, radius + 0.5 - distance) * SHADES));
      }
  }

  function stamp(mask: Mask, left: number, top: number, ink: number): void {
    let at = 0;
    for (let y = top; y < top + mask.height; y += 1)
      for (let x = left; x < left + mask.width; x += 1) shade(x, y, ink, mask.shades[at++] ?? 0);
  }

  const widthOf = (text: string, { font, size }: Style) => fonts[font].set(text, size);

  function write(
    text: string,
    x: number,
    y: number,
    style: Style,
    align: keyof typeof SHARE_BEFORE = 'start',
  ): void {
    const before = align === 'start' ? 0 : SHARE_BEFORE[align] * widthOf(text, style);
    const start = Math.round(x - before) - MARGIN;
    fonts[style.font].set(text, style.size, (mask, left) =>
      stamp(mask, start + left, y - style.size, style.ink),
    );
  }

  return { bitmap: { width, height, lines }, fillBox, drawLine, widthOf, write };
}
