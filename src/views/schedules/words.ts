import type { Schedule } from '../../records/schedules.ts';
import { readFace } from './faces.ts';

/** "the guard of *Storefront* in `acme` (every hour)"; mrkdwn. */
export function describeSchedule(schedule: Schedule): string {
  const { noun, describe, describeSubject, describeDetails } = readFace(schedule.kind);
  return describe?.(schedule) ?? `the ${noun} of ${describeSubject(schedule)} (${describeDetails(schedule)})`;
}

/** The name that people know it by: its project, its account or its id. */
export function nameSchedule(schedule: Schedule): string {
  return readFace(schedule.kind).name?.(schedule) ?? schedule.id;
}

/** The command that resumes it, without the slash word. */
export function resumeCommand(schedule: Schedule): string {
  return readFace(schedule.kind).resume?.(schedule) ?? `${schedule.kind} resume`;
}

/** Its project or account, what it posts and when, as mrkdwn. */
export function scheduleWords(schedule: Schedule): string {
  const { describeSubject, describeDetails } = readFace(schedule.kind);
  return `${describeSubject(schedule)}: ${describeDetails(schedule)}`;
}

/**
 * Sentences for a new schedule's card, in mrkdwn; undefined for kinds whose card shows only the name.
 * @param user the person who created it
 */
export function describeStart(schedule: Schedule, user: string): string | undefined {
  const start = readFace(schedule.kind).describeStart?.(schedule);
  return start === undefined ? undefined : `${start} Set up by <@${user}>.`;
}
