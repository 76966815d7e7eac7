/**
 * Writes many things at once: what comes while a write is under way goes together with the next one. `write` gives a
 * result for each item.
 */
export function inBatches<T, R>(write: (items: T[]) => Promise<R[]>): (item: T) => Promise<R> {
  let waiting: Array<PromiseWithResolvers<R> & { item: T }> = [];
  let isWriting = false;

  async function writeAll(): Promise<void> {
    // What comes at once goes at once.
    await undefined;
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      try {
        const results = await write(batch.map(({ item }) => item));
        for (const [at, { resolve }] of batch.entries()) resolve(results[at] as R);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    isWriting = false;
  }

  return (item) => {
    const entry = { item, ...Promise.withResolvers<R>() };
    waiting.push(entry);
    if (!isWriting) {
      isWriting = true;
      void writeAll();
    }
    return entry.promise;
  };
}
