import { bold, code } from '../../core/mrkdwn.ts';
import type { Weekday } from '../../core/schedule-choices.ts';
import type { Cadence, Digest } from '../../records/digests.ts';
import { RANGE_WORDS } from '../activity/stats.ts';
import { zoneName } from '../blocks/days.ts';

export const DAY_NAMES: Readonly<Record<Weekday, string>> = {
  mon: 'Monday',
  tue: 'Tuesday',
  wed: 'Wednesday',
  thu: 'Thursday',
  fri: 'Friday',
  sat: 'Saturday',
  sun: 'Sunday',
};

/** "every Monday at 09:00, Europe/Lisbon: the last 7 days of `acme`"; mrkdwn. */
export function digestWords({ cadence, zone, range, account, project, skipQuiet }: Digest): string {
  const of = account === undefined ? 'every connected account' : code(account);
  const coverage = project === undefined ? of : `${bold(project.name)} in ${of}`;
  const quiet = skipQuiet ? ', skipped without deployments' : '';
  return `${timesOf(cadence)}, ${zoneName(zone)}: ${RANGE_WORDS[range].name} of ${coverage}${quiet}`;
}

function timesOf(cadence: Cadence): string {
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

/** What sets the same digest up again, without the slash word. */
export function digestCommand({ cadence, zone, range, account, project, skipQuiet }: Digest): string {
  const words = ['digest add', cadenceCommand(cadence), zone, range];
  if (account !== undefined) words.push('--account', account);
  if (project !== undefined) words.push('--project', project.permalink);
  if (skipQuiet) words.push('--skip-quiet');
  return words.join(' ');
}

/** As it is typed: `weekly:mon 09:00`, or `cron:"0 9 * * 1"`. */
function cadenceCommand(cadence: Cadence): string {
  if (cadence.kind === 'cron') return `cron:"${cadence.cron}"`;
  const kind = cadence.kind === 'weekly' ? `weekly:${cadence.day}` : cadence.kind;
  return `${kind} ${cadence.time}`;
}
