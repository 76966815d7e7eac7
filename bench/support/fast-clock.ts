import process from 'node:process';

/**
 * Loaded before a program: from EPOCH on its wall clock goes SPEED times as fast, and so do its long waits. What is
 * waited for less than 20 s is somebody's patience or a connection's time-out, and passes as it does.
 */
const PATIENCE_MS = 20_000;
const speed = Number(process.env.SPEED ?? 1);
const epoch = Number(process.env.EPOCH ?? Date.now());

const real = Date.now;
const fast = (): number => Math.round(epoch + (real() - epoch) * (real() < epoch ? 1 : speed));
Date.now = fast;
globalThis.Date = new Proxy(Date, {
  construct: (target, args: unknown[], made) =>
    Reflect.construct(target, args.length === 0 ? [fast()] : args, made),
});

const paced = (ms: unknown): unknown => (typeof ms === 'number' && ms >= PATIENCE_MS ? ms / speed : ms);
const { setTimeout: timeout, setInterval: interval } = globalThis;
globalThis.setTimeout = new Proxy(timeout, {
  apply: (target, self, [work, ms, ...rest]) => Reflect.apply(target, self, [work, paced(ms), ...rest]),
});
globalThis.setInterval = new Proxy(interval, {
  apply: (target, self, [work, ms, ...rest]) => Reflect.apply(target, self, [work, paced(ms), ...rest]),
});
