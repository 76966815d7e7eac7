import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';

const here = join(import.meta.dirname, '..', '..');

/** A program of its own, so that what is measured shares no event loop with what measures it. */
export interface Program {
  pid: number;
  /** Where it listens, as its line with the event `listening` said. */
  port: number;
  /** From the spawn to that line. */
  readyMs: number;
  /** Sends a message and resolves with the next answer; one at a time. */
  ask<T>(message: unknown): Promise<T>;
  end(): Promise<void>;
}

/** Long enough to start with ten thousand runs to take up. */
const START_MS = 60_000;

/** @param script from `root`, which is this repository's where left out */
export async function startProgram(
  script: string,
  env: Record<string, string> = {},
  nodeOptions: readonly string[] = [],
  root = here,
): Promise<Program> {
  const start = performance.now();
  const child = spawn(process.execPath, [...nodeOptions, join(root, script)], {
    cwd: root,
    env: { PATH: process.env.PATH ?? '', ...env },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const port = await portOf(child);
  return {
    pid: child.pid ?? 0,
    port,
    readyMs: performance.now() - start,
    async ask<T>(message: unknown) {
      const over = new AbortController();
      const { signal } = over;
      const ended = once(child, 'exit', { signal }).then(() => {
        throw new Error(`${script} ended instead of answering`);
      });
      const answered = once(child, 'message', { signal });
      child.send(message as object);
      const [answer] = await Promise.race([answered, ended]);
      ended.catch(() => undefined);
      over.abort();
      return answer as T;
    },
    async end() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      const hard = setTimeout(() => child.kill('SIGKILL'), 30_000);
      await exited;
      clearTimeout(hard);
    },
  };
}

function portOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    if (child.stdout === null) throw new TypeError('the program has no output');
    child.once('exit', (code) => reject(new Error(`the program ended with ${code}`)));
    const hard = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new Error('the program did not say that it listens'));
    }, START_MS);
    createInterface(child.stdout).on('line', (line) => {
      if (!line.includes('"listening"')) return;
      clearTimeout(hard);
      resolve((JSON.parse(line) as { port: number }).port);
    });
  });
}

/** Said by a peer once it listens. */
export function sayListening(port: number): void {
  process.stdout.write(`${JSON.stringify({ event: 'listening', port })}\n`);
}

export const TICKS_A_SECOND = 100;

/** CPU time of a process and of those it started so far, user and system, in seconds; steps of 10 ms. Linux only. */
export function cpuSeconds(pid: number): number {
  // Its own, and what was spent by those it started that have ended.
  const ticks = familyOf(pid).flatMap((each) => statusOf(each).slice(11, 15).map(Number));
  return ticks.reduce((sum, each) => sum + each, 0) / TICKS_A_SECOND;
}

/** Resident memory of a process and of those it started in bytes, now and at the highest of each. Linux only. */
export function residentBytes(pid: number): { now: number; highest: number } {
  const texts = familyOf(pid).map((each) => readOf(each, 'status'));
  const read = (name: string): number =>
    texts.reduce(
      (sum, text) => sum + Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0),
      0,
    ) * 1024;
  return { now: read('VmRSS'), highest: read('VmHWM') };
}

function familyOf(pid: number): number[] {
  const all = readdirSync('/proc').map(Number).filter(Boolean);
  return all.filter((each) => each === pid || statusOf(each)[1] === String(pid));
}

/** From the state on, which is the first; empty where the process has ended. */
function statusOf(pid: number): string[] {
  return readOf(pid, 'stat').split(') ').at(-1)?.split(' ') ?? [];
}

function readOf(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return '';
  }
}
