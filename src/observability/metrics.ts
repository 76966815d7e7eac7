import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Engine, JobOutcome } from '../jobs/jobs.ts';

export interface Metrics {
  ack(ms: number): void;
  /** A request to the Slack endpoint was not taken. */
  refused(reason: string): void;
  /** What a person asked for by typing, a button, a menu of Slack or a form has ended. */
  command(name: string, by: string, outcome: 'done' | 'refused' | 'failed'): void;
  slackCall(method: string, outcome: string, ms: number): void;
  serviceCall(operation: string, outcome: string, ms: number): void;
  followed(change: 1 | -1): void;
  job(queue: string, outcome: JobOutcome): void;
  /** A post is sent again although Slack may have it already. */
  uncertainDelivery(): void;
  /** A reply is not sent again because Slack may have it already. */
  uncertainReply(): void;
  /** A slot of a schedule was dealt with; so many milliseconds after it fell due, where it has a time. */
  slot(kind: string, outcome: string, lateMs?: number): void;
  readonly contentType: string;
  /** Prometheus' text format, whether the store answers or not. */
  text(): Promise<string>;
}

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const LAG_SECONDS = [1, 5, 15, 60, 300, 900, 3600, 10_800, 43_200];

/** Counters and histograms that an operator would alert on, named by Prometheus' convention. */
export function createMetrics(version: string, stats: () => ReturnType<Engine['stats']>): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const ack = new Histogram({
    name: 'deckhand_ack_duration_seconds',
    help: 'From a request of Slack to its acknowledgement.',
    buckets: SECONDS,
    registers,
  });
  const refused = new Counter({
    name: 'deckhand_requests_refused_total',
    help: 'Requests to the Slack endpoint that were not taken, by reason.',
    labelNames: ['reason'],
    registers,
  });
  const commands = new Counter({
    name: 'deckhand_commands_total',
    help: 'Commands by name, by how they were asked for (command, action, shortcut, form) and by outcome.',
    labelNames: ['command', 'by', 'outcome'],
    registers,
  });
  const slack = new Histogram({
    name: 'deckhand_slack_call_duration_seconds',
    help: 'Calls of Slack’s Web API by method and outcome.',
    labelNames: ['method', 'outcome'],
    buckets: SECONDS,
    registers,
  });
  const service = new Histogram({
    name: 'deckhand_service_call_duration_seconds',
    help: 'Calls of the deployment service by operation and outcome.',
    labelNames: ['operation', 'outcome'],
    buckets: SECONDS,
    registers,
  });
  const followed = new Gauge({
    name: 'deckhand_followed_runs',
    help: 'Test runs and provisioning servers being followed.',
    registers,
  });
  const jobs = new Counter({
    name: 'deckhand_jobs_total',
    help: 'Attempts at jobs by queue and how they ended.',
    labelNames: ['queue', 'outcome'],
    registers,
  });
  const uncertain = new Counter({
    name: 'deckhand_delivery_uncertain_total',
    help: 'Posts sent again although Slack may have them already: the only way to a doubled one.',
    registers,
  });
  const withheld = new Counter({
    name: 'deckhand_reply_uncertain_total',
    help: 'Thread replies not sent again because Slack may have them already: the only way to a lost one.',
    registers,
  });
  const slots = new Counter({
    name: 'deckhand_slots_total',
    help: 'Slots of schedules by kind and what became of them.',
    labelNames: ['kind', 'outcome'],
    registers,
  });
  const lag = new Histogram({
    name: 'deckhand_slot_lag_seconds',
    help: 'From when a slot of a schedule fell due to when it was dealt with.',
    labelNames: ['kind'],
    buckets: LAG_SECONDS,
    registers,
  });
  new Gauge({
    name: 'deckhand_build_info',
    help: 'The version, and the Node that runs it.',
    labelNames: ['version', 'node'],
    registers,
  }).set({ version, node: process.version }, 1);
  const lookAtQueues = gaugeQueues(registry, stats);

  return {
    ack: (ms) => ack.observe(ms / 1000),
    refused: (reason) => refused.inc({ reason }),
    command: (command, by, outcome) => commands.inc({ command, by, outcome }),
    slackCall: (method, outcome, ms) => slack.observe({ method, outcome }, ms / 1000),
    serviceCall: (operation, outcome, ms) => service.observe({ operation, outcome }, ms / 1000),
    followed: (change) => followed.inc(change),
    job: (queue, outcome) => jobs.inc({ queue, outcome }),
    uncertainDelivery: () => uncertain.inc(),
    uncertainReply: () => withheld.inc(),
    slot: (kind, outcome, lateMs) => {
      slots.inc({ kind, outcome });
      if (lateMs !== undefined) lag.observe({ kind }, Math.max(0, lateMs) / 1000);
    },
    contentType: registry.contentType,
    async text() {
      await lookAtQueues();
      return registry.metrics();
    },
  };
}

/** What is asked of the engine when the metrics are read; all else must be told even if it does not answer. */
function gaugeQueues(registry: Registry, stats: () => ReturnType<Engine['stats']>): () => Promise<void> {
  const registers = [registry];
  const jobs = new Gauge({
    name: 'deckhand_queue_jobs',
    help: 'Jobs by queue and state.',
    labelNames: ['queue', 'state'],
    registers,
  });
  const oldest = new Gauge({
    name: 'deckhand_queue_oldest_due_seconds',
    help: 'How long the oldest due job of a queue has been waiting.',
    labelNames: ['queue'],
    registers,
  });
  const up = new Gauge({
    name: 'deckhand_engine_up',
    help: 'Whether the engine could count its jobs just now.',
    registers,
  });
  return async () => {
    const counted = await stats().catch(() => undefined);
    oldest.reset();
    jobs.reset();
    up.set(counted === undefined ? 0 : 1);
    for (const [queue, { waiting, running, oldestDueMs }] of Object.entries(counted?.queues ?? {})) {
      oldest.set({ queue }, oldestDueMs / 1000);
      jobs.set({ queue, state: 'waiting' }, waiting);
      jobs.set({ queue, state: 'running' }, running);
    }
  };
}
