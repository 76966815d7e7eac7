import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from '@prometheus-io/client';
import { type Clock, systemClock, withTimeout } from '../core/time/clock.ts';
import type { Logger } from './log.ts';
import { COLLECTIONS, REFUSALS } from './series.ts';

export type Metrics = ReturnType<typeof createMetrics>;

/** Jobs of each queue; `oldestDueMs` is how long the oldest due job has waited. */
type QueueStats = Readonly<
  Record<string, { waiting: number; later: number; running: number; oldestDueMs: number }>
>;
type CountJobs = () => Promise<QueueStats>;
interface StoreFacts {
  /** Free bytes on the disk of the store; undefined on Postgres. */
  freeBytes: number | undefined;
  /** Latest time of the next nightly backup, milliseconds since the epoch; undefined if there are none. */
  backupDue: number | undefined;
}
type MeasureStore = () => Promise<StoreFacts>;

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
/** Time-out for counting jobs, because Prometheus gives up a scrape after ten seconds. */
const COUNT_MS = 5_000;
const LAG_SECONDS = [1, 5, 15, 60, 300, 900, 3600, 10_800, 43_200];

/** Metrics that an operator would alert on, named by Prometheus' convention. */
export function createMetrics(
  version: string,
  countJobs: CountJobs,
  clock: Clock = systemClock,
  measureStore: MeasureStore = async () => ({ freeBytes: undefined, backupDue: undefined }),
) {
  const registry = new Registry();
  const ofProcess = processMetrics();
  const meters = createMeters(registry);
  beginAtZero(meters);
  const updateQueues = createQueueGauges(
    registry,
    () => withTimeout(clock, COUNT_MS, countJobs()),
    (queue) => {
      meters.jobs.inc({ queue, outcome: 'failed' }, 0);
      meters.unreadable.inc({ kind: 'job', of: queue }, 0);
    },
  );
  const { gauge } = createMakers(registry);
  const updateStore = createStoreGauges(registry, measureStore);
  const followed = createFollowedGauges(registry, clock);
  gauge('deckhand_build_info', 'Deckhand’s version, and the version of Node.', 'version', 'node').set(
    { version, node: process.version },
    1,
  );
  return {
    ack: (ms: number) => meters.ack.observe(ms / 1000),
    /** Counts a refused request. */
    refused: (reason: string) => meters.refused.inc({ reason }),
    /** Counts a person's command, button, menu, shortcut or form at its end. */
    command(command: string, by: string, outcome: 'done' | 'refused' | 'failed'): void {
      meters.commands.inc({ command, by, outcome: 'failed' }, 0);
      meters.commands.inc({ command, by, outcome });
    },
    slackCall: (method: string, outcome: string, ms: number) =>
      meters.slack.observe({ method, outcome }, ms / 1000),
    serviceCall: ({ operation, kind, ms }: { operation: string; kind: string; ms: number }) =>
      meters.service.observe({ operation, outcome: kind }, ms / 1000),
    tokenRefused: (variable: string, isRefused: boolean) =>
      meters.tokens.set({ variable }, isRefused ? 1 : 0),
    /** Sets whether a connection of Socket Mode is open. */
    socket: (isOpen: boolean) => meters.connected.set({ by: 'socket' }, isOpen ? 1 : 0),
    follow: followed.begin,
    /** Counts a key of the service that worked, and that the service now refuses. */
    keyRefused: () => meters.keys.inc(),
    /** Sets whether the process before this one ended without a shutdown. */
    previousEnd: (isUnclean: boolean) => meters.unclean.set(isUnclean ? 1 : 0),
    job: (queue: string, outcome: string): void => {
      meters.jobs.inc({ queue, outcome });
      if (outcome === 'unreadable') meters.unreadable.inc({ kind: 'job', of: queue });
    },
    /** Counts an unreadable document or job; `of` is its collection or queue. */
    unreadable: (kind: 'document' | 'job', of: string) => meters.unreadable.inc({ kind, of }),
    /** Counts something that is repeated although it may have been done before. */
    possibleDuplicate: (what: PossiblyTwice) => meters.possibleDuplicates.inc({ what }),
    /** Creates the series of these kinds of schedules, for the same reason as `beginAtZero`. */
    beginKinds: (kinds: readonly string[]): void => {
      for (const kind of kinds)
        for (const outcome of ['failed', 'missed']) meters.slots.inc({ kind, outcome }, 0);
    },
    /** Counts an occurrence of a schedule; `lateMs` is how late it was handled, if it has a time. */
    occurrence: (kind: string, outcome: string, lateMs?: number): void => {
      meters.slots.inc({ kind, outcome });
      if (lateMs !== undefined) meters.lag.observe({ kind }, Math.max(0, lateMs) / 1000);
    },
    /** Counts a call of the service about a deployment, or a deployment without one. */
    push: (outcome: 'came' | 'missing') => meters.pushes.inc({ outcome }),
    contentType: registry.contentType,
    /** Returns Prometheus' text format, even if the store does not answer. */
    async text(): Promise<string> {
      followed.update();
      await Promise.all([updateQueues(), updateStore()]);
      return Registry.merge([ofProcess, registry]).metrics();
    },
  };
}

/** Interval of looks at the event loop. Each wakes the process, so 10 ms would cost an idle one more than all else. */
const LOOP_PRECISION_MS = 100;

let processRegistry: Registry | undefined;

/** Metrics of memory, event loop and garbage collection, registered once even if the process opens Deckhand several times. */
function processMetrics(): Registry {
  if (processRegistry === undefined) {
    processRegistry = new Registry();
    collectDefaultMetrics({ register: processRegistry, eventLoopMonitoringPrecision: LOOP_PRECISION_MS });
  }
  return processRegistry;
}

function createMeters(registry: Registry) {
  const { counter, gauge, histogram } = createMakers(registry);
  return {
    ack: histogram('deckhand_ack_duration_seconds', 'From Slack’s request to its acknowledgement.', SECONDS),
    refused: counter(
      'deckhand_requests_refused_total',
      'Requests to the Slack endpoint that were not accepted, by reason.',
      'reason',
    ),
    commands: counter(
      'deckhand_commands_total',
      'Commands by name, by how they were started (command, action, shortcut, form, tool) and by outcome.',
      'command',
      'by',
      'outcome',
    ),
    slack: histogram(
      'deckhand_slack_call_duration_seconds',
      'Calls of Slack’s Web API by method and outcome.',
      SECONDS,
      'method',
      'outcome',
    ),
    service: histogram(
      'deckhand_service_call_duration_seconds',
      'Calls of the deployment service by operation and outcome.',
      SECONDS,
      'operation',
      'outcome',
    ),
    tokens: gauge(
      'deckhand_slack_token_refused',
      'Is 1 if Slack refuses a token of the environment, by its variable.',
      'variable',
    ),
    connected: gauge('deckhand_slack_connected', 'Is 1 while a connection of Socket Mode is open.', 'by'),
    jobs: counter('deckhand_jobs_total', 'Attempts at jobs by queue and outcome.', 'queue', 'outcome'),
    unreadable: counter(
      'deckhand_unreadable_total',
      'Documents and jobs that cannot be read, by their collection or queue.',
      'kind',
      'of',
    ),
    possibleDuplicates: counter(
      'deckhand_possible_duplicates_total',
      'Posts, runs and orders that may have been made twice because an answer was lost.',
      'what',
    ),
    slots: counter('deckhand_slots_total', 'Occurrences of schedules by outcome.', 'kind', 'outcome'),
    keys: counter('deckhand_keys_refused_total', 'Keys that worked, and that the service then refused.'),
    unclean: gauge(
      'deckhand_previous_end_unclean',
      'Is 1 if the process before this one ended without a shutdown: killed, out of memory, or without power.',
    ),
    pushes: counter('deckhand_pushes_total', 'Calls of the service that came, and missing ones.', 'outcome'),
    lag: histogram(
      'deckhand_slot_lag_seconds',
      'From when an occurrence of a schedule was due to when it was handled.',
      LAG_SECONDS,
      'kind',
    ),
  };
}

/** Creates the series that alerts read, because Prometheus sees no increase in a counter that first appears above 0. */
function beginAtZero({
  possibleDuplicates,
  pushes,
  refused,
  tokens,
  unclean,
  unreadable,
}: ReturnType<typeof createMeters>): void {
  for (const variable of ['SLACK_BOT_TOKEN', 'SLACK_APP_TOKEN']) tokens.set({ variable }, 0);
  // Unknown until the store has answered.
  unclean.set(Number.NaN);
  for (const of of COLLECTIONS) unreadable.inc({ kind: 'document', of }, 0);
  for (const reason of REFUSALS) refused.inc({ reason }, 0);
  pushes.inc({ outcome: 'missing' }, 0);
  for (const what of ['post', 'run', 'order']) possibleDuplicates.inc({ what }, 0);
}

function createMakers(registry: Registry) {
  const registers = [registry];
  return {
    counter: <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
      new Counter({ name, help, labelNames, registers }),
    gauge: <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
      new Gauge({ name, help, labelNames, registers }),
    histogram: <Label extends string>(
      name: string,
      help: string,
      buckets: number[],
      ...labelNames: Label[]
    ) => new Histogram({ name, help, buckets, labelNames, registers }),
  };
}

/** Creates gauges that are counted when the metrics are read; all others are reported even if that fails. */
function createQueueGauges(
  registry: Registry,
  /** Returns undefined if the database takes too long. */
  countJobs: () => Promise<QueueStats | undefined>,
  onQueue: (queue: string) => void,
): () => Promise<void> {
  const { gauge } = createMakers(registry);
  const jobs = gauge('deckhand_queue_jobs', 'Jobs by queue and state.', 'queue', 'state');
  const oldest = gauge(
    'deckhand_queue_oldest_due_seconds',
    'How long the oldest due job of a queue has waited.',
    'queue',
  );
  const up = gauge('deckhand_engine_up', 'Whether the store could be read and written for this scrape.');
  return async () => {
    const counted = await countJobs().catch(() => undefined);
    oldest.reset();
    jobs.reset();
    up.set(counted === undefined ? 0 : 1);
    for (const [queue, { waiting, later, running, oldestDueMs }] of Object.entries(counted ?? {})) {
      onQueue(queue);
      oldest.set({ queue }, oldestDueMs / 1000);
      jobs.set({ queue, state: 'waiting' }, waiting);
      jobs.set({ queue, state: 'later' }, later);
      jobs.set({ queue, state: 'running' }, running);
    }
  };
}

function createFollowedGauges(registry: Registry, { now }: Pick<Clock, 'now'>) {
  const { gauge } = createMakers(registry);
  const followed = gauge('deckhand_followed_runs', 'Test runs and provisioning servers being followed.');
  const overdue = gauge(
    'deckhand_followed_overdue_seconds',
    'How long the first followed run or server is past the time at which following should end.',
  );
  const followings = new Set<{ deadline: number }>();
  return {
    /**
     * Counts a followed run or server.
     * @param deadline time at which following should end, milliseconds since the epoch
     * @returns a function to call at the end
     */
    begin(deadline: number): () => void {
      const following = { deadline };
      followings.add(following);
      return () => void followings.delete(following);
    },
    update(): void {
      const first = Math.min(...Array.from(followings, ({ deadline }) => deadline));
      followed.set(followings.size);
      overdue.set(Math.max(0, now() - first) / 1000);
    },
  };
}

/** Creates gauges of the store itself, which have no value if there is nothing to measure. */
function createStoreGauges(registry: Registry, measure: MeasureStore): () => Promise<void> {
  const { gauge } = createMakers(registry);
  const disk = gauge('deckhand_disk_free_bytes', 'Free bytes on the disk of the SQLite file.');
  const backup = gauge(
    'deckhand_backup_due_timestamp_seconds',
    'Latest time of the next nightly backup of the SQLite file, in seconds since the epoch.',
  );
  return async () => {
    const { freeBytes, backupDue } = await measure().catch(() => NOT_MEASURED);
    disk.set(freeBytes ?? Number.NaN);
    backup.set(backupDue === undefined ? Number.NaN : backupDue / 1000);
  };
}

const NOT_MEASURED: StoreFacts = { freeBytes: undefined, backupDue: undefined };

/** A message in Slack, a test run, or an order of a server. */
type PossiblyTwice = 'post' | 'run' | 'order';

/** Counts and logs what may have been done twice, because an answer was lost or the process died before storing it. */
export function countPossibleDuplicate(
  { log, metrics }: { log: Logger; metrics: Metrics },
  what: PossiblyTwice,
  fields: Readonly<Record<string, unknown>>,
): void {
  metrics.possibleDuplicate(what);
  log.warn({ event: 'possible_duplicate', kind: what, ...fields }, 'Possible duplicate sent');
}
