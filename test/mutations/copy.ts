import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import type { Mutation } from './mutation.ts';

const root = join(import.meta.dirname, '..', '..');
/** A fault that makes a test wait for what never comes is noticed by this. */
const LONGEST_TEST_MS = 40_000;

/** A copy of the repository in which a fault can be made. */
export interface Copy {
  /** True if the tests are green with the fault in place. */
  passes(mutation: Mutation): Promise<boolean>;
  /** True if these test files are green as they are. */
  isGreen(tests: readonly string[]): Promise<boolean>;
  remove(): Promise<void>;
}

export async function makeCopy(): Promise<Copy> {
  const folder = await mkdtemp(join(tmpdir(), 'deckhand-mutate-'));
  for (const path of await files()) await cp(join(root, path), join(folder, path));
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  return {
    async passes({ file, from, to, tests, only }) {
      const path = join(folder, file);
      const source = await readFile(path, 'utf8');
      const changed = source.replace(from, () => to);
      if (changed === source) throw new Error(`${file} does not have the text of the fault`);
      // A fault that does not even parse would be noticed by anything.
      stripTypeScriptTypes(changed);
      await writeFile(path, changed);
      try {
        return await run(folder, [...tests, ...(only === undefined ? [] : ['-t', only])]);
      } finally {
        await writeFile(path, source);
      }
    },
    isGreen: (tests) => run(folder, tests),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/** What git tracks, and what is new. */
async function files(): Promise<string[]> {
  const listed = ['ls-files', '--cached', '--others', '--exclude-standard'];
  const { stdout } = await promisify(execFile)('git', listed, { cwd: root, maxBuffer: 64 * 1024 * 1024 });
  return stdout.split('\n').filter((path) => path !== '' && path !== 'node_modules');
}

async function run(folder: string, args: readonly string[]): Promise<boolean> {
  const times = [`--testTimeout=${LONGEST_TEST_MS}`, `--hookTimeout=${LONGEST_TEST_MS}`];
  const vitest = join(folder, 'node_modules', 'vitest', 'vitest.mjs');
  const child = spawn(process.execPath, [vitest, 'run', '--bail=1', ...times, ...args], {
    cwd: folder,
    stdio: 'ignore',
  });
  const [code] = await once(child, 'close');
  return code === 0;
}
