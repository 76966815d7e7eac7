import process from 'node:process';
import { fuzz } from './fuzz.ts';

/** `npm run fuzz [cases] [seed] [path]`: the full run, 100,000 cases unless told otherwise. */
const cases = Number(process.argv[2] ?? 100_000);
/** What the garbage collector may leave lying, in MB. */
const SLACK_MB = 96;
const seed = Number(process.argv[3] ?? Date.now() % 2 ** 31);
const started = performance.now();

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

say(`${cases} cases, seed ${seed}`);
const { statuses, crashed, unhandled, memoryMb, answers } = await fuzz({
  cases,
  seed,
  path: process.argv[4],
  onProgress: (done, memory) => {
    const seconds = Math.round((performance.now() - started) / 1000);
    say(`${done} of ${cases} in ${seconds} s, ${memory} MB`);
  },
});
say(`answers by status: ${JSON.stringify(statuses)}`);
say(`memory after each tenth, in MB: ${memoryMb.join(', ')}`);
const isWell = !crashed && unhandled.length === 0 && answers && isFlat(memoryMb);
for (const line of unhandled.slice(0, 10)) say(line);
say(isWell ? 'no crash, no 5xx, memory flat' : 'FAILED');
process.exitCode = isWell ? 0 : 1;

/** True if the last third of a run stands no higher than the middle third did, but for what is not collected yet. */
function isFlat(memoryMb: readonly number[]): boolean {
  const third = Math.floor(memoryMb.length / 3);
  const middle = Math.max(...memoryMb.slice(third, -third));
  return Math.max(...memoryMb.slice(-third)) <= middle * 1.25 + SLACK_MB;
}
