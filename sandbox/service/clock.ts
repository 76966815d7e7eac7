/** The service's time: it runs by itself, and a test may move it forward. All values are milliseconds. */
export interface SandboxClock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Runs `work` once the clock has reached `due`; returns a function that takes it back. */
  at(due: number, work: () => void): () => void;
  /** The same, counted from now. */
  after(ms: number, work: () => void): () => void;
  /** Moves the clock forward and does everything that becomes due on the way, in order. */
  advance(ms: number): void;
  /** Does what is due by now; called before each request, so that a fake `now` needs no timers. */
  tick(): void;
  /** Forgets all planned work. */
  clear(): void;
}

export interface ClockOptions {
  /** The time underneath; the system's by default. */
  now?: (() => number) | undefined;
  /** How many times faster than the time underneath; 0 stands still until `advance`. */
  speed?: number | undefined;
}

interface Planned {
  due: number;
  work: () => void;
}

/** The longest delay a Node timer takes. */
const MAX_TIMER = 2_147_483_647;

/** A clock of its own for one service. Refuses a negative speed, for time here never runs backwards. */
export function createClock({ now: underneath = Date.now, speed = 1 }: ClockOptions = {}): SandboxClock {
  if (speed < 0) throw new RangeError('speed must not be negative');
  const started = underneath();
  const planned: Planned[] = [];
  let offset = 0;
  // While planned work runs, the time is its due time, so that what it plans next is counted from there.
  let pinned: number | undefined;
  let timer: NodeJS.Timeout | undefined;

  function now(): number {
    return Math.round(pinned ?? started + (underneath() - started) * speed + offset);
  }

  function arm(): void {
    clearTimeout(timer);
    const [next] = planned;
    if (next === undefined || speed === 0) return;
    timer = setTimeout(tick, Math.min(Math.max(1, (next.due - now()) / speed), MAX_TIMER)).unref();
  }

  function runUntil(target: number): void {
    try {
      for (let next = planned[0]; next !== undefined && next.due <= target; next = planned[0]) {
        planned.shift();
        pinned = next.due;
        next.work();
      }
    } finally {
      pinned = undefined;
      arm();
    }
  }

  function tick(): void {
    if (pinned === undefined) runUntil(now());
  }

  function at(due: number, work: () => void): () => void {
    const entry = { due, work };
    const before = planned.findIndex((other) => other.due > due);
    planned.splice(before === -1 ? planned.length : before, 0, entry);
    if (pinned === undefined) arm();
    return () => {
      const index = planned.indexOf(entry);
      if (index !== -1) planned.splice(index, 1);
    };
  }

  return {
    now,
    at,
    after: (ms, work) => at(now() + ms, work),
    advance(ms) {
      if (ms < 0) throw new RangeError('the clock only moves forward');
      runUntil(now() + ms);
      offset += ms;
      arm();
    },
    tick,
    clear() {
      planned.length = 0;
      clearTimeout(timer);
    },
  };
}
