import { setImmediate } from 'node:timers/promises';

/** Runs work with the same key one after the other, within this process. */
export interface KeyedLock {
  /** @param isAwaited true if a person waits for it. It then runs before other work with the key */
  <T>(key: string, work: () => Promise<T>, isAwaited?: boolean): Promise<T>;
  /** Resolves when no work is left. */
  idle(): Promise<void>;
}

interface Waiting {
  begin: () => void;
  isAwaited: boolean;
}

/** p-queue would need a queue for each key, and equally long code to drop idle queues. */
export function createKeyedLock(): KeyedLock {
  /** Waiting work, by keys that are locked. */
  const held = new Map<string, Waiting[]>();
  let whenIdle = Promise.withResolvers<void>();

  /** Resolves when the key is free. */
  function turn(waiting: Waiting[], isAwaited: boolean): Promise<void> {
    return new Promise((begin) => {
      const at = isAwaited ? waiting.findIndex((other) => !other.isAwaited) : -1;
      waiting.splice(at === -1 ? waiting.length : at, 0, { begin, isAwaited });
    });
  }

  function release(key: string): void {
    const next = held.get(key)?.shift();
    next?.begin();
    if (next === undefined) held.delete(key);
    if (held.size > 0) return;
    whenIdle.resolve();
    whenIdle = Promise.withResolvers();
  }

  async function lock<T>(key: string, work: () => Promise<T>, isAwaited = false): Promise<T> {
    const waiting = held.get(key);
    if (waiting === undefined) held.set(key, []);
    else await turn(waiting, isAwaited);
    try {
      return await work();
    } finally {
      release(key);
    }
  }

  return Object.assign(lock, { idle: async () => (held.size > 0 ? whenIdle.promise : undefined) });
}

const TURN_MS = 10;

/** Calls `work` for each item of a long list. Lets other work run every 10 ms. */
export async function forEachInTurns<T>(items: Iterable<T>, work: (item: T) => void): Promise<void> {
  let began = performance.now();
  for (const item of items) {
    work(item);
    if (performance.now() - began < TURN_MS) continue;
    await setImmediate();
    began = performance.now();
  }
}
