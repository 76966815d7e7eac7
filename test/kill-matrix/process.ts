import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { bundledFile } from '../support/program.ts';

const root = join(import.meta.dirname, '..', '..');

/** A line of the log by which Deckhand counts what may stand twice or be missing. */
export interface Uncertain {
  event: string;
  /** A name or Slack's id of the post, or of the request that is answered. */
  delivery?: string;
  /** The whole line. */
  line: string;
}

interface Started {
  child: ChildProcess;
  port: Promise<number>;
}

/** Deckhand as a process that may die at any moment. */
export async function startDeckhand(
  env: Record<string, string>,
  onUncertain: (line: Uncertain) => void,
): Promise<Started> {
  const child = spawn(process.execPath, [await bundledFile()], {
    cwd: root,
    env: { PATH: process.env.PATH ?? '', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const port = new Promise<number>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`Deckhand ended with ${code} at its start`)));
    createInterface(child.stdout).on('line', (line) => {
      const { event = '', port: told, delivery } = JSON.parse(line) as Partial<Uncertain & { port: number }>;
      if (event === 'possible_duplicate') onUncertain({ event, line, ...(delivery && { delivery }) });
      if (event === 'listening' && told !== undefined) resolve(told);
    });
  });
  return { child, port };
}
