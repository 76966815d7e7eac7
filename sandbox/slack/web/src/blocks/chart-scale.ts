import type { SeriesChart } from '../api/chart.ts';

/** Where a chart's values stand in its drawing, whose size never changes. */
export interface Scale {
  left: number;
  right: number;
  top: number;
  bottom: number;
  /** Values with a line across, the lowest first. */
  ticks: number[];
  y(value: number): number;
  /** The middle of a category's room. */
  x(index: number): number;
  /** How wide the room of a category is. */
  step: number;
}

export const WIDTH = 560;
export const HEIGHT = 240;
const LINES = 4;

export function scaleOf({ series, axis_config: { categories } }: SeriesChart): Scale {
  const values = series.flatMap(({ data }) => data.map(({ value }) => value));
  const least = values.every((value) => Number.isInteger(value)) ? 1 : 0;
  const size = Math.max(least, tickSize(Math.max(0, ...values) - Math.min(0, ...values)));
  const low = Math.floor(Math.min(0, ...values) / size) * size;
  const high = Math.max(low + size, Math.ceil(Math.max(0, ...values) / size) * size);
  const [left, right, top, bottom] = [48, WIDTH - 8, 18, HEIGHT - 36];
  const step = (right - left) / Math.max(1, categories.length);
  const count = Math.round((high - low) / size);
  return {
    left,
    right,
    top,
    bottom,
    step,
    ticks: Array.from({ length: count + 1 }, (_, index) => low + index * size),
    y: (value) => bottom - ((value - low) / (high - low)) * (bottom - top),
    x: (index) => left + step * (index + 0.5),
  };
}

/** A round distance that cuts a range into a few parts: 1, 2 or 5 with noughts. */
function tickSize(range: number): number {
  const least = Math.max(range, Number.MIN_VALUE * 1e16) / LINES;
  const power = 10 ** Math.floor(Math.log10(least));
  return power * ([1, 2, 5].find((factor) => factor * power >= least) ?? 10);
}

/** The value of a category in a series, which may list its points in any order. */
export function valueAt(data: SeriesChart['series'][number]['data'], category: string): number {
  return data.find(({ label }) => label === category)?.value ?? 0;
}
