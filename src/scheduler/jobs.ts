import type { Deckhand } from '../deckhand.ts';
import { digestFailed, runDigest } from './digests/run-digest.ts';
import { DIGEST, DIGESTS } from './digests/schedule.ts';
import { INVOICE_NOTICES, INVOICE_OUTBOX, INVOICE_ROUNDS } from './invoices/notices.ts';
import { declareOutbox } from './schedules/outbox.ts';
import { declarePoller } from './schedules/poller.ts';
import {
  RECONCILE_SCHEDULES,
  reconcileSchedules,
  type ScheduleKind,
} from './schedules/reconcile-schedules.ts';
import { WATCH_OUTBOX } from './watches/outbox.ts';
import { WATCH_ROUNDS } from './watches/poll.ts';
import { WATCHES } from './watches/schedule.ts';

/** Every kind of schedule that pauses with its account. */
const KINDS: readonly ScheduleKind[] = [DIGESTS, WATCHES, INVOICE_NOTICES];

/** Declares the workers of all schedules; before the engine starts. */
export function declareSchedules(deckhand: Deckhand): void {
  const startedAt = deckhand.clock.now();
  // Some eight hours of attempts, while a slot is worth posting.
  deckhand.engine.work(DIGEST, (job) => runDigest(deckhand, job, startedAt), {
    concurrency: 50,
    attempts: 16,
    backoffMs: 15_000,
    onDeadLetter: (data) => digestFailed(deckhand, data),
  });
  deckhand.engine.work(RECONCILE_SCHEDULES, (job) => reconcileSchedules(deckhand, KINDS, job), {
    concurrency: 10,
    attempts: 10,
    backoffMs: 1_000,
  });
  declarePoller(deckhand, WATCH_ROUNDS);
  declareOutbox(deckhand, WATCH_OUTBOX);
  declarePoller(deckhand, INVOICE_ROUNDS);
  declareOutbox(deckhand, INVOICE_OUTBOX);
}
