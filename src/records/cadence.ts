import { z } from 'zod';
import { WEEKDAYS } from '../core/schedule-choices.ts';
import { nextOccurrence } from '../core/time/cron.ts';

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
