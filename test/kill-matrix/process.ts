import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';

const root = join(import.meta.dirname, '..', '..');
/** A build (`dist/main.js`) starts in half the time. */
const ENTRY = join(root, process.env.DECKHAND_MATRIX_ENTRY ?? 'src/main.ts');

/** A line of the log by which Deckhand counts what may stand twice or be missing. */
export interface Uncertain {
  event: string;
  /** A name or Slack's id of the post, or of the request that is answered. */
  delivery?: string;
  /** The whole line. */
  line: string;
}

/** Deckhand as a process that may die at any moment. */
export function startDeckhand(
  env: Record<string, string>,
  onUncertain: (line: Uncertain) => void,
): { child: ChildProcess; port: Promise<number> } {
  const child = spawn(process.execPath, [ENTRY], {
    cwd: root,
    env: { PATH: process.env.PATH ?? '', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const port = new Promise<number>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`Deckhand ended with ${code} at its start`)));
    createInterface(child.stdout).on('line', (line) => {
      const { event = '', port: told, delivery } = JSON.parse(line) as Partial<Uncertain & { port: number }>;
      if (event.endsWith('_uncertain')) onUncertain({ event, line, ...(delivery && { delivery }) });
      if (event === 'listening' && told !== undefined) resolve(told);
    });
  });
  return { child, port };
}
