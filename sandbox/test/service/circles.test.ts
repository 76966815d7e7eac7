import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..', '..', 'sandbox', 'service');

const imports = new Map(
  globSync('**/*.ts', { cwd: root }).map((file) => {
    const text = readFileSync(join(root, file), 'utf8');
    const targets = [...text.matchAll(/from '(\.[^']+)'/g)].map(([, target = '']) =>
      relative(root, join(root, dirname(file), target)),
    );
    return [file, targets];
  }),
);

/** The first way from a file back to itself. */
function circleFrom(file: string, way: string[], clear: Set<string>): string[] | undefined {
  if (way.includes(file)) return [...way.slice(way.indexOf(file)), file];
  if (clear.has(file)) return undefined;
  for (const next of imports.get(file) ?? []) {
    const circle = circleFrom(next, [...way, file], clear);
    if (circle !== undefined) return circle;
  }
  clear.add(file);
  return undefined;
}

test('no file of the simulated service imports itself by way of others, types included', () => {
  const clear = new Set<string>();
  expect(imports.size).toBeGreaterThan(50);
  for (const file of imports.keys()) expect(circleFrom(file, [], clear)).toBeUndefined();
});
