/** Things by the instant they fall due; equals in the order they came. A binary heap. */
export class Agenda<T> {
  readonly #heap: Array<{ at: number; order: number; value: T }> = [];
  #order = 0;

  /** When the next one falls due, milliseconds since the epoch. */
  get next(): number | undefined {
    return this.#heap[0]?.at;
  }

  add(at: number, value: T): void {
    this.#heap.push({ at, order: this.#order, value });
    this.#order += 1;
    this.#rise(this.#heap.length - 1);
  }

  /** Takes the first that is due, if any is. */
  take(now: number): T | undefined {
    const first = this.#heap[0];
    if (first === undefined || first.at > now) return undefined;
    const last = this.#heap.pop();
    if (last !== undefined && last !== first) {
      this.#heap[0] = last;
      this.#sink(0);
    }
    return first.value;
  }

  #rise(from: number): void {
    for (let child = from; child > 0; ) {
      const parent = (child - 1) >> 1;
      if (!this.#isBefore(child, parent)) return;
      this.#swap(child, parent);
      child = parent;
    }
  }

  #sink(from: number): void {
    for (let parent = from; ; ) {
      const left = 2 * parent + 1;
      const child = this.#isBefore(left + 1, left) ? left + 1 : left;
      if (!this.#isBefore(child, parent)) return;
      this.#swap(child, parent);
      parent = child;
    }
  }

  #isBefore(a: number, b: number): boolean {
    const [one, other] = [this.#heap[a], this.#heap[b]];
    if (one === undefined || other === undefined) return false;
    return one.at < other.at || (one.at === other.at && one.order < other.order);
  }

  #swap(a: number, b: number): void {
    const [one, other] = [this.#heap[a], this.#heap[b]];
    if (one === undefined || other === undefined) return;
    this.#heap[a] = other;
    this.#heap[b] = one;
  }
}
