const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/**
 * Writes one of Slack's date tokens in the reader's own zone and language.
 * @param timestamp seconds since the epoch
 * @param format text with `{date}`, `{time}` and the like
 * @param now milliseconds since the epoch, for "today" and "ago"
 */
export function formatDate(timestamp: number, format: string, now: number = Date.now()): string {
  const date = new Date(timestamp * 1000);
  return format.replace(/\{(\w+)\}/g, (token, name: string) => writers[name]?.(date, now) ?? token);
}

/** False if Slack cannot format a date so, and shows the token's fallback instead. */
export function isDateFormat(format: string): boolean {
  return [...format.matchAll(/\{(\w+)\}/g)].every(([, name = '']) => writers[name] !== undefined);
}

type Writer = (date: Date, now: number) => string;

const writers: Readonly<Record<string, Writer>> = {
  date_num: (date) => `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`,
  date_slash: write({ year: 'numeric', month: '2-digit', day: '2-digit' }),
  date: write({ year: 'numeric', month: 'long', day: 'numeric' }),
  date_short: write({ year: 'numeric', month: 'short', day: 'numeric' }),
  date_long: write({ weekday: 'long', year: 'numeric', month: 'long', day: 'numeric' }),
  date_pretty: pretty({ year: 'numeric', month: 'long', day: 'numeric' }),
  date_short_pretty: pretty({ year: 'numeric', month: 'short', day: 'numeric' }),
  date_long_pretty: pretty({ weekday: 'long', year: 'numeric', month: 'long', day: 'numeric' }),
  day_divider_pretty: pretty({ weekday: 'long', month: 'long', day: 'numeric' }),
  time: write({ hour: 'numeric', minute: '2-digit' }),
  time_secs: write({ hour: 'numeric', minute: '2-digit', second: '2-digit' }),
  ago: (date, now) => ago(date.getTime() - now),
};

function write(options: Intl.DateTimeFormatOptions): Writer {
  return (date) => new Intl.DateTimeFormat(undefined, options).format(date);
}

function pretty(options: Intl.DateTimeFormatOptions): Writer {
  return (date, now) => dayWord(date, now) ?? write(options)(date, now);
}

function dayWord(date: Date, now: number): string | undefined {
  const days = Math.round((midnight(date) - midnight(new Date(now))) / DAY_MS);
  if (days < -1 || days > 1) return undefined;
  return new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' }).format(days, 'day');
}

function midnight(date: Date): number {
  return new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
}

function ago(ms: number): string {
  const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' });
  const size = Math.abs(ms);
  if (size < HOUR_MS) return relative.format(Math.trunc(ms / MINUTE_MS), 'minute');
  if (size < DAY_MS) return relative.format(Math.trunc(ms / HOUR_MS), 'hour');
  return relative.format(Math.trunc(ms / DAY_MS), 'day');
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}
