import { HOUR_MS } from '../../core/clock.ts';
import { cut, plain } from '../../core/mrkdwn.ts';
import type { ActivityEvent, ActivityRange } from '../../service/activity.ts';
import { dayAndMonth, dayName, dayOf, daysBetween, hourOf } from '../blocks/days.ts';
import { type Outcome, outcomeOf } from './outcomes.ts';

/** What a picture of deployments shows, and its alternative text says. */
export interface DeploymentsData {
  /** Whose and of when, e.g. "acme, the last 7 days"; may be foreign. */
  title: string;
  /** IANA zone in which days and hours begin. */
  zone: string;
  /** Every day, or hour, in order, also those without deployments. */
  bars: readonly DeploymentsBar[];
  /** True where the service listed only its latest events, so that the first bar may be incomplete. */
  isCut: boolean;
  /** Rates of earlier occurrences of the digest, oldest first; drawn from four on. */
  rates?: readonly PastRate[] | undefined;
}

/** The deployments of a day, or of one hour of it. */
export interface DeploymentsBar extends Record<Outcome, number> {
  /** As `2026-11-20`. */
  day: string;
  /** From 0 to 23; undefined for a whole day. */
  hour?: number | undefined;
}

export interface PastRate {
  /** As `2026-11-20`. */
  day: string;
  /** Percentage; null without deployments. */
  rate: number | null;
}

export const OUTCOMES = ['succeeded', 'failed', 'cancelled'] as const satisfies readonly Outcome[];
export const OUTCOME_NAMES = { succeeded: 'Succeeded', failed: 'Failed', cancelled: 'Cancelled' } as const;
/** A line of fewer says nothing. */
const FEWEST_RATES = 4;
const MOST_ALT_TEXT = 1000;

export function totalOf({ bars }: Pick<DeploymentsData, 'bars'>, outcome?: Outcome): number {
  return bars.reduce((sum, bar) => sum + (outcome === undefined ? totalOfBar(bar) : bar[outcome]), 0);
}

export function totalOfBar(bar: DeploymentsBar): number {
  return OUTCOMES.reduce((sum, outcome) => sum + bar[outcome], 0);
}

/** Cancelled deployments are explained only where there are some. */
export function explainedOutcomes(data: Pick<DeploymentsData, 'bars'>): Outcome[] {
  return OUTCOMES.filter((outcome) => outcome !== 'cancelled' || totalOf(data, outcome) > 0);
}

/** "42 deployments: 38 succeeded, 3 failed, 1 cancelled" */
export function totalWords(data: Pick<DeploymentsData, 'bars'>): string {
  const total = totalOf(data);
  if (total === 0) return 'No deployments';
  const parts = OUTCOMES.map((outcome) => [totalOf(data, outcome), outcome] as const);
  const counted = parts
    .filter(([amount]) => amount > 0)
    .map(([amount, outcome]) => `${grouped(amount)} ${outcome}`);
  return `${grouped(total)} ${total === 1 ? 'deployment' : 'deployments'}: ${counted.join(', ')}`;
}

export function isHourly({ bars }: Pick<DeploymentsData, 'bars'>): boolean {
  return bars[0]?.hour !== undefined;
}

export function chartTitle(data: Pick<DeploymentsData, 'bars'>): string {
  return `Deployments per ${isHourly(data) ? 'hour' : 'day'}`;
}

/** "Days in Europe/Lisbon" */
export function zoneWords(data: Pick<DeploymentsData, 'bars' | 'zone'>): string {
  return `${isHourly(data) ? 'Hours' : 'Days'} in ${data.zone}`;
}

/** "Nov 20", "09:00", or "Nov 19, 23:00" where that is not the last bar's day; no two bars have the same. */
export function barName({ day, hour }: DeploymentsBar, { bars }: Pick<DeploymentsData, 'bars'>): string {
  if (hour === undefined) return dayAndMonth(day);
  return day === bars.at(-1)?.day ? hourName(hour) : `${dayAndMonth(day)}, ${hourName(hour)}`;
}

/** "09:00" */
function hourName(hour: number): string {
  return `${String(hour).padStart(2, '0')}:00`;
}

/** The past rates where they make a line. */
export function ratesOf({ rates = [] }: Pick<DeploymentsData, 'rates'>): readonly PastRate[] {
  return rates.filter(({ rate }) => rate !== null).length < FEWEST_RATES ? [] : rates;
}

/** "Deployments per day, acme, the last 7 days", as the title of the picture's file. */
export function chartName(data: Pick<DeploymentsData, 'bars' | 'title'>): string {
  return `${chartTitle(data)}, ${whose(data)}`;
}

/** Slack does not say whether it reads markup in titles and alternative texts, so none is left for it to read. */
function whose({ title }: Pick<DeploymentsData, 'title'>): string {
  return plain(title, 200).replaceAll('<', '‹').replaceAll('>', '›');
}

/** The picture in words, for those who do not see it. */
export function altText(data: DeploymentsData): string {
  const busy = data.bars.filter((bar) => totalOfBar(bar) > 0);
  const each = busy.map(
    (bar) => `${bar.hour === undefined ? dayName(bar.day) : barName(bar, data)}: ${barWords(bar)}`,
  );
  const sentences = [
    `Chart of ${chartTitle(data).toLowerCase()}, ${whose(data)}.`,
    `${totalWords(data)}.`,
    ...(data.isCut ? ['The service lists its latest events only, so earlier ones are missing.'] : []),
    ...rateSentence(data),
    ...(each.length === 0 ? [] : [`${each.join('; ')}.`]),
  ];
  return cut(sentences.join(' '), MOST_ALT_TEXT);
}

/** "3 succeeded, 1 failed" */
export function barWords(bar: DeploymentsBar): string {
  return OUTCOMES.filter((outcome) => bar[outcome] > 0)
    .map((outcome) => `${grouped(bar[outcome])} ${outcome}`)
    .join(', ');
}

/** "740,021" */
function grouped(amount: number): string {
  return amount < 1_000 ? String(amount) : amount.toLocaleString('en-US');
}

function rateSentence(data: DeploymentsData): string[] {
  const known = ratesOf(data).filter((past) => past.rate !== null);
  const [first, last] = [known[0], known.at(-1)];
  if (first === undefined || last === undefined) return [];
  const from = `${rateWords(first.rate)} on ${dayAndMonth(first.day)}`;
  return [`Success rate from ${from} to ${rateWords(last.rate)} on ${dayAndMonth(last.day)}.`];
}

/** "95.2 %" */
export function rateWords(rate: number | null): string {
  return rate === null ? '—' : `${Math.round(rate * 10) / 10} %`;
}

interface Window {
  range: ActivityRange;
  /** IANA zone in which days and hours begin. */
  zone: string;
  /** Milliseconds since the epoch. */
  now: number;
  /** True where the feed holds only the latest events. */
  isCut: boolean;
}

type Span = Pick<DeploymentsBar, 'day' | 'hour'>;

const MOST_DAYS = 62;
const MOST_HOURS = 48;

/** How many days before today a range begins: API 4.9 (docs/service-api.md). */
const DAYS_BACK = { last_7_days: 6, last_30_days: 29 } as const;

/**
 * Counts the deployments of a feed by outcome and day, or hour where the range is today. Bars run from the range's first,
 * or an earlier one that the feed still holds, to the current one; of a cut feed from the oldest that it holds, since
 * nothing is known of earlier ones.
 */
export function deploymentBars(events: readonly ActivityEvent[], window: Window): DeploymentsBar[] {
  const { range, zone, isCut } = window;
  const now = latestOf(events, window.now);
  const spanOf = (at: number | string): Span =>
    range === 'today' ? hourOf(zone, at) : { day: dayOf(zone, at) };
  const counted = events.map((event) => ({
    span: keyOf(spanOf(event.created_at)),
    outcome: outcomeOf(event.event),
  }));
  const oldest = counted.map(({ span }) => span).toSorted()[0];
  const first = firstSpan(range, dayOf(zone, now));
  const from = oldest !== undefined && (isCut || oldest < first) ? oldest : first;
  const spans =
    range === 'today'
      ? hoursFrom(from, zone, now)
      : daysBetween(from, dayOf(zone, now), MOST_DAYS).map((day) => ({ day }));
  const bySpan = Map.groupBy(counted, ({ span }) => span);
  return spans.map((span) => {
    const within = bySpan.get(keyOf(span)) ?? [];
    const amount = (outcome: Outcome): number => within.filter((one) => one.outcome === outcome).length;
    return {
      ...span,
      succeeded: amount('succeeded'),
      failed: amount('failed'),
      cancelled: amount('cancelled'),
    };
  });
}

/** A service whose clock is a little ahead has events of an hour that has not begun here. */
function latestOf(events: readonly ActivityEvent[], now: number): number {
  const times = events.map(({ created_at: at }) => Date.parse(at)).filter((at) => at <= now + HOUR_MS);
  return Math.max(now, ...times);
}

/** `2026-11-20`, or `2026-11-20 09`: in the order of time. */
function keyOf({ day, hour }: Span): string {
  return hour === undefined ? day : `${day} ${String(hour).padStart(2, '0')}`;
}

function firstSpan(range: ActivityRange, today: string): string {
  if (range === 'today') return keyOf({ day: today, hour: 0 });
  const date = new Date(today);
  const sinceMonday = (date.getUTCDay() + 6) % 7;
  date.setUTCDate(date.getUTCDate() - (range === 'this_week' ? sinceMonday : DAYS_BACK[range]));
  return date.toISOString().slice(0, 10);
}

/** From an hour to the current one; an hour that the clocks repeat is one, and one that they skip is none. */
function hoursFrom(from: string, zone: string, now: number): Span[] {
  const hours = Array.from({ length: MOST_HOURS }, (_, back) => hourOf(zone, now - back * HOUR_MS));
  const byKey = new Map(hours.reverse().map((hour) => [keyOf(hour), hour]));
  return [...byKey].filter(([key]) => key >= from).map(([, hour]) => hour);
}
