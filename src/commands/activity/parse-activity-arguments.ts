import { UserError } from '../../core/errors.ts';
import { code } from '../../core/mrkdwn.ts';
import type { ActivityRange } from '../../service/activity.ts';

export interface ActivityWords {
  range: ActivityRange | undefined;
  stats: boolean;
  project: string | undefined;
}

/** What people call the ranges of API 4.9 (docs/service-api.md), longest first; hyphens and underscores count as spaces. */
const RANGES: ReadonlyArray<[phrase: RegExp, range: ActivityRange]> = [
  [/^(?:the )?(?:last|past) (?:7(?: ?d(?:ays?)?)?|seven days|week)$/, 'last_7_days'],
  [/^(?:the )?(?:last|past) (?:30(?: ?d(?:ays?)?)?|thirty days|month)$/, 'last_30_days'],
  [/^(?:this|current) week$/, 'this_week'],
  [/^(?:7(?: ?d(?:ays?)?)?|1 ?w(?:eeks?)?)$/, 'last_7_days'],
  [/^(?:30(?: ?d(?:ays?)?)?|1 ?m(?:onths?)?)$/, 'last_30_days'],
  [/^week$/, 'this_week'],
  [/^(?:(?:this|current) )?month$/, 'last_30_days'],
  [/^today$/, 'today'],
];
const MAX_PHRASE = 4;
const STATS = new Set(['stats', 'stat', 'statistics', 'figures']);
const OTHER_SPAN =
  /^(?:(?:last |past )?\d* ?(?:h|d|w|m|y|hours?|days?|weeks?|months?|years?)|(?:this )?year|yesterday)$/;

/**
 * Sorts the words after `activity`: a range, `stats`, and what is left names a project. Pure.
 * @throws UserError for two ranges, or a span of time that the service does not have
 */
export function readActivityWords(words: readonly string[]): ActivityWords {
  const found: ActivityWords = { range: undefined, stats: false, project: undefined };
  const rest: string[] = [];
  for (let at = 0; at < words.length; ) {
    const match = rangeAt(words, at);
    if (match !== undefined) {
      if (found.range !== undefined) throw wrongRange('Name one range only.');
      found.range = match.range;
      at += match.length;
      continue;
    }
    const word = words[at] ?? '';
    if (STATS.has(word.toLowerCase())) found.stats = true;
    else rest.push(word);
    at += 1;
  }
  const project = rest.join(' ');
  if (OTHER_SPAN.test(project.toLowerCase())) throw wrongRange(`There is no range ${code(project, 40)}.`);
  return project === '' ? found : { ...found, project };
}

/** The range that begins at a word, and how many words it takes. */
function rangeAt(words: readonly string[], at: number): { range: ActivityRange; length: number } | undefined {
  for (let length = Math.min(MAX_PHRASE, words.length - at); length > 0; length -= 1) {
    const phrase = words
      .slice(at, at + length)
      .join(' ')
      .toLowerCase()
      .replaceAll(/[_-]+/g, ' ');
    const range = RANGES.find(([pattern]) => pattern.test(phrase))?.[1];
    if (range !== undefined) return { range, length };
  }
  return undefined;
}

function wrongRange(fault: string): UserError {
  return new UserError(
    `${fault} The ranges are ${code('today')}, ${code('7d')}, ${code('30d')} and ${code('week')}.`,
    'help activity',
  );
}
