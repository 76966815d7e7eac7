import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { SCOPES } from '../../src/slack/failure.ts';

const root = join(import.meta.dirname, '..', '..');
const text = readFileSync(join(root, 'docs/security.md'), 'utf8');

it('the documented scopes and their reasons are those that are asked for', () => {
  const rows = Object.entries(SCOPES).map(([scope, reason]) => `| \`${scope}\` | ${reason} |`);
  expect(text).toContain(['| scope | what for |', '| --- | --- |', ...rows].join('\n'));
});

it('every collection of the store is documented, and no other', () => {
  const source = globSync('src/**/*.ts', { cwd: root }).map((file) => readFileSync(join(root, file), 'utf8'));
  const used = [...source.join('\n').matchAll(/\bcollection(?:<[^>]*>)?\(\s*'([a-z-]+)'/g)].map(
    ([, name]) => name,
  );
  const table = text.slice(text.indexOf('| collection |'), text.indexOf('Jobs have ids'));
  const documented = [...table.matchAll(/^\| (`[^|]+) \|/gm)]
    .flatMap(([, names = '']) => [...names.matchAll(/`([a-z-]+)`/g)])
    .map(([, name]) => name);
  expect(new Set(documented)).toEqual(new Set([...used, 'data-keys', 'store']));
});
