import { z } from 'zod';
import { isDirect } from '../../core/direct.ts';
import type { Message } from '../../core/message.ts';
import type { Job, JobType } from '../../jobs/jobs.ts';
import { subjectKey } from '../../records/episodes.ts';
import { type Batch, feedChannelId, type LastResult, type Schedule } from '../../records/schedules.ts';
import { isSlackFailure, isTooLong } from '../../slack/failure.ts';
import type { Collection, WorkspaceStore } from '../../store/store.ts';
import { defineJob, type JobDefinition } from '../../workspace/define-job.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { type Delivery, deliver, isUndeliverable, sendReply, undeliverableReason } from '../deliver.ts';
import { noteOutcomes } from '../episodes/episodes.ts';
import type { ScheduleKind } from './lifecycle.ts';
import { pauseIfExcluded, pauseWhere } from './notify-owner.ts';

/** What a channel is sent of one account, and what is still to be posted. */
export interface FeedChannel {
  channel: string;
  account: string;
  /** Oldest first. */
  pending: Batch[];
}

/** Records whose batches are posted by jobs: each batch stays pending until it is posted. */
export interface Outbox<Doc extends FeedChannel> {
  queue: string;
  /** As the metric names it. */
  metric: string;
  /** By `feedChannelId`. */
  collection(store: WorkspaceStore): Collection<Doc>;
  /** False where everything in the channel is paused: it keeps its batches. */
  isActive(doc: Doc): boolean;
  withResult(doc: Doc, batch: Batch, last: LastResult): Doc;
}

const BatchJob = z.object({ id: z.string(), batch: z.string() });
type BatchJob = z.infer<typeof BatchJob>;

export function outboxJob<Doc extends FeedChannel>(
  outbox: Outbox<Doc>,
  kind: ScheduleKind,
): JobDefinition<BatchJob> {
  return defineJob({
    ...jobOf(outbox),
    options: { concurrency: 200, attempts: 10, backoffMs: 5_000 },
    run: (workspace, job) => postBatch(workspace, outbox, kind, job),
  });
}

function jobOf({ queue }: { queue: string }): JobType<BatchJob> {
  return { queue, schema: BatchJob };
}

/** Has what is pending posted. Safe to repeat: a batch that was posted is not pending any more. */
export async function postPending<Doc extends FeedChannel>(
  { jobs }: Pick<Workspace, 'jobs'>,
  outbox: Outbox<Doc>,
  doc: Doc | undefined,
): Promise<void> {
  if (doc === undefined) return;
  const id = feedChannelId(doc);
  for (const batch of doc.pending) await jobs.send(jobOf(outbox), { id, batch: batch.id }, { key: batch.id });
}

async function postBatch<Doc extends FeedChannel>(
  workspace: Workspace,
  outbox: Outbox<Doc>,
  kind: ScheduleKind,
  { data: { id, batch: batchId }, signal, attempt }: Job<BatchJob>,
): Promise<void> {
  const doc = await outbox.collection(workspace.store).get(id);
  const batch = doc?.pending.find((pending) => pending.id === batchId);
  if (doc === undefined || batch === undefined) return;
  if (!outbox.isActive(doc)) return;
  const isMeant = (schedule: Schedule): boolean => feedChannelId(schedule) === id;
  if (isDirect(doc.channel) && (await pauseIfExcluded(workspace, kind, isMeant))) return;
  try {
    const sending = { signal, possibleDuplicate: attempt > 1 };
    if (batch.root !== undefined)
      await postMessages(workspace, doc.channel, { ...batch, root: batch.root }, sending);
    if (batch.episode !== undefined)
      await noteUpTo(workspace, doc, { ...batch, episode: batch.episode }, sending);
    await take(workspace, outbox, id, batch, undefined);
  } catch (error) {
    if (isUndeliverable(error)) {
      await pauseWhere(workspace, kind, {
        concerns: (schedule) => feedChannelId(schedule) === id,
        why: { cause: 'slack', reason: undeliverableReason(error) },
        causeId: `undeliverable ${batch.id}`,
      });
      // It stays too long; what comes later may fit.
      if (isTooLong(error)) await take(workspace, outbox, id, batch, 'it was longer than Slack accepts');
      return;
    }
    if (!isSlackFailure(error, 'rejected')) throw error;
    // Slack will not take it at the next attempt either.
    const { method, reason } = error;
    workspace.log.error({ event: 'notice_rejected', method, reason }, 'Slack rejected a notice');
    await take(workspace, outbox, id, batch, 'Slack refused it');
  }
}

/** Takes a batch off. @param failed why it was not posted; undefined where it was */
async function take<Doc extends FeedChannel>(
  { store, clock, metrics }: Workspace,
  outbox: Outbox<Doc>,
  id: string,
  batch: Batch,
  failed: string | undefined,
): Promise<void> {
  const last = { at: clock.now(), said: failed === undefined ? batch.what : `${batch.what}, but ${failed}` };
  await outbox.collection(store).update(id, (current) => {
    if (current === undefined) return undefined;
    const pending = current.pending.filter((one) => one.id !== batch.id);
    return { ...outbox.withResult(current, batch, last), pending };
  });
  metrics.occurrence(outbox.metric, failed === undefined ? 'posted' : 'failed');
}

type Sending = Pick<Delivery, 'signal' | 'possibleDuplicate'>;

/** With what is pending of the same episode before it: the jobs of two batches may run in any order. */
async function noteUpTo(
  workspace: Workspace,
  { pending }: FeedChannel,
  batch: Batch & { episode: NonNullable<Batch['episode']> },
  sending: Sending,
): Promise<void> {
  const { subject } = batch.episode;
  const key = subjectKey(subject);
  const last = pending.findIndex(({ id }) => id === batch.id);
  const outcomes = pending
    .slice(0, last + 1)
    .flatMap(({ episode }) =>
      episode !== undefined && subjectKey(episode.subject) === key ? episode.outcomes : [],
    );
  await noteOutcomes(workspace, subject, outcomes, sending);
}

async function postMessages(
  workspace: Workspace,
  channel: string,
  { id, root, replies }: Batch & { root: Message },
  sending: Sending,
): Promise<void> {
  const posted = await deliver(workspace, { id, channel, message: root, ...sending });
  for (const [at, message] of replies.entries()) {
    // The message was deleted before its thread was complete.
    if (posted.ts === '') return;
    const reply = { id: `${id} ${at}`, channel, threadTs: posted.ts, message, ...sending };
    if (!(await sendReply(workspace, channel, () => deliver(workspace, reply)))) return;
  }
}
