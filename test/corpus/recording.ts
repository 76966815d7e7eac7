import { spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import type { Sent } from '../../sandbox/slack/block-kit/sent.ts';
import { describeLength, describeShape, RECORDING } from '../support/sent.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const FOLDER = join(ROOT, 'node_modules', '.cache', 'deckhand-corpus');
const COMPLETE = join(FOLDER, 'complete');

/** Tests that send to the local Slack from Deckhand in their own process. */
const TESTS = ['commands', 'errors', 'linking', 'listeners', 'scheduler', 'security', 'slack', 'workspace'];

export type Entry = Pick<Sent, 'kind' | 'content'>;

/** Reads what the tests send to Slack. Runs them if nothing is recorded since the last change of the code. */
export function openCorpus(): Entry[] {
  if (!isFresh()) recordTests();
  return readRecording(FOLDER);
}

function isFresh(): boolean {
  if (!existsSync(COMPLETE)) return false;
  const { mtimeMs } = statSync(COMPLETE);
  const sources = globSync('{src,sandbox,test}/**/*.{ts,tsx}', { cwd: ROOT });
  return sources.every((file) => statSync(join(ROOT, file)).mtimeMs < mtimeMs);
}

function recordTests(): void {
  process.stderr.write('Running the tests, to record what they send to Slack. This takes a minute or two.\n');
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER, { recursive: true });
  const program = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs');
  const { status } = spawnSync(
    process.execPath,
    [program, 'run', '--reporter=dot', ...TESTS.map((folder) => `test/${folder}/`)],
    { cwd: ROOT, env: { ...process.env, [RECORDING]: FOLDER }, stdio: ['ignore', 2, 2] },
  );
  if (status === 0) writeFileSync(COMPLETE, '');
  else process.stderr.write('Some tests failed: what they send is missing.\n');
}

export function readRecording(folder: string): Entry[] {
  const lines = globSync('*.jsonl', { cwd: folder }).flatMap((file) =>
    readFileSync(join(folder, file), 'utf8').trimEnd().split('\n'),
  );
  return lines.map((line) => JSON.parse(line) as Entry);
}

/** The largest entry of each shape: what differs only in its words is the same to Slack. */
export function pickShapes(entries: readonly Entry[]): Entry[] {
  const bySize = entries.toSorted((one, other) => measure(one) - measure(other));
  return [
    ...new Map(
      bySize.map((entry) => [
        `${entry.kind} ${describeShape(entry.content, (text) => describeLength(text.length))}`,
        entry,
      ]),
    ).values(),
  ];
}

function measure({ content }: Entry): number {
  return JSON.stringify(content).length;
}

/** The title of a form, and the first words of a message. */
export function describeEntry({ kind, content }: Entry): string {
  const { text, callback_id: id } = content as { text?: string; callback_id?: string };
  return `${kind}: ${id ?? text?.replace(/\s+/g, ' ').slice(0, 100) ?? ''}`;
}
