import { z } from 'zod';
import type { Job, JobType } from '../../core/job.ts';
import { isSlackFailure } from '../../slack/failure.ts';
import { defineJob, type JobDefinition } from '../../workspace/define-job.ts';
import type { Batch } from '../../workspace/outbox-batch.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { deliver, isUndeliverable, undeliverableReason } from '../deliver.ts';

/** Records whose batches are to be posted: each batch stands with its place until it is. */
export interface Outbox {
  queue: string;
  /** Undefined where the record is gone; a paused one keeps its batches. */
  read(
    workspace: Workspace,
    id: string,
  ): Promise<{ channel: string; pending: readonly Batch[]; isPaused: boolean } | undefined>;
  /** Takes a batch off. @param failed why it was not posted; undefined where it was */
  take(workspace: Workspace, id: string, batch: Batch, failed: string | undefined): Promise<void>;
  /** Pauses all that the batch was for, and tells whoever set it up, once; also where that was begun before. */
  pause(workspace: Workspace, what: Undeliverable): Promise<void>;
}

export interface Undeliverable {
  id: string;
  batch: Batch;
  /** Undefined where the channel was paused before. */
  reason: string | undefined;
  signal: AbortSignal;
}

const BatchJob = z.object({ id: z.string(), batch: z.string() });
type BatchJob = z.infer<typeof BatchJob>;

/** As long as a delivery is remembered, less a day: an older batch might be posted twice. */
const OLDEST_MS = 6 * 24 * 3_600_000;

export function outboxJob(outbox: Outbox): JobDefinition<BatchJob> {
  return defineJob({
    ...jobOf(outbox),
    options: { concurrency: 200, attempts: 10, backoffMs: 5_000 },
    run: (workspace, job) => postBatch(workspace, outbox, job),
  });
}

function jobOf({ queue }: Outbox): JobType<BatchJob> {
  return { queue, schema: BatchJob };
}

/** Sees to it that what is pending is posted. Safe to repeat: a batch that was posted is not pending any more. */
export async function postPending(
  { jobs }: Workspace,
  outbox: Outbox,
  id: string,
  pending: readonly Batch[],
): Promise<void> {
  for (const batch of pending) await jobs.send(jobOf(outbox), { id, batch: batch.id }, { key: batch.id });
}

async function postBatch(workspace: Workspace, outbox: Outbox, job: Job<BatchJob>): Promise<void> {
  const { id, batch: batchId } = job.data;
  const { signal } = job;
  const found = await outbox.read(workspace, id);
  const batch = found?.pending.find((pending) => pending.id === batchId);
  if (found === undefined || batch === undefined) return;
  if (found.isPaused) return outbox.pause(workspace, { id, batch, reason: undefined, signal });
  if (workspace.clock.now() - batch.at > OLDEST_MS)
    return outbox.take(workspace, id, batch, 'it was too old by the time it could be posted');
  try {
    await post(workspace, found.channel, batch, signal);
    await outbox.take(workspace, id, batch, undefined);
  } catch (error) {
    if (isUndeliverable(error))
      return outbox.pause(workspace, {
        id,
        batch,
        reason: undeliverableReason(error),
        signal,
      });
    if (!isSlackFailure(error, 'rejected')) throw error;
    // Slack will not take it at the next attempt either.
    const { method, reason } = error;
    workspace.log.error({ event: 'notice_rejected', method, reason }, 'Slack rejected a notice');
    await outbox.take(workspace, id, batch, 'Slack did not take it');
  }
}

async function post(
  workspace: Workspace,
  channel: string,
  { id, root, replies }: Batch,
  signal: AbortSignal,
): Promise<void> {
  const shown = await deliver(workspace, { id, channel, message: root, signal });
  for (const [at, message] of replies.entries()) {
    // Somebody deleted the message before its thread was complete.
    if (shown.ts === '') return;
    await deliver(workspace, {
      id: `${id} ${at}`,
      channel,
      threadTs: shown.ts,
      message,
      signal,
    });
  }
}
