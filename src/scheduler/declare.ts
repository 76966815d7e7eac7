import type { Deckhand } from '../deckhand.ts';
import { buryDigest, runDigest } from './digest.ts';
import { DIGEST, DIGESTS } from './digest-schedule.ts';
import { INVOICE_NOTICES, INVOICE_OUTBOX, INVOICE_ROUNDS } from './invoice-notices.ts';
import { declareOutbox } from './outbox.ts';
import { declareRounds } from './rounds.ts';
import { type ScheduleKind, SETTLE_ACCOUNTS, settleAccounts } from './settle.ts';
import { WATCHES } from './watch-kind.ts';
import { WATCH_ROUNDS } from './watch-look.ts';
import { WATCH_OUTBOX } from './watch-outbox.ts';

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
    onDead: (data) => buryDigest(deckhand, data),
  });
  deckhand.engine.work(SETTLE_ACCOUNTS, (job) => settleAccounts(deckhand, KINDS, job), {
    concurrency: 10,
    attempts: 10,
    backoffMs: 1_000,
  });
  declareRounds(deckhand, WATCH_ROUNDS);
  declareOutbox(deckhand, WATCH_OUTBOX);
  declareRounds(deckhand, INVOICE_ROUNDS);
  declareOutbox(deckhand, INVOICE_OUTBOX);
}
