import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { MUTATIONS } from './list.ts';

const root = join(import.meta.dirname, '..', '..');

describe('the faults that `npm run mutate` tries', () => {
  it('have a name of their own each', () => {
    expect(new Set(MUTATIONS.map(({ name }) => name)).size).toBe(MUTATIONS.length);
  });

  it('are those that docs/security.md names', () => {
    const text = readFileSync(join(root, 'docs', 'security.md'), 'utf8');
    expect(text).toContain(`puts ${MUTATIONS.length} faults`);
    const rows = text.split('\n').filter((line) => line.startsWith('| '));
    const named = rows.flatMap((row) => [...row.matchAll(/\*([^*|]+)\*/g)].map(([, name = '']) => name));
    const tried = new Set(MUTATIONS.map(({ name }) => name));
    expect(named.filter((name) => !tried.has(name))).toEqual([]);
    const statements = rows.flatMap((row) => /^\| (X\d+) /.exec(row)?.[1] ?? []);
    expect(statements).toEqual([...new Set(statements)]);
  });

  it.each(MUTATIONS)('$name: its text stands in the source once, and its tests are there', (mutation) => {
    const source = readFileSync(join(root, mutation.file), 'utf8');
    expect(source.split(mutation.from).length - 1, `${mutation.file} has the text`).toBe(1);
    expect(mutation.to).not.toBe(mutation.from);
    expect(mutation.tests.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });
});
