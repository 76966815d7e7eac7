const QUARTER_MS = 900_000;
const SECOND_MS = 1_000;
/** There is no later instant. */
const LAST_MS = 8.64e15;
/** Of a zone: ten days. */
const MAX_KEPT = 1_000;

/**
 * Remembers what holds in a zone throughout a quarter of an hour, as the hour and the offset do: `Intl` takes some
 * microseconds for each instant. What changes within a quarter is asked for each time.
 * @param ask for an instant in milliseconds since the epoch, of which only whole seconds count
 */
export function cachePerQuarterHour<T extends string | number>(
  ask: (zone: string, instant: number) => T,
): (zone: string, instant: number) => T {
  const zones = new Map<string, Map<number, T>>();
  return (zone, instant) => {
    const kept = zones.get(zone) ?? new Map<number, T>();
    zones.set(zone, kept);
    const quarter = Math.floor(instant / QUARTER_MS);
    const before = kept.get(quarter);
    if (before !== undefined) return before;
    const found = ask(zone, instant);
    const from = quarter * QUARTER_MS;
    const last = Math.min(from + QUARTER_MS - SECOND_MS, LAST_MS);
    if (ask(zone, from) !== found || ask(zone, last) !== found) return found;
    if (kept.size >= MAX_KEPT) kept.clear();
    kept.set(quarter, found);
    return found;
  };
}

/**
 * The numbers of an instant's local time, in the order of "11/20/2026, 09:05:00". One formatter a zone: they are slow to
 * make, and the zones are few. Its parts one by one would take several times as long.
 * @param shown which numbers
 * @param nameOf the zone's name as `Intl` knows it
 */
export function zonedParts(
  shown: Intl.DateTimeFormatOptions,
  nameOf: (zone: string) => string = (zone) => zone,
): (zone: string, instant: number) => string[] {
  const formatters = new Map<string, Intl.DateTimeFormat>();
  function made(zone: string): Intl.DateTimeFormat {
    const plain = { calendar: 'gregory', numberingSystem: 'latn', hourCycle: 'h23' } as const;
    const formatter = new Intl.DateTimeFormat('en-US', { ...shown, ...plain, timeZone: nameOf(zone) });
    formatters.set(zone, formatter);
    return formatter;
  }
  return (zone, instant) => (formatters.get(zone) ?? made(zone)).format(instant).split(/\D+/);
}
