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
