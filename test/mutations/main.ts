/**
 * Changes the source in a copy of the repository, one place at a time, and shows which test file notices.
 *
 *   npm run mutants -- [part or source file …] [--sample N] [--seed S] [--tests GLOB …] [--out FILE]
 *
 * - A part is one of `parts.ts`; without arguments all parts are tried. `--sample` tries so many mutants of each part,
 *   or of the files together; without it all. The same seed chooses the same mutants as long as their text is the same.
 * - The tests first run once as they are, to read which code each reaches. A mutant is then tried on the tests that
 *   reach it, the nearest first, at most `--most` (20; 0 for all). The first that fails kills it.
 * - `--tests` names the tests to try instead of all that run Deckhand in their own process, which takes minutes.
 * - `--out` keeps the list as JSON. `--again FILE` tries the mutants of such a list, wherever their lines are now;
 *   with `--survivors` those that survived. `--at-once` (2) says how many copies work.
 */
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { type Copy, type Coverage, makeCopy } from './copy.ts';
import { describePlace, type Mutant, readMutants, shuffle } from './operators.ts';
import { PARTS, TESTS } from './parts.ts';

const root = join(import.meta.dirname, '..', '..');

interface Result extends Mutant {
  /** Test file that fails, or `time-out`; null if the mutant survived. */
  killedBy: string | null;
  /** How many test files reach it. */
  reached: number;
  tried: number;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    sample: { type: 'string' },
    seed: { type: 'string', default: '1' },
    tests: { type: 'string', multiple: true },
    most: { type: 'string', default: '20' },
    'at-once': { type: 'string', default: '2' },
    out: { type: 'string' },
    again: { type: 'string' },
    survivors: { type: 'boolean', default: false },
  },
});
const most = Number(values.most) || Number.POSITIVE_INFINITY;
const mutants = values.again === undefined ? chooseMutants() : findAgain(values.again);
const copies = await Promise.all(Array.from({ length: Number(values['at-once']) }, makeCopy));
const results: Result[] = [];
try {
  const [first] = copies;
  const tests = globSync(values.tests ?? [...TESTS], { cwd: root }).filter(
    (path) => !/node_modules/.test(path),
  );
  const { failed, coverage = [] } = (await first?.cover(tests)) ?? {};
  for (const path of failed ?? []) process.stdout.write(`fails without a mutant: ${path}\n`);
  const healthy = coverage.filter(({ test }) => failed?.includes(test) !== true);
  const left = [...mutants];
  await Promise.all(copies.map((copy) => work(copy, left, healthy)));
} finally {
  await Promise.all(copies.map((copy) => copy.remove()));
}
const killed = results.filter(({ killedBy }) => killedBy !== null).length;
process.stdout.write(`\n${killed} of ${results.length} mutants were noticed.\n`);

function chooseMutants(): Mutant[] {
  const parts = positionals.filter((name) => name in PARTS);
  const files = positionals.filter((name) => !(name in PARTS));
  const named = positionals.length === 0 ? Object.keys(PARTS) : parts;
  const groups = named.map((name) => PARTS[name] ?? []);
  if (files.length > 0) groups.push(files);
  return groups.flatMap((globs) => {
    const all = globSync([...globs], { cwd: root })
      .toSorted()
      .flatMap(readFile);
    return shuffle(all, values.seed).slice(
      0,
      values.sample === undefined ? undefined : Number(values.sample),
    );
  });
}

function readFile(file: string): Mutant[] {
  return readMutants(file, readFileSync(join(root, file), 'utf8'));
}

/** Mutants of an earlier list; those whose text is gone are printed. */
function findAgain(path: string): Mutant[] {
  const listed = JSON.parse(readFileSync(path, 'utf8')) as Result[];
  const before = listed.filter(({ killedBy }) => !values.survivors || killedBy === null);
  const files = [...new Set(before.map(({ file }) => file))].filter((file) => existsSync(join(root, file)));
  const now = new Map(files.flatMap(readFile).map((mutant) => [describePlace(mutant), mutant]));
  return before.flatMap((mutant) => {
    const same = now.get(describePlace(mutant));
    if (same === undefined) process.stdout.write(`gone: ${describePlace(mutant)}\n`);
    return same ?? [];
  });
}

async function work(copy: Copy, left: Mutant[], coverage: readonly Coverage[]): Promise<void> {
  for (let mutant = left.shift(); mutant !== undefined; mutant = left.shift()) {
    const reaching = orderTests(mutant, coverage);
    const tests = reaching.slice(0, most);
    const killedBy = tests.length === 0 ? undefined : await copy.try(mutant, tests);
    results.push({ ...mutant, killedBy: killedBy ?? null, reached: reaching.length, tried: tests.length });
    if (values.out !== undefined) writeFileSync(values.out, `${JSON.stringify(results, undefined, 1)}\n`);
    const { file, where, line, operator, original, changed } = mutant;
    const outcome =
      killedBy === undefined ? `SURVIVED ${tests.length} of ${reaching.length}` : `killed by ${killedBy}`;
    process.stdout.write(`${outcome}: ${file}:${line} ${where}, ${operator}: ${original} → ${changed}\n`);
  }
}

/** Tests that reach the mutant: those with words of its file first, then those that run little else. */
function orderTests({ file, start }: Mutant, coverage: readonly Coverage[]): string[] {
  const words = file.match(/[a-z]+/g)?.slice(1) ?? [];
  return coverage
    .filter(({ files }) => {
      const ranges = files.find((one) => one.file === file)?.ranges ?? [];
      const around = ranges.filter(({ startOffset, endOffset }) => startOffset <= start && start < endOffset);
      const [inner] = around.toSorted((a, b) => a.endOffset - a.startOffset - (b.endOffset - b.startOffset));
      // Code of a module runs in the first file of a worker only.
      return inner === undefined ? ranges.length > 0 : inner.count > 0 || inner.startOffset === 0;
    })
    .map(({ test, files }) => ({
      test,
      near: words.filter((word) => test.includes(word)).length,
      width: files.length,
    }))
    .toSorted((a, b) => b.near - a.near || a.width - b.width)
    .map(({ test }) => test);
}
