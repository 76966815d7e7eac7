import { z } from 'zod';
import { WEEKDAYS } from '../core/schedule-choices.ts';
import { nextOccurrence } from '../core/time/cron.ts';
import { addDays, dayAt, instantAt, ZoneName } from '../core/time/zone.ts';

const Time = z.string().regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/);

/** How often a digest or a guard is due; times as `09:00`. */
export const Cadence = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('daily'), time: Time }),
  z.object({ kind: z.literal('weekdays'), time: Time }),
  z.object({ kind: z.literal('weekly'), day: z.enum(WEEKDAYS), time: Time }),
  z.object({ kind: z.literal('hourly') }),
  z.object({ kind: z.literal('cron'), cron: z.string().max(200) }),
]);
export type Cadence = z.infer<typeof Cadence>;

/** The five cron fields of a cadence. */
export function cronOf(cadence: Cadence): string {
  if (cadence.kind === 'cron') return cadence.cron;
  if (cadence.kind === 'hourly') return '0 * * * *';
  const [hour, minute] = cadence.time.split(':').map(Number);
  const days = { daily: '*', weekdays: '1-5', weekly: '' }[cadence.kind];
  return `${minute} ${hour} * * ${cadence.kind === 'weekly' ? cadence.day : days}`;
}

/**
 * The next times, milliseconds since the epoch.
 * @throws CronError for five fields that are wrong or fit no date, or an unknown zone
 */
export function nextTimes(cadence: Cadence, zone: string, after: number, amount: number): number[] {
  const cron = cronOf(cadence);
  const times: number[] = [];
  for (let from = after; times.length < amount; from = times.at(-1) ?? from)
    times.push(nextOccurrence(cron, zone, from));
  return times;
}

/** A time of the day; an end may be 24:00. */
const TimeOrMidnight = z.string().regex(/^(?:(?:[01]\d|2[0-3]):[0-5]\d|24:00)$/);

/**
 * The hours of Monday to Friday in which a watch posts. If `to` is not after `from`, they begin on a working day and end
 * on the next day.
 */
export const WorkingHours = z.object({
  from: TimeOrMidnight,
  to: TimeOrMidnight,
  /** IANA. */
  zone: ZoneName,
});
export type WorkingHours = z.infer<typeof WorkingHours>;

/** @param at milliseconds since the epoch */
export function isWithin({ from, to, zone }: WorkingHours, at: number): boolean {
  const today = dayAt(zone, at);
  // Hours that began yesterday may not have ended yet.
  return [addDays(today, -1), today].some((day) => {
    if (!isWorkingDay(day)) return false;
    const last = to > from ? day : addDays(day, 1);
    return at >= instantOf(zone, day, from) && at < instantOf(zone, last, to);
  });
}

type Day = ReturnType<typeof dayAt>;

function isWorkingDay({ year, month, day }: Day): boolean {
  const weekday = new Date(Date.UTC(year, month - 1, day)).getUTCDay();
  return weekday >= 1 && weekday <= 5;
}

function instantOf(zone: string, day: Day, time: string): number {
  const [hour = 0, minute = 0] = time.split(':').map(Number);
  return instantAt(zone, day, hour, minute);
}
