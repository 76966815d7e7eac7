import {
  barName,
  type DeploymentsBar,
  type DeploymentsData,
  OUTCOMES,
  totalOfBar,
} from '../views/activity/deployments-chart.ts';
import type { Outcome } from '../views/activity/outcomes.ts';
import { dayAndMonth, weekday } from '../views/blocks/days.ts';
import { drawNames, drawScale, middleOf, type Plot } from './axes.ts';
import type { Canvas, Fill, Style } from './canvas.ts';
import * as palette from './palette.ts';

export const PLOT: Plot = { left: 85, right: 955, top: 145, bottom: 455 };
/** Up to this many, each bar has room for words. */
const FEW = 10;
const WIDEST = 80;
/** So that one failure among thousands is seen. */
const LEAST_HEIGHT = 6;
const TOTAL: Style = { font: 'bold', size: 20, ink: palette.INK };
const SMALL_TOTAL: Style = { font: 'bold', size: 16, ink: palette.INK };
const FAILURES: Style = { font: 'bold', size: 16, ink: palette.RED_INK };
const SHORT = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 });

/** They differ in lightness and pattern too, so that no eye needs the hues. */
export const FILLS: Readonly<Record<Outcome, Fill>> = {
  succeeded: palette.GREEN,
  failed: stripes,
  cancelled: dots,
};

/** Bars stacked by outcome, a day or an hour each, with their totals and axes. */
export function drawBars(canvas: Canvas, data: DeploymentsData): void {
  const { bars } = data;
  const values = scaleOf(bars);
  drawScale(canvas, PLOT, values, shortNumber);
  drawNames(
    canvas,
    PLOT,
    bars.map((bar) => nameOf(bar, data)),
  );
  const unit = (PLOT.bottom - PLOT.top) / (values.at(-1) ?? 1);
  const band = (PLOT.right - PLOT.left) / bars.length;
  const hasRoom = bars.every((bar) => canvas.widthOf(totalLabel(bar), SMALL_TOTAL) + 6 <= band);
  bars.forEach((bar, at) => {
    const middle = middleOf(PLOT, at, bars.length);
    const top = drawBar(canvas, bar, middle, Math.max(1, Math.min(WIDEST, Math.round(band * 0.68))), unit);
    if (!hasRoom || totalOfBar(bar) === 0) return;
    if (bars.length > FEW) canvas.write(totalLabel(bar), middle, top - 6, SMALL_TOTAL, 'middle');
    else drawTotals(canvas, bar, middle, top);
  });
}

/** Gives where it ends. */
function drawBar(canvas: Canvas, bar: DeploymentsBar, middle: number, width: number, unit: number): number {
  let top = PLOT.bottom;
  for (const outcome of OUTCOMES) {
    if (bar[outcome] === 0) continue;
    const height = Math.max(LEAST_HEIGHT, Math.round(bar[outcome] * unit));
    top -= height;
    // Two lines stay white between one outcome and the next.
    canvas.fillBox(Math.round(middle - width / 2), top, width, height - 2, FILLS[outcome]);
  }
  return top;
}

function drawTotals(canvas: Canvas, bar: DeploymentsBar, middle: number, top: number): void {
  if (bar.failed > 0) canvas.write(`${shortNumber(bar.failed)} failed`, middle, top - 9, FAILURES, 'middle');
  canvas.write(totalLabel(bar), middle, top - (bar.failed > 0 ? 31 : 9), TOTAL, 'middle');
}

/** From 0 to more than the highest bar needs, in steps that read well. */
function scaleOf(bars: readonly DeploymentsBar[]): number[] {
  const most = Math.max(...bars.map((bar) => totalOfBar(bar)), 0);
  // Room for the labels on the highest bar.
  const needed = Math.max(4, most * (bars.length <= FEW ? 1.2 : 1.08));
  const power = 10 ** Math.floor(Math.log10(needed / 4));
  const step = power * ([1, 2, 5].findLast((each) => each * power <= needed / 3.2) ?? 1);
  return Array.from({ length: Math.ceil(needed / step) + 1 }, (_, at) => at * step);
}

function nameOf(bar: DeploymentsBar, data: DeploymentsData): string[] {
  if (bar.hour !== undefined || data.bars.length > FEW) return [barName(bar, data)];
  return [weekday(bar.day), dayAndMonth(bar.day)];
}

function totalLabel(bar: DeploymentsBar): string {
  return shortNumber(totalOfBar(bar));
}

/** "950", "1.2K", "3M" */
function shortNumber(value: number): string {
  return SHORT.format(value);
}

function stripes(x: number, y: number): number {
  const at = (x + y) % 10;
  if (at < 6) return palette.RED;
  return at === 6 || at === 9 ? palette.PALE_RED : palette.PALEST_RED;
}

function dots(x: number, y: number): number {
  const distance = Math.min(Math.hypot((x % 12) - 3, (y % 12) - 2), Math.hypot((x % 12) - 9, (y % 12) - 8));
  if (distance >= 2) return palette.GRAY;
  return distance > 1 ? palette.DARK_GRAY : palette.DARKEST_GRAY;
}
