/** Runs work of the same key one after the other, within this process. */
export function createKeyedLock(): <T>(key: string, work: () => Promise<T>) => Promise<T> {
  const tails = new Map<string, Promise<unknown>>();
  return async function alone<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = tails.get(key);
    const turn = before === undefined ? work() : before.then(work, work);
    tails.set(key, turn);
    try {
      return await turn;
    } finally {
      if (tails.get(key) === turn) tails.delete(key);
    }
  };
}
