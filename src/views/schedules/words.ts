import type { Pages } from '../../core/service-pages.ts';
import type { Schedule } from '../../records/schedules.ts';
import { readFace } from './faces.ts';

/** "the guard of *Storefront* in `acme` (every hour)"; mrkdwn. @param pages for a link */
export function describeSchedule(schedule: Schedule, pages?: Pages): string {
  const { noun, describe, describeSubject, describeDetails } = readFace(schedule.kind);
  return (
    describe?.(schedule) ??
    `the ${noun} of ${describeSubject(schedule, pages)} (${describeDetails(schedule)})`
  );
}

/** The name that people know it by: its project, its account or its id. */
export function nameSchedule(schedule: Schedule): string {
  return readFace(schedule.kind).name?.(schedule) ?? schedule.id;
}

/** The command that resumes it, without the slash word. */
export function resumeCommand(schedule: Schedule): string {
  return readFace(schedule.kind).resume?.(schedule) ?? `${schedule.kind} resume`;
}

/** Its project or account, what it posts and when, as mrkdwn. @param pages for a link */
export function scheduleWords(schedule: Schedule, pages?: Pages): string {
  const { describeSubject, describeDetails } = readFace(schedule.kind);
  return `${describeSubject(schedule, pages)}: ${describeDetails(schedule)}`;
}
