import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

/** The rules of "Language" in CONTRIBUTING.md that a program can check. */
const root = join(import.meta.dirname, '..');
const sources = globSync('src/**/*.ts', { cwd: root }).map(
  (path) => [path, readFileSync(join(root, path), 'utf8')] as const,
);

/** The matches of a pattern in all sources, each with its file. */
function findAll(pattern: RegExp): string[] {
  return sources.flatMap(([path, text]) => [...text.matchAll(pattern)].map(([match]) => `${path}: ${match}`));
}

const RELATIVE_CLAUSE = /(?:\/\*\*?|\n\s*\*|\/\/)\s*(?:@\w+ \w+ )?(?:What|Where|Of|Those|By|As)\b[^\n]*/g;
const OBSCURE_WORD = /\/\*(?:(?!\*\/)[\s\S])*?\b(?:stands|anew|is none|all the same)\b/g;
const NAME_WITHOUT_VERB = /\bfunction \w+Of\b/g;
const SEMICOLON = /(?<=[\s([{:,?])(['`])[^'`\n]*[\w)}’]; [a-z$][^'`\n]*/g;
const PARTICIPLES = 'said|known|found|wanted|kept|seen|asked|meant|given|heard|told|made|named|shown';
const PARTICIPLE_NAME = new RegExp(
  `\\b(?:const|let|var) (?:${PARTICIPLES})\\b|^ +(?:${PARTICIPLES})\\??: `,
  'gm',
);

it.each([
  [
    'begins a comment with a noun or a verb',
    RELATIVE_CLAUSE,
    'Not with What, Where, Of, Those, By or As: "Time of the last poll", "Returns undefined for …".',
  ],
  [
    'says what it means in comments',
    OBSCURE_WORD,
    'Say it with other words than stands, anew, is none, all the same.',
  ],
  [
    'names a function by a verb and a thing',
    NAME_WITHOUT_VERB,
    'Name it `readOutcome`, `findTarget` or `describeRun`, not `outcomeOf`.',
  ],
  [
    'names a variable or field by a noun',
    PARTICIPLE_NAME,
    'Name it by what it holds: `text`, `match`, `requested`.',
  ],
])('%s', (_, pattern, advice) => {
  expect(findAll(pattern), advice).toEqual([]);
});

it('writes messages to people without semicolons', () => {
  const matches = findAll(SEMICOLON).filter((match) => /^src\/(?:views|commands)\//.test(match));
  expect(matches, 'Make two sentences.').toEqual([]);
});

it('gives each commit a title of at most 72 characters about one change', () => {
  const log = spawnSync('git', ['log', '-50', '--no-merges', '--format=%s'], { cwd: root, encoding: 'utf8' });
  const titles = log.status === 0 ? log.stdout.split('\n').filter((title) => title !== '') : [];
  expect(
    titles.filter((title) => title.length > 72 || title.includes(', and')),
    'Shorten the title with `git commit --amend` or `git rebase -i`, or make two commits.',
  ).toEqual([]);
});
