import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { MUTATIONS } from './list.ts';

const root = join(import.meta.dirname, '..', '..');

describe('the faults that `npm run mutate` tries', () => {
  it('have a name of their own each', () => {
    expect(new Set(MUTATIONS.map(({ name }) => name)).size).toBe(MUTATIONS.length);
  });

  it.each(MUTATIONS)('$name: its text stands in the source once, and its tests are there', (mutation) => {
    const source = readFileSync(join(root, mutation.file), 'utf8');
    expect(source.split(mutation.from).length - 1, `${mutation.file} has the text`).toBe(1);
    expect(mutation.to).not.toBe(mutation.from);
    expect(mutation.tests.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });
});
