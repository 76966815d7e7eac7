import { UnmatchedWords, UserError } from '../../core/errors.ts';
import { code } from '../../core/mrkdwn.ts';
import {
  type ActivityRange,
  countDays,
  isServiceRange,
  MAX_DAYS,
  type Range,
} from '../../core/time/range.ts';

export interface ActivityWords {
  range: Range | undefined;
  stats: boolean;
  /** True for failed deployments alone. */
  isFailed?: true;
  /** True for the day before today, of a range that holds it. */
  isYesterday?: true;
  project: string | undefined;
}

/** Words for the ranges of API 4.9 (docs/service-api.md), longest first; hyphens and underscores count as spaces. */
const RANGES: ReadonlyArray<[phrase: RegExp, range: Range]> = [
  [/^(?:the )?(?:last|past) (?:7(?: ?d(?:ays?)?)?|seven days|week)$/, 'last_7_days'],
  [/^(?:the )?(?:last|past) (?:30(?: ?d(?:ays?)?)?|thirty days|month)$/, 'last_30_days'],
  [/^(?:this|current) week$/, 'this_week'],
  [/^(?:7(?: ?d(?:ays?)?)?|1 ?w(?:eeks?)?)$/, 'last_7_days'],
  [/^(?:30(?: ?d(?:ays?)?)?|1 ?m(?:onths?)?)$/, 'last_30_days'],
  [/^week$/, 'this_week'],
  [/^(?:(?:this|current) )?month$/, 'last_30_days'],
  [/^today$/, 'today'],
  [/^(?:the )?(?:last |past )?quarter$/, 'last_90_days'],
  [/^(?:the )?(?:last |past )?(?:year|twelve months)$/, 'last_365_days'],
];
/** Any number of days, weeks, months or years. */
const SPAN = /^(?:the )?(?:last |past )?(\d{1,4}) ?(d|w|m|y)(?:ays?|eeks?|onths?|ears?)?$/;
const UNIT_DAYS = new Map([
  ['d', 1],
  ['w', 7],
  ['m', 30],
  ['y', 365],
]);
const MAX_PHRASE = 4;
const STATS = new Set(['stats', 'stat', 'statistics', 'figures']);
const FAILED = new Set(['failed', 'failing', 'failures', 'failure', 'errors']);
const YESTERDAY = 'yesterday';
const OTHER_SPAN = /^(?:(?:last |past )?\d* ?(?:h|d|w|m|y|hours?|days?|weeks?|months?|years?)|this year)$/;

/** Days of the week, for phrases. */
export const DAY_WORDS = 'monday|tuesday|wednesday|thursday|friday|saturday|sunday';
/** Times that are no range, and that may be names. */
const OTHER_TIMES: ReadonlySet<string> = new Set(
  `since|until|tomorrow|tonight|weekend|january|february|march|april|may|june|july|august|september|october|november|december|${DAY_WORDS}`.split(
    '|',
  ),
);

/** True for words about a time that is no range, such as "since monday". */
export function isOtherTime(words: string): boolean {
  return words
    .toLowerCase()
    .split(' ')
    .some((word) => OTHER_TIMES.has(word));
}

/** True for a span of time that is no range of Deckhand's. */
export function isOtherSpan(words: string): boolean {
  return OTHER_SPAN.test(words.toLowerCase());
}

/**
 * Splits the words after `activity` into a range, `stats` and a project. Pure.
 * @throws UserError for two ranges, or a span of time that the service does not have
 */
export function readActivityWords(words: readonly string[]): ActivityWords {
  const result: ActivityWords = { range: undefined, stats: false, project: undefined };
  const rest: string[] = [];
  for (let at = 0; at < words.length; ) {
    const match = rangeAt(words, at);
    if (match !== undefined) {
      if (result.range !== undefined) throw wrongRange('Name one range only.');
      result.range = match.range;
      at += match.length;
      continue;
    }
    const word = words[at] ?? '';
    if (!readChoice(result, word.toLowerCase())) rest.push(word);
    at += 1;
  }
  if (result.isYesterday && result.range !== undefined) throw wrongRange('Name one range only.');
  const project = rest.join(' ');
  if (isOtherSpan(project)) throw wrongRange(`There is no range ${code(project, 40)}.`);
  return project === '' ? result : { ...result, project };
}

/** Returns false for a word that is no choice. */
function readChoice(result: ActivityWords, word: string): boolean {
  if (STATS.has(word)) result.stats = true;
  else if (FAILED.has(word)) result.isFailed = true;
  else if (word === YESTERDAY) result.isYesterday = true;
  else return false;
  return true;
}

/** The range that begins at a word, and its number of words. */
function rangeAt(words: readonly string[], at: number): { range: Range; length: number } | undefined {
  for (let length = Math.min(MAX_PHRASE, words.length - at); length > 0; length -= 1) {
    const phrase = words
      .slice(at, at + length)
      .join(' ')
      .toLowerCase()
      .replaceAll(/[_-]+/g, ' ');
    const range = RANGES.find(([pattern]) => pattern.test(phrase))?.[1] ?? readSpan(phrase);
    if (range !== undefined) return { range, length };
  }
  return undefined;
}

/** "90d", "6 weeks", "the last 3 months" @throws UserError for more days than Deckhand keeps */
function readSpan(phrase: string): Range | undefined {
  if (phrase === 'this year') throw wrongRange(`There is no range ${code(phrase)}.`);
  const [, amount, unit = ''] = SPAN.exec(phrase) ?? [];
  if (amount === undefined) return undefined;
  const days = Number(amount) * (UNIT_DAYS.get(unit) ?? 0);
  if (days > MAX_DAYS) throw wrongRange(`Deckhand keeps ${MAX_DAYS} days.`);
  if (days <= 1) return days === 1 ? 'today' : undefined;
  return `last_${days}_days`;
}

/** An error that says what is wrong, and lists the ranges. */
export function wrongRange(fault: string): UnmatchedWords {
  return new UnmatchedWords(
    `${fault} The ranges are ${code('today')}, ${code('7d')}, ${code('30d')}, ${code('week')}, and any number of days such as ${code('90d')}, or ${code(YESTERDAY)}.`,
    'help activity',
  );
}

/** A range of which the service has figures. @throws UserError for any other */
export function expectServiceRange(range: Range | undefined): ActivityRange | undefined {
  if (range === undefined || isServiceRange(range)) return range;
  const all = [code('today'), code('7d'), code('30d'), code('week')].join(', ');
  throw new UserError(`The service has no figures of the last ${countDays(range)} days. Choose from ${all}.`);
}
