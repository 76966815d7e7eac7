import type { Canvas, Style } from './canvas.ts';
import { AXIS, GRID, SOFT_INK } from './palette.ts';

/** Where a chart's bars or line are, in pixels. */
export interface Plot {
  left: number;
  right: number;
  top: number;
  /** Of the axis. */
  bottom: number;
}

/** Where titles begin. */
export const LEFT = 41;
const LABEL: Style = { font: 'regular', size: 18, ink: SOFT_INK };
const LINE_HEIGHT = 22;
/** Least room between two labels. */
const GAP = 24;

/** Lines across a chart, each with its value at the left. The first is the axis. */
export function drawScale(
  canvas: Canvas,
  plot: Plot,
  values: readonly number[],
  label: (value: number) => string,
): void {
  const last = values.at(-1) ?? 1;
  for (const value of values) {
    const y = heightAt(plot, value / last);
    canvas.fillBox(plot.left, y, plot.right - plot.left, 1, value === 0 ? AXIS : GRID);
    canvas.write(label(value), plot.left - 11, y + 6, LABEL, 'end');
  }
}

/** The line of pixels at a share of a chart's height. */
export function heightAt({ top, bottom }: Plot, share: number): number {
  return Math.round(bottom - share * (bottom - top));
}

/** The middle of each of so many columns. */
export function middleOf({ left, right }: Plot, column: number, columns: number): number {
  return left + ((right - left) * (column + 0.5)) / columns;
}

/** The lines of text under each column, or under every so many where they need the room; the last one always has its own. */
export function drawNames(canvas: Canvas, plot: Plot, names: readonly (readonly string[])[]): void {
  const widest = Math.max(0, ...names.flat().map((line) => canvas.widthOf(line, LABEL)));
  const every = Math.ceil(((widest + GAP) * names.length) / (plot.right - plot.left));
  names.forEach((lines, column) => {
    if ((names.length - 1 - column) % every !== 0) return;
    const x = middleOf(plot, column, names.length);
    lines.forEach((line, at) => {
      canvas.write(line, x, plot.bottom + 27 + at * LINE_HEIGHT, LABEL, 'middle');
    });
  });
}
