import { cut, plain } from '../../core/mrkdwn.ts';
import { dayAndMonth, dayName } from '../blocks/time.ts';
import type { Outcome } from './outcomes.ts';

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
/** A line of fewer says nothing. */
const FEWEST_RATES = 4;
const MOST_ALT_TEXT = 1000;
const GROUPED = new Intl.NumberFormat('en-US');

export function totalOf(data: Pick<DeploymentsData, 'bars'>, outcome?: Outcome): number {
  const outcomes = outcome === undefined ? OUTCOMES : [outcome];
  return data.bars.flatMap((bar) => outcomes.map((one) => bar[one])).reduce((sum, amount) => sum + amount, 0);
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

/** "Nov 20", "09:00", or "Nov 19, 23:00" where that is not the last bar's day; no two bars have the same. */
export function barName({ day, hour }: DeploymentsBar, { bars }: Pick<DeploymentsData, 'bars'>): string {
  if (hour === undefined) return dayAndMonth(day);
  return day === bars.at(-1)?.day ? hourName(hour) : `${dayAndMonth(day)}, ${hourName(hour)}`;
}

function spokenName(bar: DeploymentsBar, data: Pick<DeploymentsData, 'bars'>): string {
  return bar.hour === undefined ? dayName(bar.day) : barName(bar, data);
}

/** "09:00" */
function hourName(hour: number): string {
  return `${String(hour).padStart(2, '0')}:00`;
}

/** The past rates where they make a line. */
export function ratesOf({ rates = [] }: Pick<DeploymentsData, 'rates'>): readonly PastRate[] {
  return rates.filter(({ rate }) => rate !== null).length < FEWEST_RATES ? [] : rates;
}

/** The picture in words, for those who do not see it. */
export function altText(data: DeploymentsData): string {
  const busy = data.bars.filter((bar) => totalOf({ bars: [bar] }) > 0);
  const each = busy.map((bar) => `${spokenName(bar, data)}: ${barWords(bar)}`);
  const sentences = [
    `Chart of ${chartTitle(data).toLowerCase()}, ${plain(data.title, 200)}.`,
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
