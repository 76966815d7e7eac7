import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import process from 'node:process';
import { text } from 'node:stream/consumers';

type Step = [name: string, bin: string, ...args: string[]];

const root = join(import.meta.dirname, '..');
const bin = join(root, 'node_modules', '.bin');
const env = { ...process.env, PATH: `${bin}:${process.env.PATH ?? ''}` };
const cache = join(root, 'node_modules', '.cache');

/** What reads the sources alone; all at the same time, since none of them keeps two cores busy. */
const CHECKS: readonly Step[] = [
  ['format and lint', 'biome', 'ci', '--error-on-warnings', '.'],
  ['types', 'tsc', ...incremental('types')],
  ['types of the web page', 'tsc', '-p', 'sandbox/slack/web', ...incremental('web')],
  ['dead code', 'knip'],
];
const TESTS: Step = ['tests', 'vitest', 'run', ...process.argv.slice(2)];

/** The one gate: format, lint, types, dead code, then every test (import rules are one of them). */
const results = await Promise.all(CHECKS.map(check));
const isClean = results.every((ok) => ok);
process.exitCode = isClean && (await runTests()) ? 0 : 1;

/** Only what changed since the last run is checked again. Several checkers would each work out the libraries' types. */
function incremental(name: string): string[] {
  return ['--checkers', '1', '--incremental', '--tsBuildInfoFile', join(cache, `${name}.tsbuildinfo`)];
}

/** Prints what it said in one piece, so that checks that run at once do not talk at once. */
async function check([name, command, ...args]: Step): Promise<boolean> {
  const child = spawn(join(bin, command), args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(child, 'close');
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [status] = await ended;
  process.stdout.write(`\n— ${name}: ${command} ${args.join(' ')}\n${out}${err}`);
  if (status !== 0) process.stderr.write(`\n${name} failed\n`);
  return status === 0;
}

async function runTests(): Promise<boolean> {
  const [name, command, ...args] = TESTS;
  process.stdout.write(`\n— ${name}: ${command} ${args.join(' ')}\n`);
  const [status] = await once(spawn(join(bin, command), args, { cwd: root, env, stdio: 'inherit' }), 'close');
  if (status !== 0) process.stderr.write(`\n${name} failed\n`);
  return status === 0;
}
