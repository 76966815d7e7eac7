import type { Clock } from './time/clock.ts';

const FRESH_MS = 10_000;
const MAX_CACHED = 500;

/** A map of limited size. It drops the entry that was set longest ago. */
export class RecentMap<K, V> extends Map<K, V> {
  readonly #most: number;

  constructor(most: number) {
    super();
    this.#most = most;
  }

  override set(key: K, value: V): this {
    // Orders the keys by their last `set`.
    this.delete(key);
    const [oldest] = this.size >= this.#most ? this.keys() : [];
    if (oldest !== undefined) this.delete(oldest);
    return super.set(key, value);
  }
}

/**
 * Caches look-ups for some seconds, so that a menu answers while a person types. keyv would not do: its time
 * to live uses the real clock, and callers do not share a look-up.
 */
export class TtlCache<T> {
  readonly #clock: Clock;
  readonly #freshMs: number;
  readonly #cached = new RecentMap<string, { at: number; value: Promise<T> }>(MAX_CACHED);

  /** @param freshMs time to live, in milliseconds */
  constructor(clock: Clock, freshMs = FRESH_MS) {
    this.#clock = clock;
    this.#freshMs = freshMs;
  }

  /**
   * The cached value, or the result of `load`. Simultaneous callers share one look-up; failures are not
   * cached. The key must hold everything that decides about access: first the account and its sealed key.
   */
  get(key: readonly string[], load: () => Promise<T>): Promise<T> {
    const name = JSON.stringify(key);
    const cached = this.#cached.get(name);
    const isFresh = cached !== undefined && this.#clock.now() - cached.at < this.#freshMs;
    return isFresh ? cached.value : this.#store(name, load());
  }

  /** Calls `load`, and replaces the cached value. */
  renew(key: readonly string[], load: () => Promise<T>): Promise<T> {
    return this.#store(JSON.stringify(key), load());
  }

  #store(name: string, value: Promise<T>): Promise<T> {
    const cached = this.#cached;
    cached.set(name, { at: this.#clock.now(), value });
    value.catch(() => {
      if (cached.get(name)?.value === value) cached.delete(name);
    });
    return value;
  }
}
