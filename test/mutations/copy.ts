import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { z } from 'zod';
import type { Mutant } from './operators.ts';

const root = join(import.meta.dirname, '..', '..');
/** A test that waits in vain fails after this time. */
const TEST_MS = 40_000;
/** A run that takes longer than this noticed the mutant: something hangs. */
const RUN_MS = 240_000;
const CONFIG = 'vitest.mutants.config.ts';

/** The project's configuration, with the files in the order in which they are named. */
const CONFIG_TEXT = `import process from 'node:process';
import base from './vitest.config.ts';

const order = (process.env.MUTANTS_TESTS ?? '').split(',');
const rank = ({ moduleId }) => order.findIndex((path) => moduleId.endsWith('/' + path));
class InOrder {
  shard(files) { return files; }
  sort(files) { return files.toSorted((a, b) => rank(a) - rank(b)); }
}
export default {
  test: {
    ...base.test,
    setupFiles: ['test/support/imports.ts', 'test/mutations/cover.ts'],
    sequence: order[0] === '' ? base.test.sequence : { sequencer: InOrder },
    testTimeout: ${TEST_MS},
    hookTimeout: ${TEST_MS},
    expect: { poll: { timeout: ${TEST_MS / 2} } },
  },
};
`;

/** Code that a test file ran: for each source file the ranges, of which the smallest around a place decides. */
export interface Coverage {
  test: string;
  files: Array<{ file: string; ranges: Array<{ startOffset: number; endOffset: number; count: number }> }>;
}

/** A copy of the repository in which a mutant can be put. */
export interface Copy {
  /** Runs these tests as they are; returns the test files that fail, and what the others ran. */
  cover(tests: readonly string[]): Promise<{ failed: string[]; coverage: Coverage[] }>;
  /** The test file that notices the mutant, `time-out`, or undefined. */
  try(mutant: Mutant, tests: readonly string[]): Promise<string | undefined>;
  remove(): Promise<void>;
}

export async function makeCopy(): Promise<Copy> {
  const folder = await mkdtemp(join(tmpdir(), 'deckhand-mutants-'));
  for (const path of await listFiles()) await cp(join(root, path), join(folder, path));
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  await writeFile(join(folder, CONFIG), CONFIG_TEXT);
  return {
    async cover(tests) {
      const covered = await mkdtemp(join(folder, 'coverage-'));
      const failed = await runTests(folder, tests, [], { MUTANTS_COVERAGE: covered });
      const paths = await readdir(covered);
      const coverage = await Promise.all(
        paths.map(async (path) => JSON.parse(await readFile(join(covered, path), 'utf8')) as Coverage),
      );
      for (const one of coverage) one.test = one.test.slice(folder.length + 1);
      return { failed: failed ?? [], coverage };
    },
    async try({ file, start, end, changed }, tests) {
      const path = join(folder, file);
      const source = await readFile(path, 'utf8');
      const text = source.slice(0, start) + changed + source.slice(end);
      await writeFile(path, text);
      try {
        const failed = await runTests(folder, tests, ['--bail=1'], { MUTANTS_TESTS: tests.join(',') });
        return failed === undefined ? 'time-out' : failed[0];
      } finally {
        await writeFile(path, source);
      }
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Tracked and new files. */
async function listFiles(): Promise<string[]> {
  const options = ['ls-files', '--cached', '--others', '--exclude-standard'];
  const { stdout } = await promisify(execFile)('git', options, { cwd: root, maxBuffer: 64 * 1024 * 1024 });
  return stdout.split('\n').filter((path) => path !== '' && path !== 'node_modules');
}

const Report = z.object({ testResults: z.array(z.object({ name: z.string(), status: z.string() })) });

/** Test files that fail; undefined if the run does not end in time. */
async function runTests(
  folder: string,
  tests: readonly string[],
  options: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<string[] | undefined> {
  const report = join(folder, 'mutants.json');
  // Otherwise a run that crashes would read the report of the one before.
  await rm(report, { force: true });
  const vitest = join(folder, 'node_modules', 'vitest', 'vitest.mjs');
  const args = [
    vitest,
    'run',
    '--config',
    CONFIG,
    '--reporter=json',
    `--outputFile=${report}`,
    ...options,
    ...tests,
  ];
  const child = spawn(process.execPath, args, {
    cwd: folder,
    stdio: 'ignore',
    detached: true,
    env: { ...process.env, ...env },
  });
  const timer = new AbortController();
  const limit = 'MUTANTS_COVERAGE' in env ? 10 * RUN_MS : RUN_MS;
  const late = wait(limit, undefined, { signal: timer.signal }).catch(() => undefined);
  const code = await Promise.race([once(child, 'close').then(([status]) => status as number | null), late]);
  timer.abort();
  if (code === undefined) {
    const closed = once(child, 'close');
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    await closed;
    return undefined;
  }
  const text = await readFile(report, 'utf8').catch(() => '{"testResults":[]}');
  const { testResults } = Report.parse(JSON.parse(text));
  const failed = testResults.filter(({ status }) => status === 'failed');
  // An error outside of all tests, which Vitest reports by its exit code alone.
  if (failed.length === 0 && code !== 0) return ['(no test)'];
  return failed.map(({ name }) => name.slice(folder.length + 1));
}
