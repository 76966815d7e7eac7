import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Engine } from './engine/engine.ts';

export interface Metrics {
  ack(ms: number): void;
  command(name: string, outcome: 'done' | 'refused' | 'failed'): void;
  slackCall(method: string, outcome: string, ms: number): void;
  serviceCall(operation: string, outcome: string, ms: number): void;
  followed(change: 1 | -1): void;
  /** A post is sent again although Slack may have it already. */
  uncertainDelivery(): void;
  /** A slot of a schedule was dealt with. */
  slot(kind: string, outcome: string): void;
  /** Prometheus' text format. */
  text(): Promise<string>;
}

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

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
  const commands = new Counter({
    name: 'deckhand_commands_total',
    help: 'Commands by name and outcome.',
    labelNames: ['command', 'outcome'],
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
  const uncertain = new Counter({
    name: 'deckhand_delivery_uncertain_total',
    help: 'Posts sent again although Slack may have them already: the only way to a doubled one.',
    registers,
  });
  const slots = new Counter({
    name: 'deckhand_slots_total',
    help: 'Slots of schedules by kind and what became of them.',
    labelNames: ['kind', 'outcome'],
    registers,
  });
  new Gauge({ name: 'deckhand_build_info', help: 'The version.', labelNames: ['version'], registers }).set(
    { version },
    1,
  );
  collectQueues(registry, stats);

  return {
    ack: (ms) => ack.observe(ms / 1000),
    command: (command, outcome) => commands.inc({ command, outcome }),
    slackCall: (method, outcome, ms) => slack.observe({ method, outcome }, ms / 1000),
    serviceCall: (operation, outcome, ms) => service.observe({ operation, outcome }, ms / 1000),
    followed: (change) => followed.inc(change),
    uncertainDelivery: () => uncertain.inc(),
    slot: (kind, outcome) => slots.inc({ kind, outcome }),
    text: () => registry.metrics(),
  };
}

function collectQueues(registry: Registry, stats: () => ReturnType<Engine['stats']>): void {
  const registers = [registry];
  const jobs = new Gauge({
    name: 'deckhand_queue_jobs',
    help: 'Jobs by queue and state.',
    labelNames: ['queue', 'state'],
    registers,
  });
  new Gauge({
    name: 'deckhand_queue_oldest_due_seconds',
    help: 'How long the oldest due job of a queue has been waiting.',
    labelNames: ['queue'],
    registers,
    async collect() {
      this.reset();
      jobs.reset();
      const { queues } = await stats();
      for (const [queue, { waiting, running, oldestDueMs }] of Object.entries(queues)) {
        this.set({ queue }, oldestDueMs / 1000);
        jobs.set({ queue, state: 'waiting' }, waiting);
        jobs.set({ queue, state: 'running' }, running);
      }
    },
  });
}
