import process from 'node:process';

/** Loaded before a process begins: its wall clock is ahead by SHIFT_MS, so that a slot falls due when a test wants it. */
const shift = Number(process.env.SHIFT_MS ?? 0);
const now = Date.now;
const shifted = (): number => now() + shift;

Date.now = shifted;
globalThis.Date = new Proxy(Date, {
  construct: (target, args: unknown[], made) =>
    Reflect.construct(target, args.length === 0 ? [shifted()] : args, made),
});
