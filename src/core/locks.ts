/** Runs work of the same key one after the other, and forgets a key as soon as it is idle. */
export interface KeyedLock {
  /** @param isAwaited a person waits for it, so that it goes before what runs by itself */
  <T>(key: string, work: () => Promise<T>, isAwaited?: boolean): Promise<T>;
  /** Resolves when no work is left. */
  idle(): Promise<void>;
}

/** Within this process. p-queue would need a queue for each key, and code of this length to forget idle ones. */
export function createKeyedLock(): KeyedLock {
  /** What waits for each key that is held. */
  const waiting = new Map<string, Waiting<() => void>>();
  let whenIdle = Promise.withResolvers<void>();

  /** Undefined where the key is free. */
  function enter(key: string, isAwaited: boolean): Promise<void> | undefined {
    const queue = waiting.get(key);
    if (queue !== undefined) return new Promise((resolve) => queue.add(resolve, isAwaited));
    waiting.set(key, new Waiting());
    return undefined;
  }

  function leave(key: string): void {
    const next = waiting.get(key)?.next();
    if (next !== undefined) {
      next();
      return;
    }
    waiting.delete(key);
    if (waiting.size > 0) return;
    whenIdle.resolve();
    whenIdle = Promise.withResolvers();
  }

  async function alone<T>(key: string, work: () => Promise<T>, isAwaited = false): Promise<T> {
    const turn = enter(key, isAwaited);
    if (turn !== undefined) await turn;
    try {
      return await work();
    } finally {
      leave(key);
    }
  }

  const idle = async (): Promise<void> => {
    if (waiting.size > 0) await whenIdle.promise;
  };

  return Object.assign(alone, { idle });
}

/** After so many that a person waited for, one of the others has its turn. */
const MAX_AHEAD = 9;

/** What waits for its turn: what a person waits for first, but never so that the rest stands still. */
class Waiting<T> {
  readonly #awaited: T[] = [];
  readonly #others: T[] = [];
  /** How many went ahead of the others in a row. */
  #ahead = 0;

  add(one: T, isAwaited: boolean): void {
    (isAwaited ? this.#awaited : this.#others).push(one);
  }

  next(): T | undefined {
    const isOthersTurn = this.#awaited.length === 0 || (this.#others.length > 0 && this.#ahead >= MAX_AHEAD);
    if (isOthersTurn) {
      this.#ahead = 0;
      return this.#others.shift();
    }
    this.#ahead += 1;
    return this.#awaited.shift();
  }
}
