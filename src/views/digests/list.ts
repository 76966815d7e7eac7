import type { Message } from '../../core/message.ts';
import { bold, code, dateTime } from '../../core/mrkdwn.ts';
import type { Weekday } from '../../core/schedule-choices.ts';
import type { Cadence, Digest, OccurrenceResult } from '../../records/digests.ts';
import { RANGE_WORDS } from '../activity/stats.ts';
import { zoneName } from '../blocks/days.ts';
import { pausedWords, SCHEDULE_FACES, type ScheduleListing, scheduleList } from '../schedules/schedule.ts';

/** `next`: when it is posted next, milliseconds since the epoch; undefined while it is paused or has an unknown zone. */
export type ListedDigest = Digest & { next: number | undefined };

const LAST_WORDS: Readonly<Record<OccurrenceResult['outcome'], string>> = {
  posted: 'posted',
  late: 'posted late',
  quiet: 'skipped, because there were no deployments',
  snoozed: 'skipped, because it was snoozed',
  failed: 'failed',
  missed: 'skipped, because it was more than 12 h late',
};

export function digestListMessage(digests: readonly ListedDigest[], listing: ScheduleListing): Message {
  const rows = digests.map((digest) => {
    const { id, channel, state, snoozedUntil, setUpBy, setUpAt } = digest;
    const where = listing.scope === 'all' ? `  in <#${channel}>` : '';
    const lines = [
      `${code(id)}${where}  ${digestWords(digest)}`,
      stateWords(digest),
      `${lastWords(digest)} Set up by <@${setUpBy}> ${dateTime(setUpAt)}.`,
    ];
    return { id, isAsleep: state.kind === 'paused' || snoozedUntil !== undefined, lines };
  });
  return scheduleList(SCHEDULE_FACES.digest, rows, listing);
}

function stateWords({ state, snoozedUntil, next }: ListedDigest): string {
  if (state.kind === 'paused') return pausedWords(state);
  const when = next === undefined ? '' : `Next ${dateTime(next)}.`;
  return snoozedUntil === undefined ? when : `:zzz: Snoozed until ${dateTime(snoozedUntil)}. ${when}`;
}

function lastWords({ last }: ListedDigest): string {
  if (last === undefined) return 'Not posted yet.';
  const reason = last.reason === undefined ? '' : `: ${last.reason}`;
  return `Last ${dateTime(last.at)}: ${LAST_WORDS[last.outcome]}${reason}.`;
}

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
