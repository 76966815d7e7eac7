import { existsSync, readFileSync } from 'node:fs';
import process from 'node:process';

/**
 * Loaded before a process begins: its wall clock is ahead by the milliseconds in the file CLOCK_FILE, which is read
 * again and again, so that a test may set the clock of a process that runs. Timers and intervals do not notice.
 */
const LOOK_MS = 50;
const file = process.env.CLOCK_FILE ?? '';
const now = Date.now;
let shift = Number(readFileSync(file, 'utf8'));

// At once, for waiting for the file costs many times as much as reading it.
setInterval(() => {
  if (existsSync(file)) shift = Number(readFileSync(file, 'utf8'));
}, LOOK_MS).unref();

const shifted = (): number => now() + shift;

Date.now = shifted;
globalThis.Date = new Proxy(Date, {
  construct: (target, args: unknown[], made) =>
    Reflect.construct(target, args.length === 0 ? [shifted()] : args, made),
});
