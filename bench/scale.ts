import { carries, type Fleet, RESOURCES, simulate, type Work } from './support/scale-model.ts';
import { tableOf } from './support/tables.ts';

const WORKSPACES = 100_000;

/** How long a call of the service takes; assumed, for it is the service's own. */
const CALL_MS = 100;
/** A run of three minutes, looked at every 2.5 s. */
const LOOKS = 72;
/** A look at a run, of Deckhand's thread: 10,000 were looked at every 1.06 intervals, 3,770 a second (followed-runs, p99). */
const LOOK_MS = 0.265;
/** Of Postgres, from store-engine: a job, a read, a write, and a read with its write, on two cores shared with Deckhand. */
const [JOB, GET, SET, UPDATE] = [0.65, 0.05, 0.185, 0.22];
/** Measured by `watches`. */
const POLL = { thread: 2, postgres: 2.2 };

/** What an average workspace asks for (assumed), and what that costs (measured: docs/scale.md says where). */
export const WORKS: readonly Work[] = [
  {
    name: 'command',
    perDay: 20,
    when: 'office hours',
    cost: { thread: 1.04, connections: CALL_MS, postgres: 6 * GET + SET },
  },
  {
    name: 'change',
    perDay: 4,
    when: 'office hours',
    cost: { thread: 2 * 1.04, connections: CALL_MS, postgres: JOB + 6 * GET + 2 * SET },
  },
  {
    name: 'run',
    perDay: 5,
    when: 'office hours',
    cost: { thread: LOOKS * LOOK_MS, connections: LOOKS * CALL_MS, postgres: JOB + 10 * UPDATE },
  },
  {
    name: 'watch poll',
    perDay: 0.3 * 24 * 60,
    when: 'all day',
    cost: { ...POLL, pollSlots: 2 * CALL_MS, connections: CALL_MS },
  },
  {
    name: 'invoice poll',
    perDay: 0.2 * 24,
    when: 'all day',
    cost: { ...POLL, pollSlots: 2 * CALL_MS, connections: CALL_MS },
  },
  {
    name: 'digest',
    perDay: 0.5,
    when: 'on the hour',
    cost: {
      thread: 4.1,
      drawing: 4.8,
      digestSlots: 2_000,
      connections: 2 * CALL_MS,
      postgres: JOB + 10 * GET + 4 * SET + 2 * UPDATE,
    },
  },
];

/** In minutes: later than this, a fleet is too small. */
const LIMITS = { command: 1, change: 1, run: 1, 'watch poll': 2, 'invoice poll': 2, digest: 15 };
type NamedFleet = readonly [name: string, fleet: Fleet];
const FLEETS: readonly NamedFleet[] = [
  ['one process', { replicas: 1, postgresCores: 2 }],
  ['three replicas', { replicas: 3, postgresCores: 4 }],
  ['thirty replicas', { replicas: 30, postgresCores: 16 }],
  ['thirty replicas, a larger Postgres', { replicas: 30, postgresCores: 32 }],
];

/** What fleets carry, by a model that only computes: no network, no store, the same tables every time. */
export async function scale(): Promise<void> {
  console.log(scaleTables().join('\n\n'));
}

/** What each fleet carries, and a day of 100,000 workspaces on each. */
export function scaleTables(): [carried: string, day: string] {
  return [
    tableOf(['fleet', 'cores of Postgres', 'workspaces', 'what ends first'], FLEETS.map(carriedRow)),
    tableOf(
      ['fleet', ...RESOURCES.map((one) => NAMES[one]), 'latest poll', 'latest digest', 'a command waits'],
      FLEETS.map(dayRow),
    ),
  ];
}

function carriedRow([name, fleet]: NamedFleet): (string | number)[] {
  const most = carries(fleet, WORKS, LIMITS);
  const { busiest } = simulate(most, fleet, WORKS);
  const [first = 'thread'] = RESOURCES.toSorted((a, b) => busiest[b] - busiest[a]);
  return [name, fleet.postgresCores, rounded(most), NAMES[first]];
}

function dayRow([name, fleet]: NamedFleet): string[] {
  const { busiest, latest, waitMs } = simulate(WORKSPACES, fleet, WORKS);
  const shares = RESOURCES.map((resource) => `${Math.round(busiest[resource] * 100)} %`);
  return [name, ...shares, minutes(latest['watch poll']), minutes(latest.digest), `${waitMs.toFixed(1)} ms`];
}

function minutes(amount = 0): string {
  return amount > 60 ? 'over an hour' : `${amount.toFixed(1)} min`;
}

const NAMES = {
  thread: 'thread',
  drawing: 'drawing',
  digestSlots: 'digests at once',
  pollSlots: 'polls at once',
  connections: 'connections',
  postgres: 'Postgres',
} as const;

/** Two digits: more than the model knows. */
function rounded(amount: number): string {
  return Number(amount.toPrecision(2)).toLocaleString('en-US');
}
