/**
 * Changes the source in a copy of the repository, one place at a time, and shows which test file notices.
 *
 *   npm run mutants -- [part or source file …] [--sample N] [--seed S] [--tests GLOB …] [--out FILE]
 *
 * A part is one of `PARTS`; without arguments all are tried. `--sample` takes so many mutants of each part, or of the
 * files together. The same seed takes the same mutants as long as their text is the same.
 *
 * The tests first run as they are, to read which code each reaches: those of `TESTS`, which takes minutes, or those that
 * `--tests` names. A mutant is then tried on the tests that reach it, the nearest first, at most `--most`.
 *
 * `--out` writes the list as JSON. A survivor fails the run unless `survivors.json` gives a reason for its function and operator.
 */
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { type Mutant, readMutants, shuffle } from './operators.ts';
import { type Coverage, copyRepository, coverTests, tryMutant } from './trial.ts';

/** Source files whose faults cost most. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  pipeline: ['src/listeners/pipeline/*.ts'],
  permissions: ['src/commands/permission.ts', 'src/workspace/slack-people.ts'],
  roles: ['src/workspace/role-holders.ts', 'src/commands/admin/roles.ts', 'src/commands/admin/access.ts'],
  sealer: [
    'src/store/sealer.ts',
    'src/store/data-keys.ts',
    'src/store/cipher.ts',
    'src/store/encryption-keys.ts',
  ],
  tenants: ['src/workspace/{workspace,installations}.ts', 'src/store/{store,documents}.ts'],
  receiver: ['src/listeners/receivers/*.ts'],
  inbox: ['src/listeners/inbox.ts'],
  runner: ['src/jobs/*.ts'],
  outbox: ['src/cards/deliver.ts', 'src/scheduler/schedules/outbox.ts'],
  schedules: ['src/scheduler/schedules/*.ts', 'src/records/schedules.ts'],
};
/** Tests that run Deckhand in their own process and may reach a part. */
const TESTS = [
  'test/{errors,installing,jobs,linking,listeners,scheduler,security,slack,store,trust,workspace}/**/*.test.ts',
  'test/commands/{accounts,admin,digests,watches,workflows}/*.test.ts',
];

const root = join(import.meta.dirname, '..', '..');
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    sample: { type: 'string', default: 'Infinity' },
    seed: { type: 'string', default: '42' },
    tests: { type: 'string', multiple: true, default: TESTS },
    most: { type: 'string', default: '15' },
    out: { type: 'string' },
  },
});
const reasons = JSON.parse(readFileSync(join(import.meta.dirname, 'survivors.json'), 'utf8')) as object;
const mutants = chooseMutants();
const results: Array<Mutant & { killedBy: string | null }> = [];
// Tests wait more than they compute.
const folders = await Promise.all([copyRepository(), copyRepository()]);
try {
  const coverage = await coverTests(folders[0] ?? '', globSync(values.tests, { cwd: root }));
  await Promise.all(folders.map((folder) => tryMutants(folder, coverage)));
} finally {
  await Promise.all(folders.map((folder) => rm(folder, { recursive: true })));
}
const survivors = results.filter(({ killedBy }) => killedBy === null);
process.stdout.write(`\n${results.length - survivors.length} of ${results.length} mutants were noticed.\n`);
process.exitCode = survivors.some((one) => !(nameSurvivor(one) in reasons)) ? 1 : 0;

function chooseMutants(): Mutant[] {
  const parts = positionals.length === 0 ? Object.keys(PARTS) : positionals.filter((name) => name in PARTS);
  const files = positionals.filter((name) => !(name in PARTS));
  return [...parts.map((name) => PARTS[name] ?? []), files].flatMap((globs) => {
    const all = globSync(globs, { cwd: root }).flatMap((file) =>
      readMutants(file, readFileSync(join(root, file), 'utf8')),
    );
    return shuffle(all, values.seed).slice(0, Number(values.sample));
  });
}

async function tryMutants(folder: string, coverage: readonly Coverage[]): Promise<void> {
  for (let mutant = mutants.shift(); mutant !== undefined; mutant = mutants.shift()) {
    const reaching = orderTests(mutant, coverage);
    const tests = reaching.slice(0, Number(values.most));
    const killedBy = tests.length === 0 ? undefined : await tryMutant(folder, mutant, tests);
    results.push({ ...mutant, killedBy: killedBy ?? null });
    if (values.out !== undefined) writeFileSync(values.out, `${JSON.stringify(results, undefined, 1)}\n`);
    const { file, line, where, operator, original, changed } = mutant;
    const known = nameSurvivor(mutant) in reasons ? 'survived, as known,' : 'SURVIVED';
    const outcome =
      killedBy === undefined ? `${known} ${tests.length} of ${reaching.length}` : `killed by ${killedBy}`;
    process.stdout.write(`${outcome}: ${file}:${line} ${where}, ${operator}: ${original} → ${changed}\n`);
  }
}

function nameSurvivor({ file, where, operator }: Mutant): string {
  return `${file} ${where}: ${operator}`;
}

/** Tests that reach the mutant: those with words of its file first, then those that run little else. */
function orderTests({ file, where, start }: Mutant, coverage: readonly Coverage[]): string[] {
  const words = file.match(/[a-z]+/g)?.slice(1) ?? [];
  const near = ({ test }: Coverage) => words.filter((word) => test.includes(word)).length;
  const reaches = ({ files }: Coverage) => {
    const ranges = files.find((one) => one.file === file)?.ranges ?? [];
    // Code outside of functions runs in the first file of a worker only.
    if (where === 'module') return ranges.length > 0;
    const around = ranges.filter(({ startOffset, endOffset }) => startOffset <= start && start < endOffset);
    const inner = around.toSorted((a, b) => a.endOffset - a.startOffset - (b.endOffset - b.startOffset))[0];
    return inner !== undefined && inner.startOffset > 0 && inner.count > 0;
  };
  return coverage
    .filter(reaches)
    .toSorted((a, b) => near(b) - near(a) || a.files.length - b.files.length)
    .map(({ test }) => test);
}
