import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { COLLECTIONS } from '../../src/observability/series.ts';
import { SCOPES } from '../../src/slack/scopes.ts';

const root = join(import.meta.dirname, '..', '..');
const page = readFileSync(join(root, 'docs/security.md'), 'utf8');
const sources = globSync('src/**/*.ts', { cwd: root }).map((path) => ({
  path,
  text: readFileSync(join(root, path), 'utf8'),
}));

it('the product starts no process, evaluates no text, and builds no pattern of foreign text', () => {
  const dangerous = /child_process|node:vm|\beval\(|new Function\(|new RegExp\(/;
  expect(sources.filter(({ text }) => dangerous.test(text)).map(({ path }) => path)).toEqual([]);
});

it('the proofs that test/security/asvs.md names are there', () => {
  const text = readFileSync(join(root, 'test/security/asvs.md'), 'utf8');
  const named = [...text.matchAll(/`([\w/-]+\.test\.ts)`/g)].map(([, path = '']) => path);
  expect(named.length).toBeGreaterThan(50);
  expect(named.filter((path) => !existsSync(join(root, 'test', path)))).toEqual([]);
});

it('the documented scopes and their reasons are those that are asked for', () => {
  const rows = Object.entries(SCOPES).map(([scope, reason]) => `| \`${scope}\` | ${reason} |`);
  expect(page).toContain(['| scope | what for |', '| --- | --- |', ...rows].join('\n'));
});

it('every collection of the store is documented, and no other', () => {
  const used = sources.flatMap(({ text }) =>
    [...text.matchAll(/\bcollection(?:<[^>]*>)?\(\s*'([a-z-]+)'/g)].map(([, name]) => name),
  );
  const table = page.slice(page.indexOf('| collection |'), page.indexOf('Jobs have ids'));
  const documented = [...table.matchAll(/^\| (`[^|]+) \|/gm)]
    .flatMap(([, names = '']) => [...names.matchAll(/`([a-z-]+)`/g)])
    .map(([, name]) => name);
  expect(new Set(documented)).toEqual(new Set([...used, 'data-keys', 'store']));
  // Each has a series of metrics that begins at 0.
  expect(new Set(COLLECTIONS)).toEqual(new Set(documented));
});
