import type { Clock } from './time/clock.ts';

const FRESH_MS = 10_000;
const MAX_KEPT = 500;

/** A map of at most so many entries: what was set longest ago makes room. */
export class RecentMap<K, V> extends Map<K, V> {
  readonly #most: number;

  constructor(most: number) {
    super();
    this.#most = most;
  }

  override set(key: K, value: V): this {
    // Deleted first, so that the first key is always the oldest.
    this.delete(key);
    const [oldest] = this.size >= this.#most ? this.keys() : [];
    if (oldest !== undefined) this.delete(oldest);
    return super.set(key, value);
  }
}

/**
 * What was looked up in the last seconds, so that a menu answers while a person types. Not keyv, whose time to live
 * keeps real time and which does not share a look-up among callers.
 */
export class TtlCache<T> {
  readonly #clock: Clock;
  readonly #freshMs: number;
  readonly #kept = new RecentMap<string, { at: number; found: Promise<T> }>(MAX_KEPT);

  /** @param freshMs how long a value is kept, in milliseconds */
  constructor(clock: Clock, freshMs = FRESH_MS) {
    this.#clock = clock;
    this.#freshMs = freshMs;
  }

  /**
   * The cached value, or the result of `load`; callers at the same time share one look-up. A failure is not kept. The
   * key holds everything that decides what may be seen: the account and its sealed key first.
   */
  get(key: readonly string[], load: () => Promise<T>): Promise<T> {
    const name = JSON.stringify(key);
    const known = this.#kept.get(name);
    const isFresh = known !== undefined && this.#clock.now() - known.at < this.#freshMs;
    return isFresh ? known.found : this.#keep(name, load());
  }

  /** The result of `load`, which replaces the cached value. */
  renew(key: readonly string[], load: () => Promise<T>): Promise<T> {
    return this.#keep(JSON.stringify(key), load());
  }

  #keep(name: string, found: Promise<T>): Promise<T> {
    const kept = this.#kept;
    kept.set(name, { at: this.#clock.now(), found });
    found.catch(() => {
      if (kept.get(name)?.found === found) kept.delete(name);
    });
    return found;
  }
}
