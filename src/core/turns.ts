/** Decides when work begins, so that it delays no acknowledgement: Slack waits three seconds for each. */
export interface Turns {
  /** Resolves when it is the turn of the key's next work. Keys take turns, so one with much work delays no other. */
  take(key: string): Promise<void>;
  /** A request has come in. The returned function says that it is acknowledged. */
  arrive(): () => void;
}

/** How long work is begun for before what came in is read, in milliseconds. */
const BUDGET_MS = 8;
/** While requests wait for their acks. At least one is begun each time, so work goes on in the longest flood. */
const BUDGET_WHILE_ACKING_MS = 1;
const MOST_PER_TURN = 50;

export function createTurns(now: () => number = () => performance.now()): Turns {
  const waiting = new Map<string, Array<() => void>>();
  let unacknowledged = 0;
  let left = 0;
  let endsAt = 0;

  /** All of them run in one turn of the event loop, each with what follows from it before the next. */
  function plan(): void {
    if (left > 0 || waiting.size === 0) return;
    endsAt = 0;
    left = MOST_PER_TURN;
    for (let at = 0; at < MOST_PER_TURN; at += 1) setImmediate(step);
  }

  function step(): void {
    const isFirst = left === MOST_PER_TURN;
    left -= 1;
    if (isFirst) endsAt = now() + (unacknowledged > 0 ? BUDGET_WHILE_ACKING_MS : BUDGET_MS);
    if (isFirst || now() < endsAt) beginNext();
    plan();
  }

  function beginNext(): void {
    const [next] = waiting;
    if (next === undefined) return;
    const [key, works] = next;
    waiting.delete(key);
    works.shift()?.();
    // Behind all the others.
    if (works.length > 0) waiting.set(key, works);
  }

  return {
    take: (key) =>
      new Promise((resolve) => {
        const works = waiting.get(key);
        if (works === undefined) waiting.set(key, [resolve]);
        else works.push(resolve);
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
