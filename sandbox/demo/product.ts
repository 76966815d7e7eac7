import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';

const root = join(import.meta.dirname, '..', '..');
const SOURCES = join(root, 'src', 'main.ts');

/** Deckhand as a process of its own, so that it can be killed and started again. */
export interface Product {
  /** Resolves with the port once Deckhand is ready. */
  start(): Promise<number>;
  /** `kill -9`. */
  kill(): Promise<void>;
  /** SIGTERM, and waits for the end. */
  stop(): Promise<void>;
}

/**
 * @param onLine gets each line of Deckhand's log
 * @param entry gives the file to run; the sources by default
 */
export function createProduct(
  env: Record<string, string>,
  onLine: (line: string) => void,
  entry: () => Promise<string> = async () => SOURCES,
): Product {
  let child: ChildProcess | undefined;

  async function end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const ending = child;
    child = undefined;
    if (ending === undefined || ending.exitCode !== null || ending.signalCode !== null) return;
    const exited = once(ending, 'exit');
    ending.kill(signal);
    await exited;
  }

  return {
    async start() {
      await end('SIGTERM');
      const started = spawn(process.execPath, [await entry()], {
        cwd: root,
        env: {
          PATH: process.env.PATH ?? '',
          NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '',
          ...env,
        },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      child = started;
      return portOf(started, onLine);
    },
    kill: () => end('SIGKILL'),
    stop: () => end('SIGTERM'),
  };
}

/** The port that Deckhand logs once it listens. */
function portOf(child: ChildProcess, onLine: (line: string) => void): Promise<number> {
  return new Promise((resolve, reject) => {
    if (child.stdout === null) throw new TypeError('the child has no output');
    child.once('exit', (code) => reject(new Error(`Deckhand ended with ${code}`)));
    createInterface(child.stdout).on('line', (line) => {
      onLine(line);
      const port = listeningPort(line);
      if (port !== undefined) resolve(port);
    });
  });
}

function listeningPort(line: string): number | undefined {
  if (!line.startsWith('{')) return undefined;
  const { event, port } = JSON.parse(line) as { event?: string; port?: number };
  return event === 'listening' ? port : undefined;
}
