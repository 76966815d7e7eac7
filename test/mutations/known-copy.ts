import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { z } from 'zod';
import type { Mutation } from './mutation.ts';

const root = join(import.meta.dirname, '..', '..');
/** A fault that makes a test wait for what never comes is noticed by this. */
const MAX_TEST_MS = 40_000;

/** A test that failed; without a title the whole file did. */
export interface Failure {
  file: string;
  title: string;
}

/** A copy of the repository in which a fault can be made. */
export interface Copy {
  /** The tests that fail with the fault in place; at most `most`, because each may wait long for what never comes. */
  failures(mutation: Mutation, most: number): Promise<Failure[]>;
  /** Those that fail without one. */
  failuresOf(tests: readonly string[]): Promise<Failure[]>;
  remove(): Promise<void>;
}

export async function makeCopy(): Promise<Copy> {
  const folder = await mkdtemp(join(tmpdir(), 'deckhand-mutate-'));
  for (const path of await files()) await cp(join(root, path), join(folder, path));
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  return {
    async failures({ file, from, to, tests, only }, most) {
      const path = join(folder, file);
      const source = await readFile(path, 'utf8');
      const changed = source.replace(from, () => to);
      if (changed === source) throw new Error(`${file} does not have the text of the fault`);
      // A fault that does not even parse would be noticed by anything.
      stripTypeScriptTypes(changed);
      await writeFile(path, changed);
      try {
        return await run(folder, [`--bail=${most}`, ...tests, ...(only === undefined ? [] : ['-t', only])]);
      } finally {
        await writeFile(path, source);
      }
    },
    failuresOf: (tests) => run(folder, tests),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/** What git tracks, and what is new. */
async function files(): Promise<string[]> {
  const listed = ['ls-files', '--cached', '--others', '--exclude-standard'];
  const { stdout } = await promisify(execFile)('git', listed, { cwd: root, maxBuffer: 64 * 1024 * 1024 });
  return stdout.split('\n').filter((path) => path !== '' && path !== 'node_modules');
}

const Report = z.object({
  testResults: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      assertionResults: z.array(z.object({ fullName: z.string(), status: z.string() })),
    }),
  ),
});

/** The titles of the tests that failed, and the files that failed as a whole. */
async function run(folder: string, args: readonly string[]): Promise<Failure[]> {
  const report = join(folder, 'mutate.json');
  // Or a run that ends without one would be judged by the one before.
  await rm(report, { force: true });
  const times = [`--testTimeout=${MAX_TEST_MS}`, `--hookTimeout=${MAX_TEST_MS}`];
  const vitest = join(folder, 'node_modules', 'vitest', 'vitest.mjs');
  const child = spawn(
    process.execPath,
    [vitest, 'run', '--reporter=json', `--outputFile=${report}`, ...times, ...args],
    { cwd: folder, stdio: 'ignore' },
  );
  await once(child, 'close');
  const { testResults } = Report.parse(JSON.parse(await readFile(report, 'utf8')));
  return testResults.flatMap(({ name, status, assertionResults }) => {
    const failed = assertionResults.filter((one) => one.status === 'failed');
    const file = name.slice(folder.length + 1);
    if (failed.length === 0 && status === 'failed') return [{ file, title: '' }];
    return failed.map(({ fullName }) => ({ file, title: fullName }));
  });
}
