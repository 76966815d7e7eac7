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
  const waiting = new Map<string, Line<() => void>>();
  let whenIdle = Promise.withResolvers<void>();

  /** Undefined where the key is free. */
  function enter(key: string, isAwaited: boolean): Promise<void> | undefined {
    const line = waiting.get(key);
    if (line !== undefined) return new Promise((resolve) => line.add(resolve, isAwaited));
    waiting.set(key, new Line());
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

/** Leaves as much to one more; at least one, or nothing would ever go on. */
export function shareOf(amount: number, sharers: number): number {
  return Math.max(1, Math.floor(amount / (sharers + 1)));
}

type Waiter = () => void;

interface FairGateOptions {
  /** In all. */
  most: number;
  /** Of one key. */
  mostOfKey: number;
}

/**
 * Lets a number of holders in at once, each key as many as leave the same share to one more key: a key whose work is
 * slow waits for itself alone.
 */
export class FairGate {
  readonly #options: FairGateOptions;
  readonly #held = new Map<string, number>();
  /** None of them is empty. */
  readonly #waiting = new Map<string, Set<Waiter>>();
  #total = 0;

  constructor(options: FairGateOptions) {
    this.#options = options;
  }

  get isEmpty(): boolean {
    return this.#total === 0 && this.#waiting.size === 0;
  }

  /** Resolves inside, with the way out. Rejects with the signal's reason. */
  async enter(key: string, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#hasRoom(key)) this.#begin(key);
    else await this.#wait(key, signal);
    return () => this.#leave(key);
  }

  #hasRoom(key: string): boolean {
    const { most, mostOfKey } = this.#options;
    const held = this.#held.get(key) ?? 0;
    const sharers = this.#held.size + (held === 0 ? 1 : 0);
    const share = shareOf(most, sharers);
    // No more than what stays free, so that those who came first leave room for many more.
    return held < Math.min(share, mostOfKey, most - this.#total);
  }

  #begin(key: string): void {
    this.#held.set(key, (this.#held.get(key) ?? 0) + 1);
    this.#total += 1;
  }

  #wait(key: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        this.#drop(key, enter);
        reject(signal.reason);
      };
      const enter = (): void => {
        signal.removeEventListener('abort', giveUp);
        resolve();
      };
      const waiters = this.#waiting.get(key);
      if (waiters === undefined) this.#waiting.set(key, new Set([enter]));
      else waiters.add(enter);
      signal.addEventListener('abort', giveUp, { once: true });
    });
  }

  #drop(key: string, waiter: Waiter): void {
    const waiters = this.#waiting.get(key);
    waiters?.delete(waiter);
    if (waiters?.size === 0) this.#waiting.delete(key);
  }

  #leave(key: string): void {
    const left = (this.#held.get(key) ?? 1) - 1;
    if (left > 0) this.#held.set(key, left);
    else this.#held.delete(key);
    this.#total -= 1;
    for (const [waiting, waiters] of this.#waiting) {
      if (this.#total >= this.#options.most) return;
      for (const enter of waiters) {
        if (!this.#hasRoom(waiting)) break;
        this.#drop(waiting, enter);
        this.#begin(waiting);
        enter();
      }
    }
  }
}

/** After so many that a person waited for, one of the others has its turn. */
const MOST_AHEAD = 9;

/** What waits for its turn: what a person waits for first, but never so that the rest stands still. */
export class Line<T> {
  readonly #awaited: T[] = [];
  readonly #others: T[] = [];
  /** How many went ahead of the others in a row. */
  #ahead = 0;

  get isEmpty(): boolean {
    return this.#awaited.length + this.#others.length === 0;
  }

  add(one: T, isAwaited: boolean): void {
    (isAwaited ? this.#awaited : this.#others).push(one);
  }

  /** @param mayBeOther where false, none but what a person waits for */
  next(mayBeOther = true): T | undefined {
    const isOthersTurn = this.#awaited.length === 0 || (this.#others.length > 0 && this.#ahead >= MOST_AHEAD);
    if (mayBeOther && isOthersTurn) {
      this.#ahead = 0;
      return this.#others.shift();
    }
    this.#ahead += 1;
    return this.#awaited.shift();
  }
}
