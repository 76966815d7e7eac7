import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { type Clock, systemClock, withTimeout } from '../core/clock.ts';
import type { Logger } from './log.ts';

export type Metrics = ReturnType<typeof createMetrics>;

/** The jobs of each queue; `oldestDueMs` is how long the oldest due job has waited. */
type QueueStats = Readonly<Record<string, { waiting: number; running: number; oldestDueMs: number }>>;
type CountJobs = () => Promise<{ queues: QueueStats }>;
/** Undefined where the database took too long. */
type CountInTime = () => Promise<{ queues: QueueStats } | undefined>;

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
/** A scrape is given up after ten seconds, and then tells nothing. */
const COUNT_MS = 5_000;
const LAG_SECONDS = [1, 5, 15, 60, 300, 900, 3600, 10_800, 43_200];

/** Counters and histograms that an operator would alert on, named by Prometheus' convention. */
export function createMetrics(version: string, countJobs: CountJobs, clock: Clock = systemClock) {
  const registry = new Registry();
  const ofProcess = processMetrics();
  const meters = createMeters(registry);
  beginAtZero(meters);
  const updateQueues = createQueueGauges(
    registry,
    () => withTimeout(clock, COUNT_MS, countJobs()),
    (queue) => meters.jobs.inc({ queue, outcome: 'dead' }, 0),
  );
  const { gauge } = makersFor(registry);
  gauge('deckhand_build_info', 'Deckhand’s version, and the version of Node.', 'version', 'node').set(
    { version, node: process.version },
    1,
  );
  return {
    ack: (ms: number) => meters.ack.observe(ms / 1000),
    /** A request to the Slack endpoint was not accepted. */
    refused: (reason: string) => meters.refused.inc({ reason }),
    /** A command, button, menu, shortcut or form of a person has ended. */
    command: (command: string, by: string, outcome: 'done' | 'refused' | 'failed') =>
      meters.commands.inc({ command, by, outcome }),
    slackCall: (method: string, outcome: string, ms: number) =>
      meters.slack.observe({ method, outcome }, ms / 1000),
    serviceCall: ({ operation, kind, ms }: { operation: string; kind: string; ms: number }) =>
      meters.service.observe({ operation, outcome: kind }, ms / 1000),
    followed: (change: 1 | -1) => meters.followed.inc(change),
    job: (queue: string, outcome: string): void => {
      meters.jobs.inc({ queue, outcome });
      if (outcome === 'set_aside') meters.quarantined.inc({ kind: 'job', of: queue });
    },
    /** A document or job cannot be read; `of` is its collection or queue. */
    quarantined: (kind: 'document' | 'job', of: string) => meters.quarantined.inc({ kind, of }),
    /** A post is sent again although Slack may have it already. */
    uncertainDelivery: () => meters.repeated.inc(),
    /** A reply is not sent again because Slack may have it already. */
    uncertainReply: () => meters.withheld.inc(),
    /** A request to the service whose answer was lost may have been carried out. */
    uncertainRequest: (operation: string) => meters.unanswered.inc({ operation }),
    /** An occurrence of a schedule was handled; `lateMs` after it was due, where it has a time. */
    slot: (kind: string, outcome: string, lateMs?: number): void => {
      meters.slots.inc({ kind, outcome });
      if (lateMs !== undefined) meters.lag.observe({ kind }, Math.max(0, lateMs) / 1000);
    },
    contentType: registry.contentType,
    /** Prometheus' text format, whether the store answers or not. */
    async text(): Promise<string> {
      await updateQueues();
      return Registry.merge([ofProcess, registry]).metrics();
    },
  };
}

let observed: Registry | undefined;

/** Memory, event loop and garbage collection are the process' own, however often it opens Deckhand; they are observed once. */
function processMetrics(): Registry {
  if (observed === undefined) {
    observed = new Registry();
    collectDefaultMetrics({ register: observed });
  }
  return observed;
}

function createMeters(registry: Registry) {
  const { counter, gauge, histogram } = makersFor(registry);
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
    followed: gauge('deckhand_followed_runs', 'Test runs and provisioning servers being followed.'),
    jobs: counter('deckhand_jobs_total', 'Attempts at jobs by queue and outcome.', 'queue', 'outcome'),
    quarantined: counter(
      'deckhand_quarantined_total',
      'Documents, jobs and schedules that cannot be read, by their collection or queue.',
      'kind',
      'of',
    ),
    ...createUncertainMeters(registry),
    slots: counter(
      'deckhand_slots_total',
      'Occurrences of schedules by kind and outcome.',
      'kind',
      'outcome',
    ),
    lag: histogram(
      'deckhand_slot_lag_seconds',
      'From when an occurrence of a schedule was due to when it was handled.',
      LAG_SECONDS,
      'kind',
    ),
  };
}

/** Of a counter that is first seen above 0, Prometheus takes no increase: what alerts look for is there before it happens. */
function beginAtZero({ slots, unanswered }: ReturnType<typeof createMeters>): void {
  for (const kind of ['digest', 'watch', 'invoices'])
    for (const outcome of ['failed', 'missed']) slots.inc({ kind, outcome }, 0);
  for (const operation of ['startTestAccess', 'createServer']) unanswered.inc({ operation }, 0);
}

/** What may have happened twice, or not at all. */
function createUncertainMeters(registry: Registry) {
  const { counter } = makersFor(registry);
  return {
    repeated: counter(
      'deckhand_delivery_uncertain_total',
      'Posts sent again although Slack may have them already. Only these can appear twice.',
    ),
    withheld: counter(
      'deckhand_reply_uncertain_total',
      'Thread replies not sent again because Slack may have them already. Only these can be missing.',
    ),
    unanswered: counter(
      'deckhand_request_uncertain_total',
      'Requests to the service that may have been carried out without an answer, by operation. Only these can be carried out twice.',
      'operation',
    ),
  };
}

function makersFor(registry: Registry) {
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

/** Gauges that are counted when the metrics are read; all others are reported even if the count fails. */
function createQueueGauges(
  registry: Registry,
  countJobs: CountInTime,
  onQueue: (queue: string) => void,
): () => Promise<void> {
  const { gauge } = makersFor(registry);
  const jobs = gauge('deckhand_queue_jobs', 'Jobs by queue and state.', 'queue', 'state');
  const oldest = gauge(
    'deckhand_queue_oldest_due_seconds',
    'How long the oldest due job of a queue has waited.',
    'queue',
  );
  const up = gauge('deckhand_engine_up', 'Whether the jobs could be counted for this scrape.');
  return async () => {
    const counted = await countJobs().catch(() => undefined);
    oldest.reset();
    jobs.reset();
    up.set(counted === undefined ? 0 : 1);
    for (const [queue, { waiting, running, oldestDueMs }] of Object.entries(counted?.queues ?? {})) {
      onQueue(queue);
      oldest.set({ queue }, oldestDueMs / 1000);
      jobs.set({ queue, state: 'waiting' }, waiting);
      jobs.set({ queue, state: 'running' }, running);
    }
  };
}

interface UncertainDelivery {
  channel?: string | undefined;
  /** The delivery's id, the post's `client_msg_id`, or Slack's id of the request. */
  delivery: string | undefined;
}

interface Counting {
  log: Logger;
  metrics: Metrics;
}

/** A post is sent again although Slack may have it. Only this can double a post, so each is logged and counted. */
export function countRepeated({ log, metrics }: Counting, delivery: UncertainDelivery): void {
  metrics.uncertainDelivery();
  log.warn({ event: 'delivery_uncertain', ...delivery }, 'a post is sent again although Slack may have it');
}

/** A reply is not sent again because Slack may have it. Only this can lose a reply, so each is logged and counted. */
export function countWithheld({ log, metrics }: Counting, delivery: UncertainDelivery): void {
  metrics.uncertainReply();
  log.warn({ event: 'reply_uncertain', ...delivery }, 'a reply is not sent again because Slack may have it');
}

/** The service may have carried out a request whose answer was lost. Only this can start a run twice, so each is logged and counted. */
export function countUnanswered(
  { log, metrics }: Counting,
  request: { operation: string; [field: string]: unknown },
): void {
  metrics.uncertainRequest(request.operation);
  log.warn({ event: 'request_uncertain', ...request }, 'the answer to a request was lost');
}
