type Waiter = () => void;

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

  next(): T | undefined {
    if (this.#awaited.length === 0 || (this.#others.length > 0 && this.#ahead >= MOST_AHEAD)) {
      this.#ahead = 0;
      return this.#others.shift();
    }
    this.#ahead += 1;
    return this.#awaited.shift();
  }
}

/** Decides when work begins, so that it delays no acknowledgement: Slack waits three seconds for each. */
export interface Turns {
  /**
   * Resolves when it is the turn of the key's next work. Keys take turns, so one with much work delays no other; in each,
   * what a person waits for goes before what runs by itself.
   */
  take(key: string, isAwaited: boolean): Promise<void>;
  /** A request has come in. The returned function says that it is acknowledged. */
  arrive(): () => void;
}

/** How long work may go on in a turn of the event loop before what came in is read, in milliseconds. */
const BUDGET_MS = 8;

/** While requests wait for their acks, which take several turns. */
const BUDGET_WHILE_ACKING_MS = 3;

/** Where work that began before fills the turns, one is begun in so many: all of it goes on in the longest flood. */
const TURNS_WITHOUT_ROOM = 4;

const MOST_PER_TURN = 50;

export function createTurns(now: () => number = () => performance.now()): Turns {
  const waiting = new Map<string, Line<() => void>>();
  let unacknowledged = 0;
  let left = 0;
  let endsAt = 0;
  /** When no more was begun in the turn before; undefined where nothing waited then. */
  let endedAt: number | undefined;
  let turnsWithoutRoom = 0;

  /** All of them run in one turn of the event loop, each with what follows from it before the next. */
  function plan(): void {
    if (left > 0 || waiting.size === 0) return;
    left = MOST_PER_TURN;
    for (let at = 0; at < MOST_PER_TURN; at += 1) setImmediate(step);
  }

  function step(): void {
    const isFirst = left === MOST_PER_TURN;
    left -= 1;
    if (isFirst) beginTurn();
    else if (now() < endsAt) beginNext();
    if (left > 0) return;
    endedAt = waiting.size > 0 ? now() : undefined;
    plan();
  }

  function beginTurn(): void {
    const at = now();
    // What began before goes on between the turns.
    const spentMs = at - (endedAt ?? at);
    endsAt = at + (unacknowledged > 0 ? BUDGET_WHILE_ACKING_MS : BUDGET_MS) - spentMs;
    turnsWithoutRoom = endsAt > at ? 0 : turnsWithoutRoom + 1;
    if (turnsWithoutRoom % TURNS_WITHOUT_ROOM === 0) beginNext();
  }

  function beginNext(): void {
    const [next] = waiting;
    if (next === undefined) return;
    const [key, line] = next;
    waiting.delete(key);
    line.next()?.();
    // Behind all the others.
    if (!line.isEmpty) waiting.set(key, line);
  }

  return {
    take: (key, isAwaited) =>
      new Promise((resolve) => {
        const line = waiting.get(key) ?? new Line();
        waiting.set(key, line);
        line.add(resolve, isAwaited);
        plan();
      }),
    arrive() {
      unacknowledged += 1;
      let isOver = false;
      return () => {
        if (!isOver) unacknowledged -= 1;
        isOver = true;
      };
    },
  };
}
