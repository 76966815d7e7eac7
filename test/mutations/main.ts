import process from 'node:process';
import { type Copy, makeCopy } from './copy.ts';
import { MUTATIONS } from './list.ts';
import type { Mutation } from './mutation.ts';

/** So many faults are tried at once, each in a copy of its own; the tests wait more than they compute. */
const COPIES = 2;

/**
 * Makes each fault of the list in a copy of the repository, and expects the tests that it names to fail.
 * `npm run mutate -- <words>` tries those whose name has the words.
 */
const words = process.argv.slice(2).join(' ');
const wanted = MUTATIONS.filter(({ name }) => name.includes(words));
const copies = await Promise.all(Array.from({ length: COPIES }, makeCopy));
try {
  process.exitCode = await tryAll(copies, wanted);
} finally {
  await Promise.all(copies.map((copy) => copy.remove()));
}

async function tryAll([first, ...others]: Copy[], mutations: readonly Mutation[]): Promise<number> {
  if (first === undefined) return 1;
  const tests = [...new Set(mutations.flatMap((mutation) => mutation.tests))];
  if (!(await first.isGreen(tests))) {
    process.stdout.write('The tests fail without any fault. Mend that first.\n');
    return 1;
  }
  const left = [...mutations];
  const survived: string[] = [];
  await Promise.all([first, ...others].map((copy) => work(copy, left, survived)));
  const killed = mutations.length - survived.length;
  process.stdout.write(`\n${killed} of ${mutations.length} faults were noticed.\n`);
  return survived.length === 0 ? 0 : 1;
}

async function work(copy: Copy, left: Mutation[], survived: string[]): Promise<void> {
  for (let mutation = left.shift(); mutation !== undefined; mutation = left.shift()) {
    const begun = performance.now();
    const isSurvivor = await copy.passes(mutation);
    if (isSurvivor) survived.push(mutation.name);
    const seconds = Math.round((performance.now() - begun) / 1000);
    process.stdout.write(`${isSurvivor ? 'SURVIVED' : 'noticed '} ${seconds} s  ${mutation.name}\n`);
  }
}
