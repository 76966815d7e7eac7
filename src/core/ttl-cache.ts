import type { Clock } from './clock.ts';

const FRESH_MS = 10_000;
const MOST_KEPT = 500;

/** What was looked up in the last seconds, so that a menu answers while a person types. */
export interface TtlCache<T> {
  /**
   * What is known under the key, or what `load` finds; askers at the same time share one look-up. A failure is not
   * kept. The key names everything that decides what may be seen: the account and its sealed key first.
   */
  get(key: readonly string[], load: () => Promise<T>): Promise<T>;
  /** What `load` finds now, whatever is known; it is given from then on. */
  renew(key: readonly string[], load: () => Promise<T>): Promise<T>;
}

/** `freshMs`: how long an answer is given again. */
export function createTtlCache<T>(clock: Clock, freshMs = FRESH_MS): TtlCache<T> {
  const kept = new Map<string, { at: number; found: Promise<T> }>();

  function keep(name: string, found: Promise<T>): Promise<T> {
    // Set anew, so that the first key is always the oldest.
    kept.delete(name);
    const [oldest] = kept.keys();
    if (kept.size >= MOST_KEPT && oldest !== undefined) kept.delete(oldest);
    kept.set(name, { at: clock.now(), found });
    found.catch(() => forget(name, found));
    return found;
  }

  function forget(name: string, found: Promise<T>): void {
    if (kept.get(name)?.found === found) kept.delete(name);
  }

  return {
    get(key, load) {
      const name = JSON.stringify(key);
      const known = kept.get(name);
      return known !== undefined && clock.now() - known.at < freshMs ? known.found : keep(name, load());
    },
    renew: (key, load) => keep(JSON.stringify(key), load()),
  };
}
