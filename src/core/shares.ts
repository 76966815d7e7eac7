/** Leaves as much to one more; at least one, or nothing would ever go on. */
function shareOf(amount: number, sharers: number): number {
  return Math.max(1, Math.floor(amount / (sharers + 1)));
}

/** Whose turn a job takes: that of its workspace, and in it that of its lane, e.g. a channel or an account. */
export interface Turn {
  workspace: string;
  lane?: string | undefined;
}

/** So many jobs of a queue are held here, running or waiting for their lane, for each that may run. */
const HELD_FOR_EACH = 8;

/** More of a lane at once would only slow the others down: Slack takes one post a second in a channel. */
const MOST_OF_LANE = 20;

/** What a workspace holds: how many jobs run, in each lane and in all, and how many wait for their lane. */
interface Holding {
  running: number;
  waiting: number;
  lanes: Map<string, number>;
}

const NO_LANES: Holding['lanes'] = new Map();

/**
 * Who may run how much of a queue. A workspace may run as many jobs as leave the same share to one more workspace,
 * and in it a lane as many as leave the same share to one more lane, at most `MOST_OF_LANE`. So the next to come always
 * finds room, however slow the others are.
 */
export class Shares {
  readonly #concurrency: number;
  readonly #mostOfOne: number;
  readonly #holdings = new Map<string, Holding>();
  /** How many workspaces have a job that runs. */
  #active = 0;
  #running = 0;

  /** @param mostOfOne no workspace runs more */
  constructor(concurrency: number, mostOfOne = Number.POSITIVE_INFINITY) {
    this.#concurrency = concurrency;
    this.#mostOfOne = mostOfOne;
  }

  /** Whether the job may run now. */
  hasRoom({ workspace, lane }: Turn): boolean {
    const { running = 0, lanes = NO_LANES } = this.#holdings.get(workspace) ?? {};
    const share = shareOf(this.#concurrency, this.#active + (running > 0 ? 0 : 1));
    if (running >= Math.min(share, this.#mostOfOne, this.free)) return false;
    if (lane === undefined) return true;
    const ofLane = lanes.get(lane) ?? 0;
    const sharers = lanes.size + (ofLane > 0 ? 0 : 1);
    return ofLane < Math.min(shareOf(share, sharers), MOST_OF_LANE);
  }

  /** Workspaces of which no more jobs are to be claimed for now. */
  full(): string[] {
    const share = Math.min(shareOf(this.#concurrency, this.#active), this.free);
    const most = shareOf(this.#concurrency * HELD_FOR_EACH, this.#holdings.size);
    return [...this.#holdings]
      .filter(([, { running, waiting }]) => running >= share || running + waiting >= most)
      .map(([workspace]) => workspace);
  }

  begin({ workspace, lane }: Turn): void {
    const holding = this.#holdingOf(workspace);
    if (holding.running === 0) this.#active += 1;
    holding.running += 1;
    this.#running += 1;
    if (lane !== undefined) holding.lanes.set(lane, (holding.lanes.get(lane) ?? 0) + 1);
  }

  end({ workspace, lane }: Turn): void {
    const holding = this.#holdingOf(workspace);
    holding.running -= 1;
    this.#running -= 1;
    if (holding.running === 0) this.#active -= 1;
    if (lane !== undefined) {
      const left = (holding.lanes.get(lane) ?? 1) - 1;
      if (left > 0) holding.lanes.set(lane, left);
      else holding.lanes.delete(lane);
    }
    this.#dropIfEmpty(workspace, holding);
  }

  /** A job waits for its lane, or no longer. */
  wait({ workspace }: Turn, change: 1 | -1): void {
    const holding = this.#holdingOf(workspace);
    holding.waiting += change;
    this.#dropIfEmpty(workspace, holding);
  }

  /** No workspace runs more than what stays free, so that those who came first leave room for many more. */
  get free(): number {
    return this.#concurrency - this.#running;
  }

  get isEmpty(): boolean {
    return this.#holdings.size === 0;
  }

  #holdingOf(workspace: string): Holding {
    const known = this.#holdings.get(workspace);
    if (known !== undefined) return known;
    const made: Holding = { running: 0, waiting: 0, lanes: new Map() };
    this.#holdings.set(workspace, made);
    return made;
  }

  #dropIfEmpty(workspace: string, { running, waiting }: Holding): void {
    if (running === 0 && waiting === 0) this.#holdings.delete(workspace);
  }
}

interface FairGateOptions {
  /** In all. */
  most: number;
  /** Of one key. */
  mostOfKey: number;
}

/** Lets a number of holders in at once, each key the share of a workspace: one whose work is slow waits for itself alone. */
export class FairGate {
  readonly #shares: Shares;
  /** None of them is empty. */
  readonly #waiting = new Map<string, Set<() => void>>();

  constructor({ most, mostOfKey }: FairGateOptions) {
    this.#shares = new Shares(most, mostOfKey);
  }

  get isEmpty(): boolean {
    return this.#shares.isEmpty && this.#waiting.size === 0;
  }

  /** Calls `begin` inside, now or later. Returns what leaves, or waits no longer. */
  enter(key: string, begin: () => void): () => void {
    if (this.#shares.hasRoom({ workspace: key })) {
      this.#shares.begin({ workspace: key });
      begin();
      return () => this.#leave(key);
    }
    const waiters = this.#waiting.get(key) ?? new Set();
    this.#waiting.set(key, waiters.add(begin));
    return () => {
      if (waiters.has(begin)) this.#drop(key, begin);
      else this.#leave(key);
    };
  }

  #drop(key: string, waiter: () => void): void {
    const waiters = this.#waiting.get(key);
    waiters?.delete(waiter);
    if (waiters?.size === 0) this.#waiting.delete(key);
  }

  #leave(key: string): void {
    this.#shares.end({ workspace: key });
    for (const [workspace, waiters] of this.#waiting) {
      if (this.#shares.free <= 0) return;
      for (const begin of waiters) {
        if (!this.#shares.hasRoom({ workspace })) break;
        this.#drop(workspace, begin);
        this.#shares.begin({ workspace });
        begin();
      }
    }
  }
}
