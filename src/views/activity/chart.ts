import type { DataVisualizationBlock, KnownBlock, Message } from '../../core/message.ts';
import { sanitize } from '../../core/mrkdwn.ts';
import { HOUR_MS } from '../../core/time/clock.ts';
import {
  type ActivityEvent,
  type ActivityRange,
  DAYS_BACK,
  type Outcome,
  outcomeOf,
} from '../../service/activity.ts';
import { dayAndMonth, dayOf, daysBetween, shortDayName } from '../blocks/formats.ts';
import { LIMITS, section } from '../blocks/message.ts';

const OUTCOME_ICONS = { succeeded: ':white_check_mark:', failed: ':x:', cancelled: ':no_entry_sign:' };

const EVENT_ICONS: ReadonlyMap<string, string> = new Map([
  ['deploy_started', ':arrow_forward:'],
  ['deploy_running', ':arrows_counterclockwise:'],
  ['deploy_pending', ':hourglass_flowing_sand:'],
  ['deploy_queued', ':hourglass_flowing_sand:'],
  ['project_created', ':new:'],
  ['server_created', ':new:'],
]);

export function outcomeIcon(event: string): string {
  const outcome = outcomeOf(event);
  return outcome ? OUTCOME_ICONS[outcome] : (EVENT_ICONS.get(event) ?? ':small_blue_diamond:');
}

/** The data of a chart of deployments. */
export interface DeploymentsData {
  /** IANA zone in which days begin. */
  zone: string;
  /** Every day, in order, also those without deployments. */
  bars: readonly DeploymentsBar[];
  /** True if the service listed only its latest events, so that the first bar may be incomplete. */
  isTruncated: boolean;
}

/** The deployments of a day. */
export interface DeploymentsBar extends Record<Outcome, number> {
  /** E.g. `2026-11-20`. */
  day: string;
}

const OUTCOMES = ['succeeded', 'failed', 'cancelled'] as const satisfies readonly Outcome[];
const OUTCOME_NAMES = { succeeded: 'Succeeded', failed: 'Failed', cancelled: 'Cancelled' } as const;
const CHART_TITLE = 'Deployments per day';

export function totalOf({ bars }: Pick<DeploymentsData, 'bars'>, outcome?: Outcome): number {
  return bars.reduce((sum, bar) => sum + (outcome === undefined ? totalOfBar(bar) : bar[outcome]), 0);
}

function totalOfBar(bar: DeploymentsBar): number {
  return OUTCOMES.reduce((sum, outcome) => sum + bar[outcome], 0);
}

/** The legend names cancelled deployments only if there are some. */
function explainedOutcomes(data: Pick<DeploymentsData, 'bars'>): Outcome[] {
  return OUTCOMES.filter((outcome) => outcome !== 'cancelled' || totalOf(data, outcome) > 0);
}

/** "42 deployments: 38 succeeded, 3 failed, 1 cancelled" */
export function totalWords(data: Pick<DeploymentsData, 'bars'>): string {
  return amountWords((outcome) => totalOf(data, outcome));
}

/** The same of a feed. */
export function outcomeWords(events: readonly ActivityEvent[]): string {
  return amountWords((outcome) => events.filter(({ event }) => outcomeOf(event) === outcome).length);
}

function amountWords(amountOf: (outcome: Outcome) => number): string {
  const total = OUTCOMES.reduce((sum, outcome) => sum + amountOf(outcome), 0);
  if (total === 0) return 'No deployments';
  return `${rounded(total)} ${total === 1 ? 'deployment' : 'deployments'}: ${countedWords(amountOf)}`;
}

/** "3 succeeded, 1 failed" */
function countedWords(amountOf: (outcome: Outcome) => number): string {
  const some = OUTCOMES.filter((outcome) => amountOf(outcome) > 0);
  return some.map((outcome) => `${rounded(amountOf(outcome))} ${outcome}`).join(', ');
}

/** False without deployments, and for a single day, whose numbers the message has already. */
function isWorthDrawing(data: Pick<DeploymentsData, 'bars'>): boolean {
  return data.bars.length > 1 && totalOf(data) > 0;
}

function barWords(bar: DeploymentsBar): string {
  return countedWords((outcome) => bar[outcome]);
}

/** Made once, when it is first used: formatters are slow to make. */
let oneDecimal: Intl.NumberFormat | undefined;

/** "740,021", "4.5" */
export function rounded(value: number): string {
  // As the formatter says it, in a hundredth of the time.
  if (Number.isInteger(value) && value > 0 && value < 1_000) return String(value);
  oneDecimal ??= new Intl.NumberFormat('en-US', { maximumFractionDigits: 1 });
  return oneDecimal.format(value);
}

/** "95.2 %" */
export function percentage(value: number): string {
  // 99.96 is not everything: only a hundred reads as a hundred.
  const shown = value < 100 ? Math.min(Math.round(value * 10) / 10, 99.9) : value;
  return `${rounded(shown)} %`;
}

interface Window {
  range: ActivityRange;
  /** IANA zone in which days begin. */
  zone: string;
  /** Milliseconds since the epoch. */
  now: number;
  /** True if the feed holds only the latest events. */
  isTruncated: boolean;
}

const MAX_DAYS = 62;

/**
 * Counts the deployments of a feed by outcome and day. Days run from the range's first, or an earlier one that the feed
 * still holds, to today; of a cut feed from the oldest that it holds, since nothing is known of earlier ones. Today is
 * always one day, also where the service's day began before that of the zone.
 */
export function deploymentBars(
  events: readonly ActivityEvent[],
  { range, zone, now, isTruncated }: Window,
): DeploymentsBar[] {
  const today = dayOf(zone, latestOf(events, now));
  const first = firstDay(range, today);
  const byDay = Map.groupBy(events, ({ created_at: at }) => (range === 'today' ? today : dayOf(zone, at)));
  const oldest = [...byDay.keys()].toSorted()[0];
  const from = oldest !== undefined && (isTruncated || oldest < first) ? oldest : first;
  return daysBetween(from, today, MAX_DAYS).map((day) => {
    const outcomes = (byDay.get(day) ?? []).map(({ event }) => outcomeOf(event));
    const amount = (outcome: Outcome): number => outcomes.filter((one) => one === outcome).length;
    return { day, succeeded: amount('succeeded'), failed: amount('failed'), cancelled: amount('cancelled') };
  });
}

/** A service whose clock is a little ahead has events of a day that has not begun here. */
function latestOf(events: readonly ActivityEvent[], now: number): number {
  const times = events.map(({ created_at: at }) => Date.parse(at)).filter((at) => at <= now + HOUR_MS);
  return Math.max(now, ...times);
}

function firstDay(range: ActivityRange, today: string): string {
  const date = new Date(today);
  const sinceMonday = (date.getUTCDay() + 6) % 7;
  date.setUTCDate(date.getUTCDate() - (range === 'this_week' ? sinceMonday : DAYS_BACK[range]));
  return date.toISOString().slice(0, 10);
}

/** The charts of a message, by account. */
export type Charts = ReadonlyMap<string, KnownBlock>;

/** More would make the message too long. */
const MAX_CHARTS = 4;
/** Lines for all charts in words together. */
const WORDS_ROOM = 30;

/**
 * Builds a message with a chart for each account with deployments. Charts beyond the two that Slack draws are words, and
 * so are all if Slack refuses the block.
 */
export function withCharts(
  data: ReadonlyMap<string, DeploymentsData>,
  build: (charts: Charts) => Message,
): Message {
  const charts = [...data].filter(([, each]) => isWorthDrawing(each)).slice(0, MAX_CHARTS);
  if (charts.length === 0) return build(new Map());
  const maxLines = Math.floor(WORDS_ROOM / charts.length);
  const words = charts.map(([account, each]) => [account, chartWords(each, maxLines)] as const);
  const drawn = charts
    .slice(0, LIMITS.chartsInMessage)
    .map(([account, each]) => [account, chartBlock(each)] as const);
  return { ...build(new Map([...words, ...drawn])), fallback: () => build(new Map(words)) };
}

/** The chart that Slack draws. */
export function chartBlock(data: DeploymentsData): DataVisualizationBlock {
  const { size, groups } = groupDays(data.bars);
  return {
    type: 'data_visualization',
    title: size === 1 ? CHART_TITLE : `Deployments, ${size} days a bar`,
    chart: {
      type: 'bar',
      series: explainedOutcomes(data).map((outcome) => ({
        name: OUTCOME_NAMES[outcome],
        data: groups.map((bars) => ({ label: spanName(bars), value: totalOf({ bars }, outcome) })),
      })),
      axis_config: {
        categories: groups.map(spanName),
        x_label: sanitize(`Days in ${data.zone}`, LIMITS.chartTitle),
      },
    },
  };
}

type Bars = DeploymentsData['bars'];

/** Consecutive days that share a bar, as few as Slack's limit of points allows. The last bar ends today. */
function groupDays(bars: Bars): { size: number; groups: Bars[] } {
  const size = Math.ceil(bars.length / LIMITS.chartCategories);
  const groups: Bars[] = [];
  for (let end = bars.length; end > 0; end -= size) groups.unshift(bars.slice(Math.max(0, end - size), end));
  return { size, groups };
}

/** "Fri, Nov 20"; for several days "Nov 19–20" or "Oct 31–Nov 1". */
function spanName(bars: Bars): string {
  const [first, last] = [bars[0]?.day ?? '', bars.at(-1)?.day ?? ''];
  if (first === last) return shortDayName(first);
  const isOneMonth = first.slice(0, 7) === last.slice(0, 7);
  return `${dayAndMonth(first)}–${isOneMonth ? Number(last.slice(8)) : dayAndMonth(last)}`;
}

/** Width of a bar of words, in characters. */
const WIDTH = 16;

/** The chart in words, a line for each day that has deployments. @param maxLines how many of the latest, up to 30 */
export function chartWords(data: DeploymentsData, maxLines: number): KnownBlock {
  const busy = data.bars.filter((bar) => totalOfBar(bar) > 0).slice(-maxLines);
  const most = Math.max(...busy.map((bar) => totalOfBar(bar)));
  const longest = Math.max(...busy.map(({ day }) => shortDayName(day).length));
  const lines = busy.map((bar) => {
    const length = Math.ceil((totalOfBar(bar) / most) * WIDTH);
    return `${shortDayName(bar.day).padEnd(longest)}  ${'▇'.repeat(length)} ${barWords(bar)}`;
  });
  return section(`*${CHART_TITLE}*\n\`\`\`\n${lines.join('\n')}\n\`\`\``);
}
