import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import process from 'node:process';

/** The one gate: format, lint, types, dead code, then every test (import rules are one of them). */
const STEPS: ReadonlyArray<[name: string, bin: string, ...args: string[]]> = [
  ['format and lint', 'biome', 'ci', '--error-on-warnings', '.'],
  ['types', 'tsc'],
  ['types of the web page', 'tsc', '-p', 'sandbox/slack/web'],
  ['dead code', 'knip'],
  ['tests', 'vitest', 'run', ...process.argv.slice(2)],
];

const bin = join(import.meta.dirname, '..', 'node_modules', '.bin');
const path = `${bin}:${process.env.PATH ?? ''}`;

for (const [name, command, ...args] of STEPS) {
  console.log(`\n— ${name}: ${command} ${args.join(' ')}`);
  const { status } = spawnSync(join(bin, command), args, {
    stdio: 'inherit',
    env: { ...process.env, PATH: path },
  });
  if (status === 0) continue;
  console.error(`\n${name} failed`);
  process.exit(status ?? 1);
}
