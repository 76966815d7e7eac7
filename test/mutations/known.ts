import process from 'node:process';
import { type Copy, type Failure, makeCopy } from './known-copy.ts';
import { MUTATIONS } from './list.ts';
import type { Mutation } from './mutation.ts';

/** So many faults are tried at once, each in a copy of its own; the tests wait more than they compute. */
const COPIES = 2;

/**
 * Makes each fault of the list in a copy of the repository, and expects the tests that it names to fail.
 * `npm run mutate -- <words> [<other words>]` tries those whose name has one of the arguments.
 */
const parts = process.argv.slice(2);
const wanted = MUTATIONS.filter(
  ({ name }) => parts.length === 0 || parts.some((part) => name.includes(part)),
);
const copies = await Promise.all(Array.from({ length: COPIES }, makeCopy));
try {
  process.exitCode = await tryAll(copies, wanted);
} finally {
  await Promise.all(copies.map((copy) => copy.remove()));
}

async function tryAll([first, ...others]: Copy[], mutations: readonly Mutation[]): Promise<number> {
  if (first === undefined) return 1;
  // A test that fails without any fault notices none.
  const blind = await first.failuresOf([...new Set(mutations.flatMap(({ tests }) => tests))]);
  for (const { file, title } of blind) process.stdout.write(`fails without any fault: ${file} ${title}\n`);
  const left = [...mutations];
  const survived: string[] = [];
  await Promise.all([first, ...others].map((copy) => work(copy, left, survived, blind)));
  const killed = mutations.length - survived.length;
  process.stdout.write(`\n${killed} of ${mutations.length} faults were noticed.\n`);
  return survived.length + blind.length === 0 ? 0 : 1;
}

async function work(
  copy: Copy,
  left: Mutation[],
  survived: string[],
  blind: readonly Failure[],
): Promise<void> {
  for (let mutation = left.shift(); mutation !== undefined; mutation = left.shift()) {
    const begun = performance.now();
    const known = blind.filter(({ file }) => mutation.tests.includes(file));
    const failures = await copy.failures(mutation, known.length + 1);
    const noticed = failures.find((one) => !known.some(({ title }) => title === one.title));
    if (noticed === undefined) survived.push(mutation.name);
    const seconds = Math.round((performance.now() - begun) / 1000);
    const outcome = noticed === undefined ? 'SURVIVED' : 'noticed ';
    process.stdout.write(`${outcome} ${seconds} s  ${mutation.name}  (${noticed?.title ?? 'by no test'})\n`);
  }
}
