import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import process from 'node:process';
import { text } from 'node:stream/consumers';

type Step = [name: string, bin: string, ...args: string[]];

const root = join(import.meta.dirname, '..');
const bin = join(root, 'node_modules', '.bin');
// The type checker takes a fifth less with more room between its collections of garbage.
const env = { GOGC: '400', ...process.env, PATH: `${bin}:${process.env.PATH ?? ''}` };
const cache = join(root, 'node_modules', '.cache');

/** What reads the sources alone. */
const CHECKS: readonly Step[] = [
  ['format and lint', 'biome', 'ci', '--error-on-warnings', '.'],
  ['types', 'tsc', ...incremental('types')],
  ['types of the web page', 'tsc', '-p', 'sandbox/slack/web', ...incremental('web')],
  ['dead code', 'knip'],
];

/** The sandbox, and what it stands between: the packages it is made of, and the messages that its page shows. */
const SANDBOX = ['sandbox', 'package-lock.json', 'vitest.config.ts', 'test/support', 'src/views'];

/**
 * The one gate: format, lint, types, dead code and the tests (import rules are one of them). The sandbox is a package of
 * its own, whose tests run with `--all`, and where it is not as `origin` has it.
 */
const args = process.argv.slice(2).filter((arg) => arg !== '--all');
const isWhole = process.argv.includes('--all') || mayHaveChanged(SANDBOX);
if (!isWhole)
  process.stdout.write(
    'The sandbox is as origin has it: its tests are left out. npm run test:all runs them too.\n',
  );
const tests: Step = ['tests', 'vitest', 'run', ...(isWhole ? [] : ['--exclude', 'sandbox/**']), ...args];

// The checks go beside the tests, which wait for much.
const results = await Promise.all([run(tests, 'inherit'), ...CHECKS.map((step) => run(step, 'pipe'))]);
const failed = results.filter((name) => name !== undefined);
if (failed.length > 0) process.stderr.write(`\nFailed: ${failed.join(', ')}\n`);
process.exitCode = failed.length === 0 ? 0 : 1;

/** Only what changed since the last run is checked again. Several checkers would each work out the libraries' types. */
function incremental(name: string): string[] {
  return ['--checkers', '1', '--incremental', '--tsBuildInfoFile', join(cache, `${name}.tsbuildinfo`)];
}

/** False where git says that the files are those of origin's main branch, whose own gate ran everything. */
function mayHaveChanged(paths: readonly string[]): boolean {
  const git = (...words: string[]) => spawnSync('git', words, { cwd: root, encoding: 'utf8' });
  const base = git('merge-base', 'HEAD', 'origin/HEAD');
  if (base.status !== 0) return true;
  const isAsThere = git('diff', '--quiet', base.stdout.trim(), '--', ...paths).status === 0;
  return !isAsThere || git('ls-files', '--others', '--exclude-standard', '--', ...paths).stdout !== '';
}

/** @returns its name where it failed. What a check says is printed in one piece. */
async function run([name, command, ...words]: Step, output: 'inherit' | 'pipe'): Promise<string | undefined> {
  const child = spawn(join(bin, command), words, { cwd: root, env, stdio: ['ignore', output, output] });
  const ended = once(child, 'close');
  const said = await Promise.all([child.stdout, child.stderr].map((stream) => (stream ? text(stream) : '')));
  const [status] = await ended;
  if (output === 'pipe') process.stdout.write(`\n— ${name}: ${command} ${words.join(' ')}\n${said.join('')}`);
  return status === 0 ? undefined : name;
}
