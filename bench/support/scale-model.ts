/** What work takes; each has a capacity in milliseconds a minute. */
export const RESOURCES = [
  'thread',
  'drawing',
  'digestSlots',
  'pollSlots',
  'connections',
  'postgres',
] as const;
type Resource = (typeof RESOURCES)[number];
export type Amounts = Readonly<Record<Resource, number>>;

export interface Fleet {
  replicas: number;
  /** Cores that Postgres has for itself. */
  postgresCores: number;
}

/** One kind of work. Kinds are served in order: people first, digests last. */
export interface Work {
  name: string;
  /** A day, of an average workspace. */
  perDay: number;
  when: 'office hours' | 'all day' | 'on the hour';
  /** Milliseconds of each resource. */
  cost: Partial<Amounts>;
}

export interface Day {
  /** The highest share of each resource that a minute used. */
  busiest: Amounts;
  /** By kind, the longest from falling due to being done, in minutes. */
  latest: Readonly<Record<string, number>>;
  /** How long a command waits for the thread in the busiest minute, on average, in milliseconds. */
  waitMs: number;
}

const MINUTE_MS = 60_000;
const MINUTES = 24 * 60;
/** Above this share of a core, waits grow faster than work. */
const USABLE = 0.8;
/** Concurrency of the queues of digests and of polls, and connections to one origin of the service, a replica. */
const SLOTS = { digestSlots: 50, pollSlots: 50, connections: 128 };

/** Where workspaces are, by hours from UTC; the shares make 1. */
const ZONES: ReadonlyArray<readonly [offset: number, share: number]> = [
  [-8, 0.12],
  [-5, 0.22],
  [-3, 0.04],
  [0, 0.12],
  [1, 0.2],
  [2, 0.05],
  [5.5, 0.1],
  [8, 0.08],
  [9, 0.05],
  [10, 0.02],
];
/** Of a day's digests, how many are due at this local hour; all in its first minute. */
const DUE_HOURS: Readonly<Record<number, number>> = { 8: 0.25, 9: 0.5, 10: 0.25 };

export function capacityOf({ replicas, postgresCores }: Fleet): Amounts {
  const slots = (amount: number) => amount * replicas * MINUTE_MS;
  return {
    thread: USABLE * replicas * MINUTE_MS,
    drawing: USABLE * replicas * MINUTE_MS,
    digestSlots: slots(SLOTS.digestSlots),
    pollSlots: slots(SLOTS.pollSlots),
    connections: slots(SLOTS.connections),
    postgres: USABLE * postgresCores * MINUTE_MS,
  };
}

/** What falls due in each minute of the day (UTC), as a share of the day. */
export function sharesOf(when: Work['when']): readonly number[] {
  return SHARES[when];
}

function computeShares(when: Work['when']): readonly number[] {
  return Array.from({ length: MINUTES }, (_, minute) => {
    if (when === 'all day') return 1 / MINUTES;
    return ZONES.reduce((sum, [offset, share]) => {
      const local = (minute + offset * 60 + MINUTES) % MINUTES;
      return sum + share * (when === 'on the hour' ? dueAt(local) : officeShare(local));
    }, 0);
  });
}

function dueAt(local: number): number {
  return local % 60 === 0 ? (DUE_HOURS[local / 60] ?? 0) : 0;
}

const OFFICE_WEIGHTS = Array.from({ length: 24 }, (_, hour) => {
  if (hour >= 9 && hour < 18) return 1;
  return hour >= 7 && hour < 20 ? 0.3 : 0.03;
});
const OFFICE_SUM = OFFICE_WEIGHTS.reduce((sum, one) => sum + one, 0);

function officeShare(local: number): number {
  return (OFFICE_WEIGHTS[Math.floor(local / 60)] ?? 0) / OFFICE_SUM / 60;
}

/** Every simulation asks for them. */
const SHARES: Readonly<Record<Work['when'], readonly number[]>> = {
  'office hours': computeShares('office hours'),
  'all day': computeShares('all day'),
  'on the hour': computeShares('on the hour'),
};

/**
 * A day by minutes. In each, every kind takes what the kinds before it left of each resource; what does not fit waits,
 * first come, first served. Two days are computed, so that the first minute finds what midnight left over.
 */
export function simulate(workspaces: number, fleet: Fleet, works: readonly Work[]): Day {
  const capacity = capacityOf(fleet);
  const lines = works.map((work) => ({
    work,
    shares: sharesOf(work.when),
    needs: RESOURCES.flatMap((name): Need[] => (work.cost[name] ? [[name, work.cost[name]]] : [])),
    waiting: [] as Batch[],
    latest: 0,
  }));
  const busiest = Object.fromEntries(RESOURCES.map((name) => [name, 0])) as Record<Resource, number>;
  for (let minute = 0; minute < 2 * MINUTES; minute += 1) {
    const left: Record<Resource, number> = { ...capacity };
    for (const line of lines) {
      const amount = workspaces * line.work.perDay * (line.shares[minute % MINUTES] ?? 0);
      if (amount > 0) line.waiting.push({ minute, amount });
      line.latest = Math.max(line.latest, serve(line.waiting, line.needs, left, minute));
    }
    for (const name of RESOURCES) busiest[name] = Math.max(busiest[name], 1 - left[name] / capacity[name]);
  }
  const latest = Object.fromEntries(lines.map((line) => [line.work.name, latestOf(line, 2 * MINUTES)]));
  return { busiest, latest, waitMs: queueWait(USABLE * busiest.thread, meanCost(works)) };
}

interface Batch {
  minute: number;
  amount: number;
}

type Need = readonly [resource: Resource, ms: number];

/** Takes from `waiting` and `left` what fits. @returns the longest wait of what was taken, in minutes */
function serve(
  waiting: Batch[],
  needs: readonly Need[],
  left: Record<Resource, number>,
  now: number,
): number {
  if (waiting.length === 0) return 0;
  let fits = Number.POSITIVE_INFINITY;
  for (const [name, ms] of needs) fits = Math.min(fits, left[name] / ms);
  let served = 0;
  let longest = 0;
  for (let first = waiting[0]; first !== undefined && served < fits; first = waiting[0]) {
    const taken = Math.min(first.amount, fits - served);
    served += taken;
    longest = Math.max(longest, now - first.minute + served / fits);
    first.amount -= taken;
    if (first.amount <= 1e-9) waiting.shift();
  }
  for (const [name, ms] of needs) left[name] = Math.max(0, left[name] - served * ms);
  return longest;
}

function latestOf({ waiting, latest }: { waiting: Batch[]; latest: number }, end: number): number {
  const [oldest] = waiting;
  return oldest === undefined ? latest : Math.max(latest, end - oldest.minute);
}

/** Of one server with arrivals and times at random (M/M/1): load 0.5 waits as long as one is served. */
export function queueWait(load: number, serviceMs: number): number {
  return (load * serviceMs) / (1 - load);
}

function meanCost(works: readonly Work[]): number {
  const total = works.reduce((sum, { perDay }) => sum + perDay, 0);
  return works.reduce((sum, { perDay, cost }) => sum + perDay * (cost.thread ?? 0), 0) / total;
}

/** The most workspaces with which no kind is later than its limit, in minutes; to one in a hundred. */
export function carries(
  fleet: Fleet,
  works: readonly Work[],
  limits: Readonly<Record<string, number>>,
): number {
  const isFine = (workspaces: number) => {
    const { latest } = simulate(workspaces, fleet, works);
    return Object.entries(limits).every(([name, limit]) => (latest[name] ?? 0) <= limit);
  };
  let low = 0;
  let high = 1_000;
  while (isFine(high) && high < 1e9) [low, high] = [high, high * 2];
  while (high - low > high / 100) {
    const middle = (low + high) / 2;
    if (isFine(middle)) low = middle;
    else high = middle;
  }
  return low;
}
