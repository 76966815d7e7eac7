import { type WatchMode, WEEKDAYS, type Weekday } from '../../core/choices.ts';
import { bold, capitalised, code, count, duration, joinNames, listFirst, mrkdwn } from '../../core/mrkdwn.ts';
import type { Pages } from '../../core/service-pages.ts';
import { MINUTE_MS } from '../../core/time/clock.ts';
import { type Cron, parseCron } from '../../core/time/cron.ts';
import { CronError } from '../../core/time/zone.ts';
import type { Cadence, Escalation, Watch } from '../../records/schedules.ts';
import { zoneName } from '../blocks/formats.ts';
import { projectLink } from '../blocks/page-links.ts';

/** "*Storefront* for failures"; mrkdwn. @param pages for a link */
export function describeWatched(watch: Watch, pages: Pages): string {
  const { account, project, pattern } = watch;
  const several = pattern === undefined ? 'all projects' : patternWords(pattern);
  const what = project === undefined ? several : projectLink(pages, account, project, 60);
  return `${what} for ${MODE_WORDS[watch.mode]}${filterWords(watch)}${escalationWords(watch)}`;
}

/** "projects named `shop-*`"; mrkdwn. */
export function patternWords(pattern: string): string {
  return `projects named ${code(pattern, 60)}`;
}

const MAX_MATCHES = 10;

/** "These are 2 projects now: *Shop DE*, *Shop FR*."; mrkdwn. */
export function matchesWords(names: readonly string[]): string {
  if (names.length === 0) return 'No project has such a name yet.';
  const list = listFirst(
    names.map((name) => bold(name, 60)),
    MAX_MATCHES,
  );
  return names.length === 1
    ? `This is one project now: ${list}.`
    : `These are ${names.length} projects now: ${list}.`;
}

/** The subject replaces `%`. */
export const WATCH_STARTS: Readonly<Record<WatchMode, string>> = {
  all: 'anything happens in %',
  failures: 'deployments of % fail and recover',
  transitions: 'deployments of % begin to fail or pass again',
};

export const MODE_WORDS: Readonly<Record<WatchMode, string>> = {
  all: 'all events',
  failures: 'failures',
  transitions: 'changes between failing and passing',
};

/** " on the server `web-1`, Monday to Friday from 09:00 to 18:00, Europe/Lisbon"; empty without a filter. */
export function filterWords({ server, hours }: Pick<Watch, 'server' | 'hours'>): string {
  const on = server === undefined ? '' : ` on ${serverWords(server)}`;
  if (hours === undefined) return on;
  return `${on}, Monday to Friday from ${hours.from} to ${hours.to}, ${mrkdwn(hours.zone, 60)}`;
}

/** "the server `web-1`", "the servers `web-*`", "all servers but `staging`"; mrkdwn. */
function serverWords({ name, names, isExcluded }: NonNullable<Watch['server']>): string {
  if (isExcluded) return `all servers but ${code(name.replace(/^not /, ''), 60)}`;
  return `the ${names === undefined ? 'server' : 'servers'} ${code(name, 60)}`;
}

/** ", mentions @oncall after 15 min". The plain name, because a mention would notify the person. */
export function escalationWords({ escalation }: Pick<Watch, 'escalation'>): string {
  if (escalation === undefined) return '';
  return `, mentions ${mrkdwn(describeHandle(escalation))} after ${duration(escalation.after * MINUTE_MS)}`;
}

export function escalationSentence({ escalation }: Pick<Watch, 'escalation'>): string {
  if (escalation === undefined) return '';
  const after = duration(escalation.after * MINUTE_MS);
  return ` ${mrkdwn(describeHandle(escalation))} is mentioned if nobody is on a failure after ${after}.`;
}

/** The typed form: "@oncall" */
export function describeHandle({ name, mention }: Escalation): string {
  return `@${name ?? mention}`;
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

interface Timed {
  cadence: Cadence;
  zone: string;
}

/** "every Monday at 09:00, Europe/Lisbon"; mrkdwn. */
export function cadenceWords({ cadence, zone }: Timed): string {
  const times = describeTimes(cadence);
  return cadence.kind === 'hourly' ? times : `${times}, ${zoneName(zone)}`;
}

/** "Every Monday at 09:00", for a menu. */
export function describeCadence({ cadence }: Pick<Timed, 'cadence'>): string {
  return capitalised(describeTimes(cadence));
}

/** "on Mondays at 09:00", "every hour"; mrkdwn. */
export function describeRhythm({ cadence }: Pick<Timed, 'cadence'>): string {
  if (cadence.kind === 'weekly') return `on ${DAY_NAMES[cadence.day]}s at ${cadence.time}`;
  return describeTimes(cadence);
}

function describeTimes(cadence: Cadence): string {
  switch (cadence.kind) {
    case 'hourly':
      return 'every hour';
    case 'daily':
      return `every day at ${cadence.time}`;
    case 'weekdays':
      return `from Monday to Friday at ${cadence.time}`;
    case 'weekly':
      return `every ${DAY_NAMES[cadence.day]} at ${cadence.time}`;
    case 'cron':
      return describeCron(cadence.cron);
  }
}

/** "every Monday and Thursday at 09:00", "every 15 minutes". A more complex line stays as it is. */
function describeCron(line: string): string {
  const { minutes = [], hours = [], weekdays } = tryCron(line) ?? {};
  const days = weekdays && describeDays(weekdays);
  const rhythm = days === 'every day' ? describeSteps(minutes, hours) : undefined;
  if (rhythm !== undefined) return rhythm;
  const [minute = 0, ...others] = minutes;
  if (days === undefined || others.length > 0 || hours.length > MAX_TIMES) return `at ${code(line, 100)}`;
  const times = hours.map((hour) => [hour, minute].map((part) => `${part}`.padStart(2, '0')).join(':'));
  return `${days} at ${joinNames(times)}`;
}

/** Undefined for an invalid line, because a list must show it too. */
function tryCron(line: string): Cron | undefined {
  try {
    return parseCron(line);
  } catch (error) {
    if (error instanceof CronError) return undefined;
    throw error;
  }
}

/** Undefined if the times of a day, up to the first of the next day, are not equally far apart. */
function describeSteps(minutes: readonly number[], hours: readonly number[]): string | undefined {
  const [minute = 0, ...others] = minutes;
  if (hours.length === 24 && others.length === 0)
    return minute === 0 ? 'every hour' : `at ${count(minute, 'minute')} past every hour`;
  if (hours.length === 24 && isEven(minutes, 60))
    return minutes.length === 60 ? 'every minute' : `every ${60 / minutes.length} minutes`;
  const isHours = minute === 0 && others.length === 0 && hours.length > 1 && isEven(hours, 24);
  return isHours ? `every ${24 / hours.length} hours` : undefined;
}

const MAX_TIMES = 3;

/** True if the values begin with 0 and have equal steps, including the step from the last value to `end`. */
function isEven(values: readonly number[], end: number): boolean {
  return values.every((value, at) => value === (at * end) / values.length);
}

/** Undefined if there are too many days to list. @param weekdays from Sunday, ascending */
function describeDays(weekdays: readonly number[]): string | undefined {
  if (weekdays.length === 7) return 'every day';
  if (weekdays.join('') === '12345') return 'from Monday to Friday';
  const names = weekdays.flatMap((day) => WEEKDAYS[(day + 6) % 7] ?? []).map((day) => DAY_NAMES[day]);
  return names.length <= 3 ? `every ${joinNames(names)}` : undefined;
}
