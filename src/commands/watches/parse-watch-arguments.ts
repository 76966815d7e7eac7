import { UserError } from '../../core/errors.ts';
import { code } from '../../core/mrkdwn.ts';
import type { WatchMode } from '../../core/schedule-choices.ts';
import type { WorkingHours } from '../../records/schedule-times.ts';
import { asTime, readClock } from '../schedules/cadence-words.ts';

export interface WatchWords {
  /** As typed; undefined where none was named. */
  project: string | undefined;
  isAll: boolean;
  mode: WatchMode | undefined;
}

/** What people call the modes; "all" alone means the projects. */
const MODES: Readonly<Record<string, WatchMode>> = {
  failures: 'failures',
  failure: 'failures',
  failed: 'failures',
  errors: 'failures',
  transitions: 'transitions',
  transition: 'transitions',
  changes: 'transitions',
  all: 'all',
  everything: 'all',
};
const ALL = new Set(['all', 'everything']);

/** Sorts the words after `watch`: what is left beside the mode names a project. Pure. */
export function readWatchWords(words: readonly string[]): WatchWords {
  const lower = words.map((word) => word.toLowerCase());
  const first = lower[0] ?? '';
  const last = lower.at(-1) ?? '';
  const isOnlyAll = lower.length === 1 && ALL.has(first);
  if (!isOnlyAll && modeOf(last) !== undefined) return named(words.slice(0, -1), modeOf(last));
  if (lower.length > 1 && !ALL.has(first) && modeOf(first) !== undefined)
    return named(words.slice(1), modeOf(first));
  return named(words, undefined);
}

function named(words: readonly string[], mode: WatchMode | undefined): WatchWords {
  const project = words.join(' ');
  const isAll = ALL.has(project.toLowerCase());
  return { project: project === '' || isAll ? undefined : project, isAll, mode };
}

/** Undefined where the word names none. */
export function modeOf(word: string): WatchMode | undefined {
  return Object.hasOwn(MODES, word) ? MODES[word] : undefined;
}

const RANGE = /^(\d{1,2})(?:[:.](\d{2}))?(am|pm)?(?:-|to)(\d{1,2})(?:[:.](\d{2}))?(am|pm)?$/;

/**
 * `9-18`, and what people type for it: `09:00-18:00`, `9 to 18`, `9am-6pm`, `22-6` for a night. Pure.
 * @throws UserError
 */
export function readHours(typed: string): Pick<WorkingHours, 'from' | 'to'> {
  const text = typed
    .toLowerCase()
    .replace(/\s+/g, '')
    .replace(/[\u2010-\u2015\u2212]/g, '-');
  const [, fromHour, fromMinute, fromHalf, toHour, toMinute, toHalf] = RANGE.exec(text) ?? [];
  const from = timeOf(fromHour, fromMinute, fromHalf);
  const to = timeOf(toHour, toMinute, toHalf);
  if (from === undefined || to === undefined || from === '24:00' || from === to)
    throw new UserError(`${code(typed, 40)} are no working hours. Give them as \`9-18\` or \`08:30-17:00\`.`);
  return { from, to };
}

/** As `09:00`; undefined where the clock has no such time. */
function timeOf(
  hour: string | undefined,
  minute: string | undefined,
  half: string | undefined,
): string | undefined {
  if (hour === undefined) return undefined;
  const [hours, minutes] = readClock(hour, minute, half);
  const isHalf = half === undefined || (Number(hour) >= 1 && Number(hour) <= 12);
  if (!isHalf || minutes > 59 || hours * 60 + minutes > 24 * 60) return undefined;
  return asTime(hours, minutes);
}
