import type { Clock } from './clock.ts';

const FRESH_MS = 10_000;
const MOST_KEPT = 500;

/**
 * What was looked up in the last seconds, so that a menu answers while a person types. Not keyv, whose time to live
 * keeps real time and which does not share a look-up among callers.
 */
export interface TtlCache<T> {
  /**
   * The cached value, or the result of `load`; callers at the same time share one look-up. A failure is not kept. The
   * key holds everything that decides what may be seen: the account and its sealed key first.
   */
  get(key: readonly string[], load: () => Promise<T>): Promise<T>;
  /** The result of `load`, which replaces the cached value. */
  renew(key: readonly string[], load: () => Promise<T>): Promise<T>;
}

/** @param freshMs how long a value is kept, in milliseconds */
export function createTtlCache<T>(clock: Clock, freshMs = FRESH_MS): TtlCache<T> {
  const kept = new Map<string, { at: number; found: Promise<T> }>();

  function keep(name: string, found: Promise<T>): Promise<T> {
    // Deleted first, so that the first key is always the oldest.
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
