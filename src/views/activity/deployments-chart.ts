import { cut, plain } from '../../core/mrkdwn.ts';
import type { ActivityEvent, ActivityRange } from '../../service/activity.ts';
import { dayAndMonth, dayName, dayOf, daysBetween } from '../blocks/time.ts';
import { type Outcome, outcomeOf } from './outcomes.ts';

/** What a picture of deployments shows, and its alternative text says. */
export interface DeploymentsData {
  /** Whose and of when, e.g. "acme, the last 7 days"; may be foreign. */
  title: string;
  /** IANA zone in which the days begin. */
  zone: string;
  /** Every day in order, also those without deployments. */
  days: readonly DeploymentsDay[];
  /** True where the service listed only its latest events, so that the first day may be incomplete. */
  isCut: boolean;
  /** Rates of earlier occurrences of the digest, oldest first; drawn from four on. */
  rates?: readonly PastRate[] | undefined;
}

export interface DeploymentsDay extends Record<Outcome, number> {
  /** As `2026-11-20`. */
  day: string;
}

export interface PastRate {
  /** As `2026-11-20`. */
  day: string;
  /** Percentage; null without deployments. */
  rate: number | null;
}

export const OUTCOMES = ['succeeded', 'failed', 'cancelled'] as const satisfies readonly Outcome[];
/** A line of fewer says nothing. */
const FEWEST_RATES = 4;
const MOST_ALT_TEXT = 1000;
const MOST_DAYS = 62;
const GROUPED = new Intl.NumberFormat('en-US');

/** How many days before today a range begins: API 4.9 (docs/service-api.md). */
const DAYS_BACK = { today: 0, last_7_days: 6, last_30_days: 29 } as const;

/**
 * Counts the deployments of a feed by day and outcome. Days run from the range's first, or an earlier one that the
 * feed still holds, to today; of a cut feed from the oldest day it holds, since nothing is known of earlier ones.
 * @param now milliseconds since the epoch
 */
export function deploymentsByDay(
  events: readonly ActivityEvent[],
  { range, zone, now, isCut }: { range: ActivityRange; zone: string; now: number; isCut: boolean },
): DeploymentsDay[] {
  const counted = events.map((event) => ({
    day: dayOf(zone, event.created_at),
    outcome: outcomeOf(event.event),
  }));
  const oldest = counted.map(({ day }) => day).toSorted()[0];
  const today = dayOf(zone, now);
  const first = firstDay(range, today);
  const from = oldest !== undefined && (isCut || oldest < first) ? oldest : first;
  return daysBetween(from, today, MOST_DAYS).map((day) => {
    const ofDay = counted.filter((one) => one.day === day);
    const amount = (outcome: Outcome): number => ofDay.filter((one) => one.outcome === outcome).length;
    return { day, succeeded: amount('succeeded'), failed: amount('failed'), cancelled: amount('cancelled') };
  });
}

function firstDay(range: ActivityRange, today: string): string {
  const date = new Date(today);
  const sinceMonday = (date.getUTCDay() + 6) % 7;
  date.setUTCDate(date.getUTCDate() - (range === 'this_week' ? sinceMonday : DAYS_BACK[range]));
  return date.toISOString().slice(0, 10);
}

export function totalOf(data: Pick<DeploymentsData, 'days'>, outcome?: Outcome): number {
  const outcomes = outcome === undefined ? OUTCOMES : [outcome];
  return data.days.flatMap((day) => outcomes.map((one) => day[one])).reduce((sum, amount) => sum + amount, 0);
}

/** "42 deployments: 38 succeeded, 3 failed, 1 cancelled" */
export function totalWords(data: Pick<DeploymentsData, 'days'>): string {
  const total = totalOf(data);
  if (total === 0) return 'No deployments';
  const parts = OUTCOMES.map((outcome) => [totalOf(data, outcome), outcome] as const);
  const counted = parts
    .filter(([amount]) => amount > 0)
    .map(([amount, outcome]) => `${grouped(amount)} ${outcome}`);
  return `${grouped(total)} ${total === 1 ? 'deployment' : 'deployments'}: ${counted.join(', ')}`;
}

/** The past rates where they make a line. */
export function ratesOf({ rates = [] }: Pick<DeploymentsData, 'rates'>): readonly PastRate[] {
  return rates.filter(({ rate }) => rate !== null).length < FEWEST_RATES ? [] : rates;
}

/** The picture in words, for those who do not see it. */
export function altText(data: DeploymentsData): string {
  const busy = data.days.filter((day) => totalOf({ days: [day] }) > 0);
  const byDay = busy.map((day) => `${dayName(day.day)}: ${dayWords(day)}`);
  const sentences = [
    `Chart of deployments per day, ${plain(data.title, 200)}.`,
    `${totalWords(data)}.`,
    ...(data.isCut ? ['The service lists its latest events only, so earlier days are missing.'] : []),
    ...rateSentence(data),
    ...(byDay.length === 0 ? [] : [`${byDay.join('; ')}.`]),
  ];
  return cut(sentences.join(' '), MOST_ALT_TEXT);
}

function dayWords(day: DeploymentsDay): string {
  return OUTCOMES.filter((outcome) => day[outcome] > 0)
    .map((outcome) => `${grouped(day[outcome])} ${outcome}`)
    .join(', ');
}

/** "740,021" */
function grouped(amount: number): string {
  return GROUPED.format(amount);
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
