import type { Ending } from './replica.ts';

/** What Deckhand's own logs say of doubt, and when its processes ended. */
export interface Diary {
  /** Takes a line of a log. */
  read(line: string): void;
  ended(how: Ending, at: number): void;
  /** Names of deliveries, posts by `client_msg_id` and requests that Deckhand counted as uncertain. */
  readonly uncertain: ReadonlySet<string>;
  readonly endings: ReadonlyArray<{ how: Ending; at: number }>;
  /** When the store last failed, by this machine. */
  readonly storeFailedAt: number;
  /** How often each kind of event was logged. */
  readonly events: ReadonlyMap<string, number>;
  /** The lines that tell of bugs, with the time by this machine. */
  readonly bugs: ReadonlyArray<{ line: string; at: number }>;
}

const DOUBTS = new Set(['possible_duplicate']);
const STORE_FAILURES = new Set(['engine_error', 'request_not_stored', 'store_failed']);
const BUGS = new Set(['bug', 'unhandled_rejection']);

/** @param onLine gets every line that was read */
export function createDiary(onLine: (line: string) => void): Diary {
  const uncertain = new Set<string>();
  const endings: Array<{ how: Ending; at: number }> = [];
  const events = new Map<string, number>();
  let storeFailedAt = 0;
  const bugs: Array<{ line: string; at: number }> = [];
  return {
    uncertain,
    endings,
    events,
    bugs,
    get storeFailedAt() {
      return storeFailedAt;
    },
    read(line) {
      onLine(line);
      if (!line.startsWith('{')) return;
      const { event = 'none', delivery } = JSON.parse(line) as { event?: string; delivery?: string };
      events.set(event, (events.get(event) ?? 0) + 1);
      if (DOUBTS.has(event) && delivery !== undefined) uncertain.add(delivery);
      if (STORE_FAILURES.has(event)) storeFailedAt = Date.now();
      if (BUGS.has(event)) bugs.push({ line, at: Date.now() });
    },
    ended: (how, at) => void endings.push({ how, at }),
  };
}
