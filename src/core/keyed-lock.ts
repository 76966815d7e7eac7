/** Runs work of the same key one after the other, and forgets a key as soon as it is idle. */
export interface KeyedLock {
  <T>(key: string, work: () => Promise<T>): Promise<T>;
  /** Resolves when no work is left. */
  idle(): Promise<void>;
}

/** Within this process. p-queue would need a queue for each key, and code of this length to forget idle ones. */
export function createKeyedLock(): KeyedLock {
  const tails = new Map<string, Promise<unknown>>();

  async function alone<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = tails.get(key);
    const turn = before === undefined ? work() : before.then(work, work);
    tails.set(key, turn);
    try {
      return await turn;
    } finally {
      if (tails.get(key) === turn) tails.delete(key);
    }
  }

  async function idle(): Promise<void> {
    while (tails.size > 0) await Promise.allSettled(tails.values());
  }

  return Object.assign(alone, { idle });
}
