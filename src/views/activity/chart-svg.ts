import { mrkdwn } from '../../core/mrkdwn.ts';
import { dayAndMonth, weekday } from '../blocks/days.ts';
import {
  CHART_TITLE,
  type DeploymentsBar,
  type DeploymentsData,
  explainedOutcomes,
  OUTCOME_NAMES,
  OUTCOMES,
  type Outcome,
  totalOfBar,
  totalWords,
  zoneWords,
} from './chart.ts';

/** Slack shows a picture some 640 points wide, so this stays sharp. All numbers are pixels. */
const WIDTH = 1000;
const HEIGHT = 560;
const LEFT = 41;
/** Where the bars are; `bottom` is the axis. */
const PLOT = { left: 85, right: 955, top: 145, bottom: 455 };
/** Up to this many days each has room for its name and for words over its bar. */
const FEW = 10;
const MAX_BAR_WIDTH = 80;
/** So that one failure among thousands is seen. */
const MIN_BAR_HEIGHT = 6;
const MAX_SUBJECT = 90;
/** From the left of one entry of the legend to the next. */
const LEGEND_WIDTHS: Readonly<Record<Outcome, number>> = { succeeded: 142, failed: 102, cancelled: 126 };

const INK = '#1d1c1d';
const SOFT_INK = '#616061';
const RED_INK = '#a8323f';

/** The outcomes differ in lightness and pattern too, so that no eye needs the hues. */
const STYLE = `<style>
text{font-family:'Atkinson Hyperlegible';font-size:18px;fill:${SOFT_INK}}
.bold{font-weight:700;fill:${INK}}
.middle{text-anchor:middle}
.end{text-anchor:end}
.succeeded{fill:#12967a}
.failed{fill:url(#stripes)}
.cancelled{fill:url(#dots)}
</style>
<pattern id="stripes" width="10" height="10" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path fill="#c8414f" d="M0 0h10v10H0z"/><path fill="#e9b3b9" d="M0 0h10v3H0z"/></pattern>
<pattern id="dots" width="12" height="12" patternUnits="userSpaceOnUse"><path fill="#b9bec9" d="M0 0h12v12H0z"/><circle fill="#6c727f" cx="3" cy="3" r="1.8"/><circle fill="#6c727f" cx="9" cy="9" r="1.8"/></pattern>`;

/** The deployments per day as an SVG of one font, which the one who draws it brings along. */
export function chartSvg(data: DeploymentsData): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}">`,
    STYLE,
    `<path fill="#fff" d="M0 0h${WIDTH}v${HEIGHT}H0z"/>`,
    text(CHART_TITLE, LEFT, 57, { className: 'bold', size: 28 }),
    ...[subjectOf(data), totalWords(data)]
      .filter((line) => line !== '')
      .map((line, at) => text(line, LEFT, 91 + at * 26, { size: 19 })),
    ...legend(data),
    ...bars(data),
    ...dayNames(data),
    text(notes(data), LEFT, HEIGHT - 18, { size: 16 }),
    '</svg>',
  ].join('\n');
}

/** The letters of the font. */
const LETTERS = /^[ -~\u00a0-\u0148\u014c-\u017e\u2013\u2014\u2018-\u201d\u2026]*$/;

/** Whose deployments; nothing where the font lacks a letter of it. What escapes Slack's markup escapes XML's too. */
function subjectOf({ title }: DeploymentsData): string {
  const subject = mrkdwn(title.normalize('NFC'), MAX_SUBJECT);
  return LETTERS.test(subject) ? subject : '';
}

function notes(data: DeploymentsData): string {
  const first = data.bars[0];
  const zone = `${zoneWords(data)}.`;
  if (!data.isTruncated || first === undefined) return zone;
  return `${zone} The service lists its latest events only: from ${dayAndMonth(first.day)} on.`;
}

function legend(data: DeploymentsData): string[] {
  let right = PLOT.right;
  return explainedOutcomes(data)
    .toReversed()
    .flatMap((outcome) => {
      right -= LEGEND_WIDTHS[outcome];
      const box = `<rect class="${outcome}" x="${right}" y="40" width="26" height="16"/>`;
      return [box, text(OUTCOME_NAMES[outcome], right + 34, 55, { size: 19 })];
    });
}

/** Stacked by outcome, a day each, with their totals over a scale. */
function bars({ bars: days }: DeploymentsData): string[] {
  const scale = scaleOf(days);
  const unit = (PLOT.bottom - PLOT.top) / (scale.at(-1) ?? 1);
  const band = (PLOT.right - PLOT.left) / days.length;
  const width = Math.max(1, Math.min(MAX_BAR_WIDTH, Math.round(band * 0.68)));
  const lines = scale.flatMap((value) => {
    const y = Math.round(PLOT.bottom - value * unit);
    const line = `<path fill="${value === 0 ? '#b5b5ba' : '#ececee'}" d="M${PLOT.left} ${y}h${PLOT.right - PLOT.left}v1H${PLOT.left}z"/>`;
    return [line, text(shortNumber(value), PLOT.left - 11, y + 6, { className: 'end' })];
  });
  const hasRoom = days.length <= FEW || days.every((day) => shortNumber(totalOfBar(day)).length * 10 <= band);
  const drawn = days.flatMap((day, at) => {
    const middle = middleOf(at, days.length);
    const { boxes, top } = stack(day, Math.round(middle - width / 2), width, unit);
    return hasRoom ? [...boxes, ...totals(day, middle, top, days.length <= FEW)] : boxes;
  });
  return [...lines, ...drawn];
}

function stack(day: DeploymentsBar, x: number, width: number, unit: number) {
  let top = PLOT.bottom;
  const boxes = OUTCOMES.filter((outcome) => day[outcome] > 0).map((outcome) => {
    const height = Math.max(MIN_BAR_HEIGHT, Math.round(day[outcome] * unit));
    top -= height;
    // Two lines stay white between one outcome and the next.
    return `<rect class="${outcome}" x="${x}" y="${top}" width="${width}" height="${height - 2}"/>`;
  });
  return { boxes, top };
}

function totals(day: DeploymentsBar, x: number, top: number, hasWords: boolean): string[] {
  const total = totalOfBar(day);
  if (total === 0) return [];
  const className = 'bold middle';
  if (!hasWords || day.failed === 0)
    return [text(shortNumber(total), x, top - 9, { className, size: hasWords ? 20 : 16 })];
  return [
    text(shortNumber(total), x, top - 31, { className, size: 20 }),
    text(`${shortNumber(day.failed)} failed`, x, top - 9, { className, size: 16, ink: RED_INK }),
  ];
}

/** From 0 to more than the highest bar and its words need, in steps that read well. */
function scaleOf(days: readonly DeploymentsBar[]): number[] {
  const highest = Math.max(...days.map(totalOfBar), 0);
  const needed = Math.max(4, highest * (days.length <= FEW ? 1.2 : 1.08));
  const power = 10 ** Math.floor(Math.log10(needed / 4));
  const step = power * ([1, 2, 5].findLast((each) => each * power <= needed / 3.2) ?? 1);
  return Array.from({ length: Math.ceil(needed / step) + 1 }, (_, at) => at * step);
}

/** Weekday and date under each bar; where there are many, under Mondays and the last one. */
function dayNames({ bars: days }: DeploymentsData): string[] {
  const names = days.map(({ day }) => ({ weekday: weekday(day), date: dayAndMonth(day) }));
  const last = days.length - 1;
  const lastMonday = names.findLastIndex((name) => name.weekday === 'Mon');
  return names.flatMap(({ weekday, date }, at) => {
    const isNamed = weekday === 'Mon' || (at === last && last - lastMonday > 2);
    if (days.length > FEW && !isNamed) return [];
    const x = middleOf(at, days.length);
    return [weekday, date].map((name, line) =>
      text(name, x, PLOT.bottom + 27 + line * 22, { className: 'middle' }),
    );
  });
}

/** The middle of each of so many columns. */
function middleOf(column: number, columns: number): number {
  return Math.round(PLOT.left + ((PLOT.right - PLOT.left) * (column + 0.5)) / columns);
}

/** @param words escaped for XML */
function text(
  words: string,
  x: number,
  y: number,
  { className = '', size = 18, ink }: { className?: string; size?: number; ink?: string },
): string {
  const style = `font-size:${size}px${ink ? `;fill:${ink}` : ''}`;
  return `<text x="${x}" y="${y}" class="${className}" style="${style}">${words}</text>`;
}

let compact: Intl.NumberFormat | undefined;

/** "950", "1.2K", "3M" */
function shortNumber(value: number): string {
  if (value < 1_000) return String(value);
  // Made when it is first used: formatters are slow to make.
  compact ??= new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 });
  return compact.format(value);
}
