import { z } from 'zod';
import { addDays, dayAt, instantAt, ZoneName } from '../core/time/zone.ts';

/** A time of the day; an end may be 24:00. */
const Time = z.string().regex(/^(?:(?:[01]\d|2[0-3]):[0-5]\d|24:00)$/);

/**
 * The hours of Monday to Friday in which a watch posts. If `to` is not after `from`, they begin on a working day and end
 * on the next day.
 */
export const WorkingHours = z.object({
  from: Time,
  to: Time,
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
