import { z } from 'zod';
import { ProjectRef } from '../core/project-ref.ts';
import { WEEKDAYS } from '../core/schedule-choices.ts';
import { nextOccurrence } from '../core/time/cron.ts';
import { ZoneName } from '../core/time/zone.ts';
import type { Collection } from '../store/store.ts';
import { ScheduleState } from './schedules.ts';

const Time = z.string().regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/);

/** How often it is due; times as `09:00`. */
export const Cadence = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('daily'), time: Time }),
  z.object({ kind: z.literal('weekdays'), time: Time }),
  z.object({ kind: z.literal('weekly'), day: z.enum(WEEKDAYS), time: Time }),
  z.object({ kind: z.literal('hourly') }),
  z.object({ kind: z.literal('cron'), cron: z.string().max(200) }),
]);
export type Cadence = z.infer<typeof Cadence>;

export type TimedNoun = 'digest' | 'guard';

/** What digests and guards have in common: schedules by the clock. Times are milliseconds since the epoch. */
export const TimedSchedule = z.object({
  /** Short, for people: `d7k2`. */
  id: z.string(),
  /** The request that set it up, so that its repetition after a kill finds it. */
  requestId: z.string(),
  channel: z.string(),
  cadence: Cadence,
  zone: ZoneName,
  /** Undefined: every connected account. */
  account: z.string().optional(),
  project: ProjectRef.optional(),
  setUpBy: z.string(),
  setUpAt: z.number(),
  state: ScheduleState,
  /** When it was resumed or edited last: earlier occurrences are none of its own. */
  activeSince: z.number().optional(),
  snoozedUntil: z.number().optional(),
});
export type TimedSchedule = z.infer<typeof TimedSchedule> & { last?: LastOccurrence | undefined };

/** How the latest occurrence ended; `reason` is mrkdwn of our own making. */
export type LastOccurrence = z.infer<ReturnType<typeof lastOccurrence<string>>>;

/** `missed`: Deckhand was down for so long that nothing was done. */
export function lastOccurrence<const Outcome extends string>(outcomes: readonly Outcome[]) {
  return z.object({
    scheduledAt: z.number(),
    at: z.number(),
    outcome: z.enum([...outcomes, 'snoozed', 'failed', 'missed']),
    reason: z.string().optional(),
  });
}

/** When it is due next; undefined while it is paused, or where its zone is not known here. */
export function nextOf(
  { state, cadence, zone, snoozedUntil = 0 }: TimedSchedule,
  now: number,
): number | undefined {
  if (state.kind !== 'active') return undefined;
  // An occurrence at the very end of the snooze is carried out.
  return nextTimes(cadence, zone, Math.max(now, snoozedUntil - 1), 1)[0];
}

export type TimedSchedules<R extends TimedSchedule> = ReturnType<typeof createTimedSchedules<R>>;

export function createTimedSchedules<R extends TimedSchedule>(stored: Collection<R>) {
  return {
    get: (id: string) => stored.get(id),
    /** Oldest first. */
    async list(): Promise<R[]> {
      const rows = await stored.list();
      return rows.map((row) => row.doc).toSorted((one, other) => one.setUpAt - other.setUpAt);
    },
    put: (schedule: R) => stored.put(schedule.id, schedule),
    /** Undefined where it is gone. */
    change: (id: string, change: (current: R) => R) =>
      stored.update(id, (current) => (current === undefined ? undefined : change(current))),
    /** False where it is gone already. */
    remove: (id: string) => stored.delete(id),
  };
}

/** The five fields that the engine knows. */
export function cronOf(cadence: Cadence): string {
  if (cadence.kind === 'cron') return cadence.cron;
  if (cadence.kind === 'hourly') return '0 * * * *';
  const [hour, minute] = cadence.time.split(':').map(Number);
  const days = { daily: '*', weekdays: '1-5', weekly: '' }[cadence.kind];
  return `${minute} ${hour} * * ${cadence.kind === 'weekly' ? cadence.day : days}`;
}

/**
 * The next times, milliseconds since the epoch.
 * @throws CronError for five fields that are wrong or fit no date, or a zone that is none
 */
export function nextTimes(cadence: Cadence, zone: string, after: number, amount: number): number[] {
  const cron = cronOf(cadence);
  const times: number[] = [];
  for (let from = after; times.length < amount; from = times.at(-1) ?? from)
    times.push(nextOccurrence(cron, zone, from));
  return times;
}
