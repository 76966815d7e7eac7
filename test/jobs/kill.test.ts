import { spawn } from 'node:child_process';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { byLength } from '../support/length.ts';
import { temporarySqlite } from '../support/temporary.ts';

const PROGRAM = fileURLToPath(new URL('./killed-process.ts', import.meta.url));
const JOBS = 12;
/** So many lines each later life may say before it is killed. */
const LIVES = byLength([5, 1_000], [4, 7, 2, 5, 9, 1_000]);

/** Runs the program until it has said `lines` lines, or all its jobs have ended, and kills it with -9. */
async function live(url: string, jobs: number, lines: number, ended: Set<string>): Promise<string[]> {
  const child = spawn(process.execPath, [PROGRAM, url, String(jobs)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const said: string[] = [];
  for await (const line of createInterface(child.stdout)) {
    said.push(line);
    if (line.startsWith('end')) ended.add(line);
    // What it said before it died is still read to the end.
    if (said.length === lines || ended.size === JOBS) child.kill('SIGKILL');
  }
  return said;
}

test('kill -9 loses no job, and repeats at most those that were under way', async () => {
  const url = await temporarySqlite();
  const ended = new Set<string>();
  const said = await live(url, JOBS, 1, ended);
  let lives = 1;
  for (const lines of LIVES) {
    said.push(...(await live(url, 0, lines, ended)));
    lives += 1;
  }

  expect(ended.size).toBe(JOBS);
  const begun = said.filter((line) => line.startsWith('begin')).length;
  // Three jobs of a workspace run at once.
  expect(begun - JOBS).toBeLessThanOrEqual(3 * lives);
}, 120_000);
