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
    expect(
      [...dockerfile.matchAll(/^FROM (?:--\S+ )?node:([\d.]+)-/gm)].map(([, version]) => version),
    ).toEqual([node, node]);
  });

  it('runs the tarball, by its name', () => {
    const final = dockerfile.slice(dockerfile.lastIndexOf('FROM '));
    expect(final).toContain('CMD ["deckhand"]');
    expect(final).toMatch(/npm install --global \S.* \/deckhand\.tgz$/m);
    expect(final).not.toMatch(/npm ci|^COPY/m);
    // Earlier, npm would store its own compiled code in the image.
    expect(final).not.toMatch(/NODE_COMPILE_CACHE=.*npm install/s);
  });

  it.each(['src', 'sandbox', 'manifest.yml', 'package.json'])('of the demo takes in %s', (path) => {
    const demo = read('Dockerfile.demo');
    expect(validate(demo).map(({ message }) => message)).toEqual([]);
    expect(demo).toMatch(
      new RegExp(`^FROM node:${JSON.parse(read('package.json')).devDependencies.node}-`, 'm'),
    );
    expect(demo).toMatch(/^USER node$/m);
    expect(demo).toMatch(/^ENV DEMO_HOST=0\.0\.0\.0$/m);
    expect(demo).toMatch(/^EXPOSE 4100 4200$/m);
    expect(read('Dockerfile.demo.dockerignore').split('\n')).toEqual(
      expect.arrayContaining(['*', `!${path}`]),
    );
  });

  it('takes in everything that the tarball is made of, and nothing but what it names', () => {
    const { files } = JSON.parse(read('package.json'));
    const taken = read('.dockerignore').trim().split('\n');
    expect(taken[0]).toBe('*');
    for (const path of files.filter((each: string) => each !== 'dist'))
      expect(taken).toContain(`!${path.split('/')[0]}`);
  });
});
