import { countCurrencyDigits, parseAmount, readCurrency, writeDecimal } from '../../core/amount.ts';
import { duration, mrkdwn, sanitize, toClause, withoutStop } from '../../core/mrkdwn.ts';
import { MINUTE_MS } from '../../core/time/clock.ts';

/** Cached names, because `Intl` takes microseconds for each. Feeds cover the same few weeks. */
const MAX_DAYS = 100;

/** "Friday, Nov 20" */
export const dayName = dayFormat({ weekday: 'long', day: 'numeric', month: 'short' });

/** "Nov 20, 2026" */
export const dateName = dayFormat({ day: 'numeric', month: 'short', year: 'numeric' });

/** "November 2026" */
export const monthName = dayFormat({ month: 'long', year: 'numeric' });

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
 * An amount in its own currency, e.g. "7.60 EUR". A text stays as it is, unless it is spelt in an odd way that can be read, such as
 * "(12.00)". A number has at least the digits of its currency. `currency` is a code in any letter case; if it is unknown, only the
 * amount is shown. Nothing is rounded.
 */
export function money(amount: number | string | null, currency: string | null | undefined): string {
  const text = amount === null ? '' : sanitize(String(amount).trim(), MAX_AMOUNT);
  if (text === '') return '—';
  const name = readCurrency(currency);
  const decimal = parseAmount(text, currency);
  const isPlain = typeof amount === 'string' && PLAIN_AMOUNT.test(text);
  const figure = isPlain || decimal === undefined ? text : writeDecimal(decimal, countCurrencyDigits(name));
  // Another text may name its currency.
  return name === undefined || (decimal === undefined && !isPlain) ? figure : `${figure} ${name}`;
}

const PLAIN_AMOUNT = /^[-+]?\d[\d.,' ]*$/;
const MAX_AMOUNT = 60;

/** "7.60 EUR a month" */
export function monthly(amount: number | string | null, currency: string | null | undefined): string {
  return amount === null ? '—' : `${money(amount, currency)} a month`;
}

/** A long duration in whole minutes. @param ms milliseconds */
export function roughly(ms: number): string {
  return duration(ms < MINUTE_MS ? ms : Math.round(ms / MINUTE_MS) * MINUTE_MS);
}

/** The first sentence of a reason, and the others; mrkdwn. */
export function splitReason(reason: string): [first: string, others: string] {
  const end = reason.search(/[.!?] /);
  return end < 0 ? [reason, ''] : [reason.slice(0, end + 1), reason.slice(end + 2)];
}

const COMMON_START = /^(?:The|Your|It|This|There|An?|No)\b/;

/** The first sentence of a reason as a clause for a headline: "the key of `acme` was revoked". */
export function firstClause(reason: string): string {
  const [first] = splitReason(reason);
  return COMMON_START.test(first) ? toClause(first) : withoutStop(first);
}
