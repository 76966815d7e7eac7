/**
 * Two readings of time. `wall` is what others can compare with their own clocks (signatures, message ts,
 * event_time). `now` is `wall` plus whatever a test has let pass: only Slack's own deadlines go by it, so a test
 * can age a trigger_id or reach a retry without the app's signature check failing.
 */
export interface MovableTime {
  /** Milliseconds since the epoch. */
  wall(): number;
  /** Milliseconds since the epoch, moved on by `advance`. */
  now(): number;
  /** Lets time pass; `advance(0)` looks again where `wall` itself was moved. */
  advance(ms: number): void;
  /** Resolves when `now` reaches `due`, by itself or by `advance`; rejects when the signal aborts. */
  waitUntil(due: number, signal: AbortSignal): Promise<void>;
  /** The next message timestamp: seconds and microseconds, never the same twice. */
  nextTs(): string;
}

export function createTime(wall: () => number): MovableTime {
  let moved = 0;
  let lastMicros = 0;
  const sleepers = new Set<() => void>();
  const now = (): number => wall() + moved;
  return {
    wall,
    now,
    advance: (ms) => {
      moved += ms;
      for (const look of [...sleepers]) look();
    },
    waitUntil: (due, signal) => sleep(now, due, signal, sleepers),
    nextTs: () => {
      lastMicros = Math.max(lastMicros + 1, Math.floor(wall() * 1000));
      return `${Math.floor(lastMicros / 1_000_000)}.${String(lastMicros % 1_000_000).padStart(6, '0')}`;
    },
  };
}

function sleep(
  now: () => number,
  due: number,
  signal: AbortSignal,
  sleepers: Set<() => void>,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (settle: () => void): void => {
      clearTimeout(timer);
      sleepers.delete(look);
      signal.removeEventListener('abort', abort);
      settle();
    };
    const abort = (): void => end(() => reject(signal.reason));
    const look = (): void => {
      if (now() >= due) end(resolve);
    };
    const timer = setTimeout(look, Math.max(0, due - now()));
    sleepers.add(look);
    signal.addEventListener('abort', abort);
    if (signal.aborted) abort();
    else look();
  });
}
