interface Waiter {
  key: string;
  enter: () => void;
}

export interface FairGateOptions {
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
  readonly #waiting = new Set<Waiter>();
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
    const share = Math.max(1, Math.floor(most / (sharers + 1)));
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
        this.#waiting.delete(waiter);
        reject(signal.reason);
      };
      const waiter: Waiter = {
        key,
        enter: () => {
          signal.removeEventListener('abort', giveUp);
          resolve();
        },
      };
      this.#waiting.add(waiter);
      signal.addEventListener('abort', giveUp, { once: true });
    });
  }

  #leave(key: string): void {
    const left = (this.#held.get(key) ?? 1) - 1;
    if (left > 0) this.#held.set(key, left);
    else this.#held.delete(key);
    this.#total -= 1;
    for (const waiter of this.#waiting) {
      if (this.#total >= this.#options.most) return;
      if (!this.#hasRoom(waiter.key)) continue;
      this.#waiting.delete(waiter);
      this.#begin(waiter.key);
      waiter.enter();
    }
  }
}
