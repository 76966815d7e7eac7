import { setTimeout as wait } from 'node:timers/promises';

/** Time as a dependency. The process has one clock; a test sets its own. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Resolves after `ms` milliseconds; rejects with `signal.reason` as soon as the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Longest sleep of an alarm before it reads the time again, in milliseconds; 30 s if left out. */
  lookMs?: number;
}

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** The longest delay a Node timer takes (2^31 - 1 ms, about 24.8 days); longer sleeps are made of several. */
const MAX_TIMER = 2_147_483_647;

export const systemClock: Clock = {
  now: () => Date.now(),
  // A machine that slept, or whose clock was set, must not wait longer for what is due.
  lookMs: 1_000,
  async sleep(ms, signal) {
    for (let remaining = ms; remaining >= 0; remaining -= MAX_TIMER)
      await wait(Math.min(remaining, MAX_TIMER), undefined, { signal }).catch(() => signal?.throwIfAborted());
  },
};

/**
 * The result of `work` within `ms` milliseconds, else undefined; the work continues. AbortSignal.timeout
 * would use the real clock.
 */
export async function withTimeout<T>(clock: Clock, ms: number, work: Promise<T>): Promise<T | undefined> {
  const timer = new AbortController();
  try {
    return await Promise.race([work, clock.sleep(ms, timer.signal).then(() => undefined)]);
  } finally {
    timer.abort();
  }
}

/** Maximum sleep of an alarm, so that it notices a changed wall clock or a machine that slept. */
const MAX_SLEEP_MS = 30_000;

/** Without a reason, an abort makes an error with a stack. */
const REPLACED = 'replaced';

/** A timer that can be set again. It may ring early. */
export interface Alarm {
  /** Replaces the time, in milliseconds since the epoch; undefined: it never rings. */
  set(at: number | undefined): void;
}

export function createAlarm(clock: Clock, ring: () => void): Alarm {
  let sleeper: { wakesAt: number; abort: AbortController } | undefined;
  return {
    set(at) {
      const now = clock.now();
      // A sleep that ends before a later time is kept, unless the clock was set since.
      if (at !== undefined && sleeper !== undefined && now <= sleeper.wakesAt && sleeper.wakesAt <= at)
        return;
      sleeper?.abort.abort(REPLACED);
      sleeper = undefined;
      if (at === undefined) return;
      const ms = Math.min(Math.max(0, at - now), clock.lookMs ?? MAX_SLEEP_MS);
      const mine = { wakesAt: now + ms, abort: new AbortController() };
      sleeper = mine;
      clock.sleep(ms, mine.abort.signal).then(
        () => {
          if (sleeper !== mine) return;
          sleeper = undefined;
          ring();
        },
        // Only `set` aborts it.
        () => undefined,
      );
    },
  };
}

const ISO_8601 =
  /^(\d{4})-?(\d\d)-?(\d\d)[T ](\d\d):?(\d\d)(?::?(\d\d)(?:[.,](\d+))?)?\s?(Z|[+-]\d\d(?::?\d\d)?)?$/i;

/**
 * Rewrites an ISO 8601 text for `Date`, which rejects texts without separators, with a comma in the seconds,
 * or with an offset in hours only. Without an offset, the text is in UTC, not in this machine's zone. Any
 * other text stays unchanged.
 */
export function normaliseInstant(text: string): string {
  const [, year, month, day, hour, minute, second = '00', fraction, zone = 'Z'] = ISO_8601.exec(text) ?? [];
  if (year === undefined) return text;
  const digits = fraction === undefined ? '' : `.${fraction}`;
  const offset = zone.length === 3 ? `${zone}:00` : zone.replace(/^(...)(\d\d)$/, '$1:$2').toUpperCase();
  return `${year}-${month}-${day}T${hour}:${minute}:${second}${digits}${offset}`;
}

/**
 * The numbers of an instant's local time, in the order of "11/20/2026, 09:05:00". Formatters are slow to
 * make, so each zone has one. Formatting to parts would take several times as long.
 * @param nameOf returns the zone's name for `Intl`
 */
export function createPartsReader(
  fields: Intl.DateTimeFormatOptions,
  nameOf: (zone: string) => string = (zone) => zone,
): (zone: string, instant: number) => string[] {
  const formatters = new Map<string, Intl.DateTimeFormat>();
  function made(zone: string): Intl.DateTimeFormat {
    const base = { calendar: 'gregory', numberingSystem: 'latn', hourCycle: 'h23' } as const;
    const formatter = new Intl.DateTimeFormat('en-US', { ...fields, ...base, timeZone: nameOf(zone) });
    formatters.set(zone, formatter);
    return formatter;
  }
  return (zone, instant) => (formatters.get(zone) ?? made(zone)).format(instant).split(/\D+/);
}

const dateNumbers = createPartsReader({ year: 'numeric', month: '2-digit', day: '2-digit' });

/** The day at an instant in an IANA zone, as `2026-11-20`. Milliseconds since the epoch, or ISO 8601. */
export function formatDay(zone: string, at: number | string): string {
  const [month, day, year = ''] = dateNumbers(zone, typeof at === 'number' ? at : Date.parse(at));
  // `Date` reads years above 9999 only with a sign and six digits. Otherwise it would use this machine's zone.
  const iso = year.length > 4 ? `+${year.padStart(6, '0')}` : year.padStart(4, '0');
  return `${iso}-${month}-${day}`;
}

/** All days from one to another, both included; at most the latest `most`. */
export function daysBetween(from: string, to: string, most = 366): string[] {
  const last = Date.parse(to);
  const count = Math.min(most, Math.floor((last - Date.parse(from)) / DAY_MS) + 1);
  return Array.from({ length: Math.max(0, count) }, (_, at) =>
    new Date(last - (count - 1 - at) * DAY_MS).toISOString().slice(0, 10),
  );
}
