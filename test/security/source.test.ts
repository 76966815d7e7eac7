import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '..', '..');

it('the product starts no process', () => {
  const files = globSync('src/**/*.ts', { cwd: root });
  const starting = files.filter((path) => readFileSync(join(root, path), 'utf8').includes('child_process'));
  expect(starting).toEqual([]);
});

it('the product evaluates no text, and builds no pattern of foreign text', () => {
  const dangerous = /node:vm|\beval\(|new Function\(|new RegExp\(/;
  const found = globSync('src/**/*.ts', { cwd: root }).filter((path) =>
    dangerous.test(readFileSync(join(root, path), 'utf8')),
  );
  expect(found).toEqual([]);
});

it('the proofs that test/security/asvs.md names are there', () => {
  const text = readFileSync(join(root, 'test/security/asvs.md'), 'utf8');
  const named = [...text.matchAll(/`([\w/-]+\.test\.ts)`/g)].map(([, path = '']) => path);
  expect(named.length).toBeGreaterThan(50);
  expect(named.filter((path) => !existsSync(join(root, 'test', path)))).toEqual([]);
});
