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
  advance(ms: number): void;
  /** The next message timestamp: seconds and microseconds, never the same twice. */
  nextTs(): string;
}

export function createTime(wall: () => number): MovableTime {
  let moved = 0;
  let lastMicros = 0;
  return {
    wall,
    now: () => wall() + moved,
    advance: (ms) => {
      moved += ms;
    },
    nextTs: () => {
      lastMicros = Math.max(lastMicros + 1, Math.floor(wall() * 1000));
      return `${Math.floor(lastMicros / 1_000_000)}.${String(lastMicros % 1_000_000).padStart(6, '0')}`;
    },
  };
}
