import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readText } from '../support/deployment-files.ts';

const src = join(import.meta.dirname, '../../src');
const source = globSync('**/*.ts', { cwd: src })
  .map((name) => readFileSync(join(src, name), 'utf8'))
  .join('\n');
const table = readText('docs/log-events.md');
const rows = [...table.matchAll(/^\| (`.+?) \| (.+?) \| .+ \|$/gm)].map(([, names = '', levels = '']) => ({
  names: [...names.matchAll(/`(\w+)`/g)].map(([, name = '']) => name),
  levels: levels.split(', '),
}));

/** The level of each event, by the calls of a logger and by the names that Slack's libraries log under. */
function logged(): Map<string, string> {
  const calls = source.matchAll(/\bevent(?:: | = \S+ \? )'(\w+)'/g);
  const libraries = source.matchAll(/libraryLogger\([^)]*'(\w+)'\)/g);
  return new Map([
    ...[...calls].map(({ 1: name = '', index }) => [name, levelBefore(index)] as const),
    ...[...libraries].map(([, name = '']) => [name, 'warn'] as const),
  ]);
}

/** Empty where the fields are put together before the call. */
function levelBefore(index: number): string {
  const before = source.slice(Math.max(0, index - 40), index);
  return /\b(info|warn|error|fatal)\(\s*\{\s*$/.exec(before)?.[1] ?? '';
}

describe('docs/log-events.md', () => {
  it('are those that Deckhand logs, each once', () => {
    expect(
      rows.flatMap(({ names }) => names).toSorted(),
      'docs/log-events.md has a row for each event that src/ logs.',
    ).toEqual([...logged().keys()].toSorted());
  });

  it('have the levels that Deckhand gives them', () => {
    const events = logged();
    const listed = rows.flatMap(({ names, levels }) =>
      names.map((name, at) => [name, levels[at] ?? levels[0]] as const),
    );
    const wrong = listed.filter(([name, level]) => events.get(name) !== '' && events.get(name) !== level);
    expect(wrong).toEqual([]);
    expect([...events.values()].filter((level) => level === '').length).toBeLessThan(10);
  });
});
