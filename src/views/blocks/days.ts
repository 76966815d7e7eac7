/** Formatters are slow to make. Of these there is one a zone; zones are few, and checked before they come here. */
const formatters = new Map<string, Intl.DateTimeFormat>();
const DAY_MS = 86_400_000;
const NAME = formatOf({ weekday: 'long', day: 'numeric', month: 'long' });
const DATE = formatOf({ day: 'numeric', month: 'short', year: 'numeric' });
const DAY_AND_MONTH = formatOf({ day: 'numeric', month: 'short' });
const WEEKDAY = formatOf({ weekday: 'short' });

/** The day at an instant in an IANA zone, as `2026-11-20`. Milliseconds since the epoch, or ISO 8601. */
export function dayOf(zone: string, at: number | string): string {
  const instant = typeof at === 'number' ? at : Date.parse(at);
  const parts = Object.fromEntries(
    formatterOf(zone)
      .formatToParts(instant)
      .map(({ type, value }) => [type, value]),
  );
  return `${parts.year?.padStart(4, '0')}-${parts.month}-${parts.day}`;
}

/** All days from one to another, both included, at most `most` and then the latest. */
export function daysBetween(from: string, to: string, most = 366): string[] {
  const last = Date.parse(to);
  const count = Math.min(most, Math.floor((last - Date.parse(from)) / DAY_MS) + 1);
  return Array.from({ length: Math.max(0, count) }, (_, at) =>
    new Date(last - (count - 1 - at) * DAY_MS).toISOString().slice(0, 10),
  );
}

/** "Friday 20 November" */
export function dayName(day: string): string {
  return NAME.format(Date.parse(day));
}

/** "20 Nov 2026" */
export function dateName(day: string): string {
  return DATE.format(Date.parse(day));
}

/** "20 Nov" */
export function dayAndMonth(day: string): string {
  return DAY_AND_MONTH.format(Date.parse(day));
}

/** "Fri" */
export function weekday(day: string): string {
  return WEEKDAY.format(Date.parse(day));
}

function formatOf(options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat('en-GB', { ...options, timeZone: 'UTC' });
}

function formatterOf(zone: string): Intl.DateTimeFormat {
  const known = formatters.get(zone);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  });
  formatters.set(zone, made);
  return made;
}
