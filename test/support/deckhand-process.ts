import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import { bundledFile } from './program.ts';

const root = join(import.meta.dirname, '..', '..');

export type DeckhandProcess = Awaited<ReturnType<typeof startDeckhand>>;

/**
 * Deckhand as it is run, with what it says and how it ends; killed with the test.
 *
 * @param options Node's own, e.g. `--import`
 * @param entry the bundle by default
 */
export async function startDeckhand(
  env: Record<string, string>,
  options: readonly string[] = [],
  entry?: string,
) {
  const child = spawn(process.execPath, [...options, entry ?? (await bundledFile())], {
    cwd: root,
    env: { PATH: process.env.PATH ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const ended = once(child, 'close').then(([code]) => code as number | null);
  const log: string[] = [];
  const errors: string[] = [];
  createInterface(child.stderr).on('line', (line) => errors.push(line));
  const port = await new Promise<number>((resolve, reject) => {
    void ended.then((code) => reject(new Error(`Deckhand ended with ${code}: ${errors.join('\n')}`)));
    createInterface(child.stdout).on('line', (line) => {
      log.push(line);
      const { event, port: told } = JSON.parse(line) as { event?: string; port?: number };
      if (event === 'listening' && told !== undefined) resolve(told);
    });
  });
  return {
    pid: child.pid ?? 0,
    origin: `http://127.0.0.1:${port}`,
    /** Lines of its log and of its standard error so far. */
    log,
    errors,
    signal: (name: NodeJS.Signals) => void child.kill(name),
    /** The exit code, once it has ended and all of its output is here; null after a signal. */
    ended,
  };
}

/** Runs a script as a process of its own, killed with the test, until it has printed something. */
export async function startScript(script: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return child;
}
