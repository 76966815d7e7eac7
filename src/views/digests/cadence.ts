import { code, mrkdwn } from '../../core/mrkdwn.ts';
import type { Weekday } from '../../core/schedule-choices.ts';

/** How often something is posted; times as `09:00`, in a zone that is told apart. */
export type ShownCadence =
  | { kind: 'daily' | 'weekdays'; time: string }
  | { kind: 'weekly'; day: Weekday; time: string }
  | { kind: 'cron'; cron: string };
export const DAY_NAMES: Readonly<Record<Weekday, string>> = {
  mon: 'Monday',
  tue: 'Tuesday',
  wed: 'Wednesday',
  thu: 'Thursday',
  fri: 'Friday',
  sat: 'Saturday',
  sun: 'Sunday',
};

/** "every Monday at 09:00, Europe/Lisbon"; mrkdwn. */
export function cadenceWords(cadence: ShownCadence, zone: string): string {
  return `${timesOf(cadence)}, ${mrkdwn(zone.replaceAll('_', ' '), 60)}`;
}

function timesOf(cadence: ShownCadence): string {
  switch (cadence.kind) {
    case 'daily':
      return `every day at ${cadence.time}`;
    case 'weekdays':
      return `from Monday to Friday at ${cadence.time}`;
    case 'weekly':
      return `every ${DAY_NAMES[cadence.day]} at ${cadence.time}`;
    case 'cron':
      return `at ${code(cadence.cron, 100)}`;
  }
}

/** As it is typed: `weekly:mon 09:00`, or `cron:"0 9 * * 1"`. */
export function cadenceCommand(cadence: ShownCadence): string {
  switch (cadence.kind) {
    case 'daily':
    case 'weekdays':
      return `${cadence.kind} ${cadence.time}`;
    case 'weekly':
      return `weekly:${cadence.day} ${cadence.time}`;
    case 'cron':
      return `cron:"${cadence.cron}"`;
  }
}
