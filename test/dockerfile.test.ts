import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { validate } from 'dockerfile-utils';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');
const read = (name: string) => readFileSync(join(root, name), 'utf8');
const dockerfile = read('Dockerfile');

describe('the Dockerfile', () => {
  it('has no fault that a linter knows', () => {
    const problems = validate(dockerfile).map(({ range, message }) => `${range.start.line + 1}: ${message}`);
    expect(problems).toEqual([]);
  });

  it('builds in stages, runs as nobody special, and tells how it is', () => {
    expect(dockerfile.match(/^FROM /gm)).toHaveLength(2);
    expect(dockerfile).toMatch(/^USER node$/m);
    expect(dockerfile).toMatch(/^HEALTHCHECK /m);
    expect(dockerfile).not.toMatch(/SECRET|TOKEN|ENCRYPTION_KEYS/);
  });

  it('runs the Node that everything is tested with', () => {
    const { node } = JSON.parse(read('package.json')).devDependencies;
    expect([...dockerfile.matchAll(/^FROM node:([\d.]+)-/gm)].map(([, version]) => version)).toEqual([
      node,
      node,
    ]);
  });

  it('finds its first file compiled, as every other way to start does', () => {
    const folder = 'node_modules/.cache/deckhand';
    const { start } = JSON.parse(read('package.json')).scripts;
    for (const way of [dockerfile, start])
      expect(way).toMatch(new RegExp(`NODE_COMPILE_CACHE=\\S*${folder}`));
    expect(read('src/main.ts')).toContain("'node_modules', '.cache', 'deckhand'");
  });

  it('gives objects that do not last the same room as every other way to start, unless another is asked for', () => {
    const { start } = JSON.parse(read('package.json')).scripts;
    expect(dockerfile).toContain('ENV NODE_OPTIONS=--max-semi-space-size=16');
    expect(read('deploy/systemd/deckhand.service')).toContain('NODE_OPTIONS=--max-semi-space-size=16');
    expect(start).toMatch(/NODE_OPTIONS="\$\{NODE_OPTIONS:---max-semi-space-size=16\}"/);
  });

  it('has the C library give back what is freed, as every other way to start, unless another is asked for', () => {
    const { start } = JSON.parse(read('package.json')).scripts;
    const unit = read('deploy/systemd/deckhand.service');
    for (const [name, value] of [
      ['MALLOC_ARENA_MAX', '2'],
      ['MALLOC_TRIM_THRESHOLD_', '131072'],
    ]) {
      for (const way of [dockerfile, unit])
        expect(way).toMatch(new RegExp(`[ =]${name}=${value}$| ${name}=${value} `, 'm'));
      expect(start).toContain(`${name}="\${${name}:-${value}}"`);
    }
  });

  it('runs the bundle, with no package beside it', () => {
    const final = dockerfile.slice(dockerfile.lastIndexOf('FROM '));
    expect(final).toContain('CMD ["node", "dist/main.js"]');
    expect(final).not.toMatch(/npm ci|src/);
    expect([...final.matchAll(/^COPY --from=build (\S+)/gm)].map(([, path]) => path)).toEqual(['/app/dist']);
  });

  it('takes in nothing but what runs', () => {
    expect(read('.dockerignore').trim().split('\n')[0]).toBe('*');
  });
});
