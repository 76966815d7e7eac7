import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { plain } from '../core/mrkdwn.ts';
import {
  barName,
  chartTitle,
  type DeploymentsData,
  explainedOutcomes,
  isHourly,
  OUTCOME_NAMES,
  ratesOf,
  totalOf,
  totalWords,
  zoneWords,
} from '../views/activity/deployments-chart.ts';
import { dayAndMonth } from '../views/blocks/days.ts';
import { LEFT } from './axes.ts';
import { drawBars, FILLS, PLOT } from './bars.ts';
import { bytesOf, type Canvas, createCanvas, type Style } from './canvas.ts';
import { openLettering } from './lettering.ts';
import { INK, SOFT_INK } from './palette.ts';
import { encodePng } from './png.ts';
import { drawRates, RATES_HEIGHT } from './rates.ts';

/** Slack shows a picture some 640 points wide, so this stays sharp; more takes longer. */
const WIDTH = 1000;
const BARS_HEIGHT = 525;
const NOTES_HEIGHT = 35;
/** For one picture after the other: what is outside the heap and not used any more piles up. */
const memory = new Uint8Array(bytesOf(WIDTH, BARS_HEIGHT + RATES_HEIGHT + NOTES_HEIGHT));
const TITLE: Style = { font: 'bold', size: 28, ink: INK };
const SUBTITLE: Style = { font: 'regular', size: 19, ink: SOFT_INK };
const LEGEND: Style = { font: 'regular', size: 19, ink: INK };
const NOTE: Style = { font: 'regular', size: 16, ink: SOFT_INK };
const NOTHING: Style = { font: 'regular', size: 22, ink: SOFT_INK };

const require = createRequire(import.meta.url);
const FONTS = {
  regular: openLettering(
    bundled('AtkinsonHyperlegible_400Regular.ttf') ??
      require.resolve(
        '@expo-google-fonts/atkinson-hyperlegible/400Regular/AtkinsonHyperlegible_400Regular.ttf',
      ),
  ),
  bold: openLettering(
    bundled('AtkinsonHyperlegible_700Bold.ttf') ??
      require.resolve('@expo-google-fonts/atkinson-hyperlegible/700Bold/AtkinsonHyperlegible_700Bold.ttf'),
  ),
};

/** Draws deployments per day as a PNG, without a browser or a system font. The same data gives the same bytes. */
export function drawDeployments(data: DeploymentsData): Buffer {
  const rates = ratesOf(data);
  const notesTop = BARS_HEIGHT + (rates.length === 0 ? 0 : RATES_HEIGHT);
  const canvas = createCanvas(WIDTH, notesTop + NOTES_HEIGHT, FONTS, memory);
  canvas.write(chartTitle(data), LEFT, 57, TITLE);
  canvas.write(fitting(canvas, plain(data.title, 80)), LEFT, 91, SUBTITLE);
  drawBars(canvas, data);
  if (totalOf(data) === 0) canvas.write('No deployments in this time', WIDTH / 2, 285, NOTHING, 'middle');
  else {
    canvas.write(totalWords(data), LEFT, 117, SUBTITLE);
    drawLegend(canvas, data);
  }
  if (rates.length > 0) drawRates(canvas, PLOT, BARS_HEIGHT, rates);
  canvas.write(notes(data), LEFT, notesTop + 14, NOTE);
  return encodePng(canvas.bitmap);
}

function drawLegend(canvas: Canvas, data: DeploymentsData): void {
  let right = PLOT.right;
  for (const outcome of explainedOutcomes(data).toReversed()) {
    const name = OUTCOME_NAMES[outcome];
    canvas.write(name, right, 55, LEGEND, 'end');
    right -= Math.ceil(canvas.widthOf(name, LEGEND)) + 34;
    canvas.fillBox(right, 40, 26, 16, FILLS[outcome]);
    right -= 28;
  }
}

/** Cut where it is wider than the picture has room. */
function fitting(canvas: Canvas, title: string): string {
  if (canvas.widthOf(title, SUBTITLE) <= PLOT.right - LEFT) return title;
  const kept = [...title];
  while (canvas.widthOf(`${kept.join('')}…`, SUBTITLE) > PLOT.right - LEFT) kept.pop();
  return `${kept.join('')}…`;
}

function notes(data: DeploymentsData): string {
  const first = data.bars[0];
  const zone = `${zoneWords(data)}.`;
  if (!data.isCut || first === undefined) return zone;
  const from = isHourly(data) ? barName(first, data) : dayAndMonth(first.day);
  return `${zone} The service lists its latest events only: from ${from} on.`;
}

/** A font file from beside the bundle, where `scripts/build.ts` puts it; undefined for the sources. */
function bundled(name: string): string | undefined {
  const file = join(import.meta.dirname, 'fonts', name);
  return existsSync(file) ? file : undefined;
}
