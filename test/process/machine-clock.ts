import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const PRELOAD = pathToFileURL(join(import.meta.dirname, 'shifted-clock.ts')).href;

/** The wall clock of a process of ours, which may be set while it runs. */
export interface MachineClock {
  /** What the process is to be started with. */
  env: Record<string, string>;
  /** @param aheadMs of the true time; negative where it is behind */
  set(aheadMs: number): void;
}

/** @param file where it is kept */
export function createMachineClock(file: string): MachineClock {
  function set(aheadMs: number): void {
    writeFileSync(`${file}-next`, String(aheadMs));
    // Whole or not at all: half a number would be another time.
    renameSync(`${file}-next`, file);
  }
  set(0);
  return { env: { CLOCK_FILE: file, NODE_OPTIONS: `--import ${PRELOAD}` }, set };
}
