import { z } from 'zod';
import type { Deckhand } from '../../deckhand.ts';
import type { Job, JobData } from '../../jobs/jobs.ts';
import { isSlackFailure } from '../../slack/failure.ts';
import type { Batch } from '../../workspace/outbox-batch.ts';
import { deliver, isUndeliverable, undeliverableReason } from '../deliver.ts';

/** Records whose batches are to be posted: each batch stands with its place until it is. */
export interface Outbox {
  queue: string;
  /** Undefined where the record is gone; a paused one keeps its batches. */
  read(
    deckhand: Deckhand,
    workspace: string,
    id: string,
  ): Promise<{ channel: string; pending: readonly Batch[]; isPaused: boolean } | undefined>;
  /** Takes a batch off. @param failed why it was not posted; undefined where it was */
  take(
    deckhand: Deckhand,
    workspace: string,
    id: string,
    batch: Batch,
    failed: string | undefined,
  ): Promise<void>;
  /** Pauses all that the batch was for, and tells whoever set it up, once; also where that was begun before. */
  pause(deckhand: Deckhand, what: Undeliverable): Promise<void>;
}

export interface Undeliverable {
  workspace: string;
  id: string;
  batch: Batch;
  /** Undefined where the channel was paused before. */
  reason: string | undefined;
  signal: AbortSignal;
}

const BatchJob = z.object({ workspace: z.string(), id: z.string(), batch: z.string() });

/** As long as a delivery is remembered, less a day: an older batch might be posted twice. */
const OLDEST_MS = 6 * 24 * 3_600_000;

/** Declares the worker; before the engine starts. */
export function declareOutbox(deckhand: Deckhand, outbox: Outbox): void {
  deckhand.engine.work(outbox.queue, (job) => postBatch(deckhand, outbox, job), {
    concurrency: 200,
    attempts: 10,
    backoffMs: 5_000,
  });
}

/** Sees to it that what is pending is posted. Safe to repeat: a batch that was posted is not pending any more. */
export async function postPending(
  { engine }: Deckhand,
  { queue }: Outbox,
  workspace: string,
  id: string,
  pending: readonly Batch[],
): Promise<void> {
  for (const batch of pending)
    await engine.send(queue, { workspace, id, batch: batch.id }, { key: batch.id });
}

async function postBatch(deckhand: Deckhand, outbox: Outbox, job: Job<JobData>): Promise<void> {
  const { workspace, id, batch: batchId } = BatchJob.parse(job.data);
  const { signal } = job;
  const found = await outbox.read(deckhand, workspace, id);
  const batch = found?.pending.find((pending) => pending.id === batchId);
  if (found === undefined || batch === undefined) return;
  if (found.isPaused) return outbox.pause(deckhand, { workspace, id, batch, reason: undefined, signal });
  if (deckhand.clock.now() - batch.at > OLDEST_MS)
    return outbox.take(deckhand, workspace, id, batch, 'it was too old by the time it could be posted');
  try {
    await post(deckhand, workspace, found.channel, batch, signal);
    await outbox.take(deckhand, workspace, id, batch, undefined);
  } catch (error) {
    if (isUndeliverable(error))
      return outbox.pause(deckhand, {
        workspace,
        id,
        batch,
        reason: undeliverableReason(error),
        signal,
      });
    if (!isSlackFailure(error, 'rejected')) throw error;
    // Slack will not take it at the next attempt either.
    const { method, reason } = error;
    deckhand.log.error({ event: 'notice_rejected', workspace, method, reason }, 'Slack rejected a notice');
    await outbox.take(deckhand, workspace, id, batch, 'Slack did not take it');
  }
}

async function post(
  deckhand: Deckhand,
  workspace: string,
  channel: string,
  { id, root, replies }: Batch,
  signal: AbortSignal,
): Promise<void> {
  const shown = await deliver(deckhand, { workspace, id, channel, message: root, signal });
  for (const [at, message] of replies.entries()) {
    // Somebody deleted the message before its thread was complete.
    if (shown.ts === '') return;
    await deliver(deckhand, {
      workspace,
      id: `${id} ${at}`,
      channel,
      threadTs: shown.ts,
      message,
      signal,
    });
  }
}
