import { duration, mrkdwn } from '../../core/mrkdwn.ts';
import { MINUTE_MS } from '../../core/time/clock.ts';

/** Cached names, because `Intl` takes microseconds for each. Feeds cover the same few weeks. */
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

/** Formats a day such as `2026-11-20`, in the same order as Slack's date tokens. */
function dayFormat(options: Intl.DateTimeFormatOptions): (day: string) => string {
  // Made on first use: four of them took a tenth of the start-up time.
  let format: Intl.DateTimeFormat | undefined;
  const formats = new Map<string, string>();
  return (day) => {
    const before = formats.get(day);
    if (before !== undefined) return before;
    format ??= new Intl.DateTimeFormat('en-US', { ...options, timeZone: 'UTC' });
    const text = format.format(Date.parse(day));
    if (formats.size >= MAX_DAYS) formats.clear();
    formats.set(day, text);
    return text;
  };
}

/**
 * An amount in its own currency, e.g. "7.60 EUR". A text stays as it is. A number has at least the digits of
 * its currency. `currency` is a code in any letter case; if it is unknown, only the number is shown. Nothing
 * is rounded.
 */
export function money(amount: number | string | null, currency: string | null | undefined): string {
  const currencyCode = /^[a-z]{3}$/i.test(currency ?? '') ? (currency ?? '').toUpperCase() : undefined;
  const decimal = String(amount).trim();
  if (!/^[-+]?\d[\d.,' ]*$/.test(decimal)) return '—';
  const figure = typeof amount === 'number' ? withDigits(decimal, currencyCode) : decimal;
  return currencyCode === undefined ? figure : `${figure} ${currencyCode}`;
}

/** "7.60 EUR a month" */
export function monthly(amount: number | null, currency: string | null | undefined): string {
  return amount === null ? '—' : `${money(amount, currency)} a month`;
}

function withDigits(decimal: string, currency: string | undefined): string {
  const [whole = '', fraction = ''] = decimal.split('.');
  const padded = fraction.padEnd(countDigits(currency), '0');
  return padded === '' ? whole : `${whole}.${padded}`;
}

/** Digits after the point: 2 for euros, none for yen. */
function countDigits(currency: string | undefined): number {
  if (currency === undefined) return 2;
  const format = new Intl.NumberFormat('en', { style: 'currency', currency });
  return format.resolvedOptions().minimumFractionDigits ?? 2;
}

/** A long duration in whole minutes. @param ms milliseconds */
export function roughly(ms: number): string {
  return duration(ms < MINUTE_MS ? ms : Math.round(ms / MINUTE_MS) * MINUTE_MS);
}
