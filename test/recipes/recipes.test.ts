import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import process from 'node:process';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { byLength } from '../support/length.ts';
import { temporaryFolder } from '../support/temporary.ts';

const root = join(import.meta.dirname, '..', '..');
const REMINDER = join(import.meta.dirname, 'reminder.patch');
const PATCHES = [join(import.meta.dirname, 'ping.patch'), REMINDER];
const VITEST = ['npx', 'vitest', 'run'];
const TYPES = ['npx', 'tsc', '--checkers', '1'];
const LINT = ['npx', 'biome', 'ci', '--error-on-warnings'];

const ADVICE =
  'A new feature trips over this. Derive it, or let its message name the one place to add to. If a recipe needs that place, add it to docs/architecture.md and to the patch in test/recipes/.';
const FITTING =
  'A patch of test/recipes/ does not fit any more. Apply it with `git apply --reject`, mend the rest by hand, and write it again with `git diff --cached -U1`.';

/** The tests that a new feature may trip over, and those of the recipes themselves. */
const GUARDS = [
  'test/architecture.test.ts',
  'test/docs.test.ts',
  'test/language.test.ts',
  'test/commands/account-option.test.ts',
  'test/commands/registry.test.ts',
  'test/releases/shapes.test.ts',
  'test/security/matrix',
  'test/commands/accounts/ping.test.ts',
  'test/commands/reminders',
];

/** A copy of the checkout with these patches. */
async function makeCopy(patches: readonly string[]): Promise<string> {
  const copy = await temporaryFolder();
  const listed = spawnSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: root, encoding: 'utf8' });
  const files = listed.stdout.split('\n').filter((path) => path !== '' && !path.startsWith('test/recipes/'));
  for (const folder of new Set(files.map(dirname))) mkdirSync(join(copy, folder), { recursive: true });
  // A file that was deleted, and not committed yet, is listed too.
  const options = { preserveTimestamps: true };
  await Promise.all(files.map((path) => cp(join(root, path), join(copy, path), options).catch(() => {})));
  // A link to the whole folder would not be ignored as a folder is.
  const packages = join(root, 'node_modules');
  mkdirSync(join(copy, 'node_modules'));
  for (const name of readdirSync(packages))
    if (name !== '.cache') symlinkSync(join(packages, name), join(copy, 'node_modules', name));
  for (const patch of patches) await run(copy, ['git', 'apply', '-C1', patch], FITTING);
  return copy;
}

/** The environment is a person's: the system's Node, and no marks of this test run. */
async function start(copy: string, [command = '', ...words]: readonly string[]) {
  const { PATH = '', HOME, NODE_COMPILE_CACHE } = process.env;
  const own = PATH.split(delimiter).filter((folder) => !folder.endsWith(join('node_modules', '.bin')));
  // The type checker takes a third less with more room, as in scripts/gate.ts.
  const env = { PATH: own.join(delimiter), HOME, NODE_COMPILE_CACHE, GOGC: '400' };
  const child = spawn(command, words, { cwd: copy, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const printed = Promise.all([text(child.stdout), text(child.stderr)]);
  const [code] = await once(child, 'close');
  return { code, printed: (await printed).join('') };
}

/** Fails with what the command printed. */
async function run(copy: string, command: readonly string[], advice: string): Promise<void> {
  const { code, printed } = await start(copy, command);
  expect(code, `${advice}\n${printed}`).toBe(0);
}

it('the recipes of docs/architecture.md are those that are tried here', () => {
  const [, recipes = ''] = readFileSync(join(root, 'docs/architecture.md'), 'utf8').split('## Recipes');
  const blocks = [...recipes.matchAll(/^( *)```ts\n([\s\S]*?)^ *```/gm)].map(([, indent = '', block = '']) =>
    block.replaceAll(new RegExp(`^${indent}`, 'gm'), '').trimEnd(),
  );
  expect(blocks.length).toBeGreaterThan(1);
  const added = PATCHES.map((patch) => readFileSync(patch, 'utf8').replaceAll(/^\+/gm, '')).join('\n');
  for (const block of blocks)
    expect(added, 'A block of code in the page differs from test/recipes/*.patch.').toContain(block);
});

async function writeGuide(copy: string): Promise<void> {
  await run(copy, ['npm', 'run', 'guide'], 'The table of commands was not written.');
}

/** Of the matrix, only the rows of the new features: the other ones are tried beside this test. */
const NAMES = '^(?!the matrix of who may do what)|has a row for every door|ping|reminder';

/** Writes the shapes too. */
async function runGuards(copy: string): Promise<void> {
  await run(copy, [...VITEST, '--maxWorkers', '1', '-t', NAMES, ...GUARDS, '-u'], ADVICE);
}

/** The files of the patches; the other ones are linted beside this test. */
function listPatched(): string[] {
  const patches = PATCHES.map((patch) => readFileSync(patch, 'utf8')).join('\n');
  return [...new Set([...patches.matchAll(/^\+\+\+ b\/(.+)$/gm)].map(([, path = '']) => path))];
}

it('a command and a kind of schedule that are added by the recipes pass types and guard tests', {
  timeout: 600_000,
}, async () => {
  const copy = await makeCopy(PATCHES);
  await writeGuide(copy);
  const lint = [...LINT, ...listPatched()];
  await Promise.all([run(copy, TYPES, ADVICE), run(copy, lint, ADVICE), runGuards(copy)]);
});

const NIGHTLY = { timeout: 3_600_000 };

it.runIf(byLength(false, true))('they pass npm test', NIGHTLY, async () => {
  const copy = await makeCopy(PATCHES);
  await writeGuide(copy);
  await runGuards(copy);
  await run(copy, ['npm', 'test', '--', '--exclude', 'sandbox/**'], ADVICE);
});

it.runIf(byLength(false, true))('the type checker names each table that lacks a kind', NIGHTLY, async () => {
  const copy = await makeCopy([]);
  await run(copy, ['git', 'apply', '-C1', '--include=src/records/schedules.ts', REMINDER], FITTING);
  const { code, printed } = await start(copy, TYPES);
  expect(code).not.toBe(0);
  for (const table of ['cli/sections.ts', 'scheduler/schedule-types.ts', 'views/schedules/faces.ts'])
    expect(printed).toContain(`src/${table}`);
});
