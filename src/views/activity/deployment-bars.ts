import type { ActivityEvent, ActivityRange } from '../../service/activity.ts';
import { dayOf, daysBetween, hourOf } from '../blocks/time.ts';
import type { DeploymentsBar } from './deployments-chart.ts';
import { type Outcome, outcomeOf } from './outcomes.ts';

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
const HOUR_MS = 3_600_000;

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
  return spans.map((span) => {
    const within = counted.filter((one) => one.span === keyOf(span));
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
