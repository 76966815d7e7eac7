import { duration, mrkdwn } from '../../core/mrkdwn.ts';
import { DAY_MS, MINUTE_MS, zonedParts } from '../../core/time/clock.ts';

/** Cached names: `Intl` takes microseconds for each, and feeds cover the same few weeks. */
const MAX_DAYS = 100;

/** "Friday, Nov 20" */
export const dayName = dayFormat({ weekday: 'long', day: 'numeric', month: 'short' });

/** "Nov 20, 2026" */
export const dateName = dayFormat({ day: 'numeric', month: 'short', year: 'numeric' });

/** "Fri, Nov 20" */
export const shortDayName = dayFormat({ weekday: 'short', day: 'numeric', month: 'short' });

/** "Nov 20" */
export const dayAndMonth = dayFormat({ day: 'numeric', month: 'short' });

/** "America/New York"; mrkdwn. */
export function zoneName(zone: string): string {
  return mrkdwn(zone.replaceAll('_', ' '), 60);
}

/** Formats a day such as `2026-11-20`, in the order in which Slack's tokens have it. */
function dayFormat(options: Intl.DateTimeFormatOptions): (day: string) => string {
  // Made when it is first used: four of them took a tenth of a start.
  let format: Intl.DateTimeFormat | undefined;
  const known = new Map<string, string>();
  return (day) => {
    const before = known.get(day);
    if (before !== undefined) return before;
    format ??= new Intl.DateTimeFormat('en-US', { ...options, timeZone: 'UTC' });
    const text = format.format(Date.parse(day));
    if (known.size >= MAX_DAYS) known.clear();
    known.set(day, text);
    return text;
  };
}

const numbersOf = zonedParts({ year: 'numeric', month: '2-digit', day: '2-digit' });

/** The day at an instant in an IANA zone, as `2026-11-20`. Milliseconds since the epoch, or ISO 8601. */
export function dayOf(zone: string, at: number | string): string {
  const [month, day, year = ''] = numbersOf(zone, typeof at === 'number' ? at : Date.parse(at));
  // Years of more than four digits have a sign and six digits: without them they are read in this machine's zone.
  const iso = year.length > 4 ? `+${year.padStart(6, '0')}` : year.padStart(4, '0');
  return `${iso}-${month}-${day}`;
}

/** All days from one to another, both included, at most the latest `most`. */
export function daysBetween(from: string, to: string, most = 366): string[] {
  const last = Date.parse(to);
  const count = Math.min(most, Math.floor((last - Date.parse(from)) / DAY_MS) + 1);
  return Array.from({ length: Math.max(0, count) }, (_, at) =>
    new Date(last - (count - 1 - at) * DAY_MS).toISOString().slice(0, 10),
  );
}

/**
 * An amount in its own currency, e.g. "7.60 EUR". A text is shown as it is given; a number has the digits that its
 * currency has at least. `currency` is a code in any letter case; where it is unknown, the number alone is shown. Nothing
 * is rounded.
 */
export function money(amount: number | string | null, currency: string | null | undefined): string {
  const known = /^[a-z]{3}$/i.test(currency ?? '') ? (currency ?? '').toUpperCase() : undefined;
  const decimal = String(amount).trim();
  if (!/^[-+]?\d[\d.,' ]*$/.test(decimal)) return '—';
  const shown = typeof amount === 'number' ? withDigits(decimal, known) : decimal;
  return known === undefined ? shown : `${shown} ${known}`;
}

/** "7.60 EUR a month" */
export function monthly(amount: number | null, currency: string | null | undefined): string {
  return amount === null ? '—' : `${money(amount, currency)} a month`;
}

function withDigits(decimal: string, currency: string | undefined): string {
  const [whole = '', fraction = ''] = decimal.split('.');
  const padded = fraction.padEnd(digitsOf(currency), '0');
  return padded === '' ? whole : `${whole}.${padded}`;
}

/** Digits after the point: 2 for euros, none for yen. */
function digitsOf(currency: string | undefined): number {
  if (currency === undefined) return 2;
  const format = new Intl.NumberFormat('en', { style: 'currency', currency });
  return format.resolvedOptions().minimumFractionDigits ?? 2;
}

/** A long time in whole minutes, of milliseconds. */
export function roughly(ms: number): string {
  return duration(ms < MINUTE_MS ? ms : Math.round(ms / MINUTE_MS) * MINUTE_MS);
}
