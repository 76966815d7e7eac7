import { type PastRate, rateWords } from '../views/activity/deployments-chart.ts';
import { dayAndMonth } from '../views/blocks/days.ts';
import { drawNames, drawScale, heightAt, LEFT, middleOf, type Plot } from './axes.ts';
import type { Canvas, Style } from './canvas.ts';
import { BLUE_INK, INK } from './palette.ts';

/** In pixels, under the bars. */
export const RATES_HEIGHT = 200;
const TITLE: Style = { font: 'bold', size: 19, ink: INK };
const LATEST: Style = { font: 'bold', size: 19, ink: BLUE_INK };
const LINE = 1.9;
const DOT = 4.8;

/** The line of past success rates, from 0 to 100 %, with its last value. */
export function drawRates(
  canvas: Canvas,
  { left, right }: Plot,
  top: number,
  rates: readonly PastRate[],
): void {
  canvas.write('Success rate, digest by digest', LEFT, top + 22, TITLE);
  const plot = { left, right, top: top + 45, bottom: top + 150 };
  drawScale(canvas, plot, [0, 50, 100], (value) => `${value} %`);
  drawNames(
    canvas,
    plot,
    rates.map(({ day }) => [dayAndMonth(day)]),
  );
  const points = rates.map(({ rate }, at) => {
    if (rate === null) return undefined;
    return [middleOf(plot, at, rates.length), heightAt(plot, rate / 100)] as const;
  });
  points.forEach((point, at) => {
    const before = points[at - 1];
    if (point === undefined) return;
    if (before !== undefined) canvas.drawLine(before, point, LINE, BLUE_INK);
    canvas.drawLine(point, point, DOT, BLUE_INK);
  });
  const last = points.findLast((point) => point !== undefined);
  const lastRate = rates.findLast(({ rate }) => rate !== null)?.rate ?? null;
  if (last !== undefined) canvas.write(rateWords(lastRate), last[0], last[1] - 14, LATEST, 'middle');
}
