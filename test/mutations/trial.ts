import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, relative } from 'node:path';
import process from 'node:process';
import type { Mutant } from './operators.ts';

const root = join(import.meta.dirname, '..', '..');
/** A trial that takes longer hangs, so that the mutant was noticed. */
const TRIAL_MS = 240_000;
const COVER_MS = 3_600_000;
/** Waits briefly for what a mutant keeps from coming. */
const BRIEF = [
  '--bail=1',
  '--maxWorkers=1',
  '--testTimeout=40000',
  '--hookTimeout=40000',
  '--expect.poll.timeout=20000',
];
/** Tests that are tried before the others. */
const NEAREST = 4;

/** Code that a test file ran: for each source file the ranges, of which the smallest around a place decides. */
export interface Coverage {
  test: string;
  files: Array<{ file: string; ranges: Array<{ startOffset: number; endOffset: number; count: number }> }>;
}

/** Copies the repository, without its history, into a new folder. */
export async function copyRepository(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'deckhand-mutants-'));
  const isOwn = (path: string) => !['.git', 'node_modules'].includes(basename(path));
  await cp(root, folder, { recursive: true, filter: isOwn });
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

/** Runs tests as they are; returns what each ran if it passed. */
export async function coverTests(folder: string, tests: readonly string[]): Promise<Coverage[]> {
  const covered = await mkdtemp(join(folder, 'coverage-'));
  const failed = await runTests(folder, tests, covered);
  process.stdout.write(failed.map((test) => `fails without a mutant: ${test}\n`).join(''));
  const texts = (await readdir(covered)).map((path) => readFile(join(covered, path), 'utf8'));
  const coverage = (await Promise.all(texts)).map((text) => JSON.parse(text) as Coverage);
  return coverage.filter(({ test }) => !failed.includes(test));
}

/** Test file that notices the mutant, if one does. */
export async function tryMutant(
  folder: string,
  { file, start, end, changed }: Mutant,
  tests: readonly string[],
): Promise<string | undefined> {
  const path = join(folder, file);
  const source = await readFile(path, 'utf8');
  await writeFile(path, source.slice(0, start) + changed + source.slice(end));
  let failed = await runTests(folder, tests.slice(0, NEAREST));
  if (failed.length === 0 && tests.length > NEAREST) failed = await runTests(folder, tests.slice(NEAREST));
  await writeFile(path, source);
  return failed[0];
}

interface TestFile {
  name: string;
  status: string;
  assertionResults: Array<{ status: string }>;
}

async function runTests(folder: string, tests: readonly string[], covered?: string): Promise<string[]> {
  const report = join(folder, 'mutants.json');
  await rm(report, { force: true });
  const vitest = join(folder, 'node_modules', 'vitest', 'vitest.mjs');
  const isTrial = covered === undefined;
  const options = isTrial ? BRIEF : [];
  const args = [vitest, 'run', '--reporter=json', `--outputFile=${report}`, ...options, ...tests];
  const env = { ...process.env, ...(isTrial ? {} : { MUTANTS_COVERAGE: covered }) };
  const child = spawn(process.execPath, args, { cwd: folder, detached: true, env, stdio: 'ignore' });
  const closed = once(child, 'close');
  const timer = setTimeout(() => process.kill(-(child.pid ?? 0), 'SIGKILL'), isTrial ? TRIAL_MS : COVER_MS);
  const [code] = await closed;
  clearTimeout(timer);
  if (code === null) return ['time-out'];
  const text = await readFile(report, 'utf8').catch(() => '{"testResults":[]}');
  const { testResults } = JSON.parse(text) as { testResults: TestFile[] };
  // Vitest reports files that `--bail` skips as failed too.
  const hasFailed = ({ assertionResults }: TestFile) =>
    assertionResults.some(({ status }) => status === 'failed');
  const failed = testResults
    .filter(({ status }) => status === 'failed')
    .toSorted((a, b) => Number(hasFailed(b)) - Number(hasFailed(a)));
  // An error outside of all tests shows in the exit code alone.
  if (failed.length === 0 && code !== 0) return ['an error outside of the tests'];
  return failed.map(({ name }) => relative(folder, name));
}
