import type { WatchMode } from '../../core/schedule-choices.ts';

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

function modeOf(word: string): WatchMode | undefined {
  return Object.hasOwn(MODES, word) ? MODES[word] : undefined;
}
