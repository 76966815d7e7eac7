import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  globSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { startDeckhand } from '../support/deckhand-process.ts';
import { byLength } from '../support/length.ts';
import { bundledFile } from '../support/program.ts';
import { MIN_ENV, runDeckhand } from '../support/run-deckhand.ts';
import { openSurroundings } from '../support/surroundings.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { ACCOUNT, CHANNEL, connectAccount, PEOPLE, TEAM } from '../support/test-world.ts';

const root = join(import.meta.dirname, '..', '..');
const MEGABYTE = 1_000_000;
/** What `scripts/build.ts` makes, once a run. */
const bundled = dirname(await bundledFile());

/** A copy of the sources. It gets the run's bundle where it would build its own. */
function cloneTo(folder: string, paths: readonly string[]): void {
  for (const path of paths) cpSync(join(root, path), join(folder, path), { recursive: true });
  const copies = `import { cpSync } from 'node:fs';
    cpSync(${JSON.stringify(bundled)}, 'dist', { recursive: true });`;
  writeFileSync(join(folder, 'scripts', 'build.ts'), copies);
}

describe('the packed Deckhand', () => {
  let folder: string;
  let clone: string;
  let installed: string;

  function npm(cwd: string, ...args: string[]): string {
    const env = { PATH: process.env.PATH ?? '', HOME: folder, npm_config_cache: join(folder, 'cache') };
    return execFileSync('npm', args, { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  }

  // In a copy: package.json changes for the time of `npm pack`.
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'deckhand-pack-'));
    clone = join(folder, 'clone');
    const files = ['.env.example', 'package.json', '.npmrc', 'README.md', 'LICENSE', 'manifest.yml'];
    cloneTo(clone, [...files, 'bin', 'deploy', 'scripts', 'src', 'docs']);
    // Prints the name alone: docs/operations.md installs what this prints.
    const packed = npm(clone, 'pack', '--silent', '--pack-destination', folder).trim();
    // Not before, or npm would read all that is in it.
    symlinkSync(join(root, 'node_modules'), join(clone, 'node_modules'));
    installed = join(folder, 'empty', 'node_modules', 'deckhand');
    mkdirSync(installed, { recursive: true });
    execFileSync('tar', ['-xzf', join(folder, packed), '-C', installed, '--strip-components=1']);
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('leaves everything as it was', () => {
    for (const path of ['package.json', 'README.md', 'docs/operations.md', 'docs/log-events.md'])
      expect(readFileSync(join(clone, path), 'utf8')).toBe(readFileSync(join(root, path), 'utf8'));
    expect(globSync('**/*.kept', { cwd: clone, exclude: ['node_modules'] })).toEqual([]);
  });

  it('brings nothing but itself, in at most 12 MB', () => {
    const { dependencies } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
    expect(dependencies).toBeUndefined();
    const files = globSync('**', { cwd: installed }).map((path) => join(installed, path));
    const bytes = files.reduce((sum, path) => sum + lstatSync(path).blocks * 512, 0);
    expect(bytes).toBeLessThan(12 * MEGABYTE);
    expect(files.filter((path) => /\/src\/|\.map$|\.kept$/.test(path))).toEqual([]);
  });

  it('links in its documents to nothing that it does not hold, and names no npm script', () => {
    const pages = globSync('**/*.md', { cwd: installed });
    expect(pages).toEqual(expect.arrayContaining(['README.md', 'docs/operations.md']));
    for (const page of pages) {
      const text = readFileSync(join(installed, page), 'utf8');
      expect(text, page).not.toMatch(/npm (?:run|start|test|ci)\b/);
      for (const [, target = ''] of text.matchAll(/\]\((?!https?:|mailto:|#)([^)#\s]+)/g))
        expect(existsSync(join(installed, page, '..', target)), `${page} → ${target}`).toBe(true);
    }
  });

  it('runs by its name, says what is not configured, and has the programs for operators', () => {
    const bin = join(folder, 'empty', 'deckhand');
    symlinkSync(join(installed, 'bin', 'deckhand.mjs'), bin);
    const run = (...args: string[]) =>
      spawnSync(bin, args, { cwd: folder, env: { PATH: process.env.PATH ?? '' }, encoding: 'utf8' });
    const unconfigured = run();
    expect(unconfigured.status).toBe(78);
    expect(unconfigured.stderr).toMatch(/^The configuration is not valid:\n( {2}[A-Z_]+ .+\n)+$/);
    const backup = run('backup', 'file');
    expect(backup.status).toBe(78);
    expect(backup.stderr).toMatch(/^There is no \S+\/data\/deckhand\.sqlite\. [^\n]+\n$/);
    expect(run('schema').stdout).toContain('CREATE TABLE');
  });

  it('starts, answers a command, and draws a chart', async () => {
    const { service, slack, env, close } = await openSurroundings({ speed: 20 });
    onTestFinished(close);
    const deckhand = await startDeckhand(env, [], join(installed, 'bin', 'deckhand.mjs'));
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    expect(deckhand.log.join()).toContain(`"version":"${version}"`);
    slack.deliverTo(`${deckhand.origin}/slack/events`);
    await connectAccount(slack);
    slack.invite(TEAM, CHANNEL, 'bot');
    const deployment = { account: ACCOUNT, project: 'storefront', endedAt: Date.now() - 1000 };
    service.world.addDeployment(deployment);
    await slack.as(TEAM, PEOPLE.admin).command(CHANNEL, '/deckhand digest add daily 09:00 UTC');
    await slack.until(() => JSON.stringify(slack.messages(TEAM, CHANNEL)).includes('09:00'));
    await slack.as(TEAM, PEOPLE.admin).command(CHANNEL, '/deckhand digest preview');
    await slack.until(() =>
      JSON.stringify(slack.ephemerals(TEAM, PEOPLE.admin)).includes('data_visualization'),
    );
    deckhand.signal('SIGTERM');
    expect(await deckhand.ended).toBe(0);
    expect(deckhand.errors).toEqual([]);
  });

  it('is what a clone runs in production, and the sources otherwise', async () => {
    const loaded = (NODE_ENV: string) =>
      runDeckhand({
        entry: join(clone, 'bin', 'deckhand.mjs'),
        env: { ...MIN_ENV, NODE_ENV, NODE_DEBUG: 'esm' },
        args: ['--check-config'],
      });
    const production = await loaded('production');
    expect([production.code, production.out]).toEqual([0, 'The configuration is valid.\n']);
    expect(production.err).toContain('dist/main.js');
    const development = await loaded('');
    expect(development.code).toBe(0);
    expect(development.err).toContain('src/main.ts');
  });
});

describe('a fresh clone', () => {
  const INSTALL = 'echo "npm $*"; ln -s "$MODULES" node_modules';

  /** @param npm a script in place of npm, beside which `$MODULES` has what it would install */
  async function startIn(npm: string, more: Record<string, string> = {}) {
    const clone = await temporaryFolder();
    cloneTo(clone, ['package.json', 'bin', 'src', 'scripts']);
    const tools = await temporaryFolder();
    writeFileSync(join(tools, 'npm'), `#!/bin/sh\n${npm}\n`, { mode: 0o755 });
    const PATH = `${tools}:${process.env.PATH}`;
    const env = { ...MIN_ENV, PATH, MODULES: join(root, 'node_modules'), ...more };
    const entry = join(clone, 'bin', 'deckhand.mjs');
    return { clone, ended: await runDeckhand({ entry, env, cwd: clone, args: ['--check-config'] }) };
  }

  // In production it does so too, and bundles itself then.
  it.runIf(byLength(false, true))('installs what it needs with its first start, and starts', async () => {
    const { ended } = await startIn(INSTALL);
    expect(ended).toMatchObject({ code: 0, out: 'The configuration is valid.\n' });
    expect(ended.err).toContain('npm ci --omit=dev');
  });

  it('installs what it needs in production, and bundles itself', async () => {
    const { ended, clone } = await startIn(INSTALL, { NODE_ENV: 'production' });
    expect(ended).toMatchObject({ code: 0, out: 'The configuration is valid.\n' });
    expect(ended.err).toContain('npm ci --include=dev');
    expect(existsSync(join(clone, 'dist', 'main.js'))).toBe(true);
  });

  it('says what to run where it cannot install', async () => {
    const { ended, clone } = await startIn('echo "no network" >&2; exit 1');
    expect(ended.code).toBe(78);
    expect(ended.err.trim().split('\n').slice(1)).toEqual([
      'no network',
      `What Deckhand needs is not here. Run npm ci --omit=dev in ${clone}, then start again.`,
    ]);
  });
});
