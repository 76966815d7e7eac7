import { z } from 'zod';
import {
  type Delivery,
  deliver,
  isUndeliverable,
  postReplies,
  undeliverableReason,
} from '../../cards/deliver.ts';
import { isDirect } from '../../core/message.ts';
import { code } from '../../core/mrkdwn.ts';
import { MINUTE_MS } from '../../core/time/clock.ts';
import type { Job } from '../../jobs/jobs.ts';
import { subjectKey } from '../../records/episodes.ts';
import { isFailed } from '../../records/failure-rules.ts';
import type { Batch, FeedKind, FeedOf } from '../../records/feeds.ts';
import type { FeedPlace, Schedule, ScheduleOf } from '../../records/schedules.ts';
import { isSlackFailure, isTooLong } from '../../slack/failure.ts';
import { defineJob, type JobDefinition } from '../../workspace/define-job.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { noteOutcomes } from '../episodes/change-episodes.ts';
import { REVIEW_FAILURES } from '../episodes/queues.ts';
import { pauseActive, pauseIfExcluded } from './pause-schedule.ts';
import { postSuccesses } from './post-successes.ts';

/** Pause after the last attempt. */
const AGAIN_MS = 10 * MINUTE_MS;

type PendingFeed = FeedOf<FeedKind>;

/** Posts the batches of a source by jobs. A batch stays pending until it is posted. */
export interface Outbox {
  kind: FeedKind;
  postQueue: string;
}

export async function listFollowers<K extends FeedKind>(
  { schedules }: Pick<Workspace, 'schedules'>,
  kind: K,
  place: FeedPlace,
): Promise<ScheduleOf<K>[]> {
  const all = await schedules.list(kind);
  return all.filter(({ channel, account }) => channel === place.channel && account === place.account);
}

export const BatchJob = z.object({ channel: z.string(), account: z.string(), batch: z.string() });
type BatchJob = z.infer<typeof BatchJob>;

export function definePostJob(outbox: Outbox): JobDefinition<BatchJob> {
  return defineJob({
    queue: outbox.postQueue,
    schema: BatchJob,
    options: { concurrency: 200, attempts: 10, backoffMs: 5_000 },
    handle: (workspace, job) => postBatch(workspace, outbox, job),
    // It stays pending. Slack may take it later.
    onDeadLetter: ({ clock, jobs }, data) => sendBatch({ jobs }, outbox, data, clock.now() + AGAIN_MS),
  });
}

/** Sends jobs that post the pending batches. Safe to repeat: posted batches are no longer pending. */
export async function postPending(
  { jobs }: Pick<Workspace, 'jobs'>,
  outbox: Outbox,
  feed: PendingFeed | undefined,
): Promise<void> {
  if (feed === undefined) return;
  const { channel, account } = feed;
  for (const { id: batch } of feed.pending) await sendBatch({ jobs }, outbox, { channel, account, batch });
}

async function sendBatch(
  { jobs }: Pick<Workspace, 'jobs'>,
  { postQueue: queue }: Outbox,
  data: BatchJob,
  at?: number,
): Promise<void> {
  await jobs.send({ queue, schema: BatchJob }, data, {
    key: data.batch,
    ...(at === undefined ? {} : { at }),
  });
}

async function postBatch(
  workspace: Workspace,
  outbox: Outbox,
  { data: { batch: id, ...place }, signal, attempt }: Job<BatchJob>,
): Promise<void> {
  const feed = await workspace.feeds.get(outbox.kind, place);
  const batch = feed?.pending.find((pending) => pending.id === id);
  if (feed === undefined || batch === undefined) return;
  const isFollowed = await hasActive(workspace, outbox, place, batch);
  // A channel keeps its batches while all its schedules are paused.
  if (!isFollowed) return;
  if (isDirect(feed.channel)) {
    const followers = await listFollowers(workspace, outbox.kind, place);
    if (await pauseIfExcluded(workspace, followers)) return;
  }
  try {
    for (const posted of await postContent(workspace, feed, batch, { signal, attempt }))
      await takeOff(workspace, outbox, place, posted, undefined);
    await reviewEnded(workspace, batch);
  } catch (error) {
    if (isUndeliverable(error)) {
      const why = { cause: 'slack', reason: undeliverableReason(error) } as const;
      const followers = await listFollowers(workspace, outbox.kind, place);
      await pauseActive(workspace, followers, { why, causeId: `undeliverable ${batch.id}` });
      // It stays too long; later messages may fit.
      if (isTooLong(error))
        await takeOff(workspace, outbox, place, batch, 'it was longer than Slack accepts');
      return;
    }
    if (!isSlackFailure(error, 'rejected')) throw error;
    // Slack will reject it at the next attempt too.
    const { method, reason } = error;
    workspace.log.error({ event: 'notice_rejected', method, reason }, 'Slack rejected a notice');
    await takeOff(workspace, outbox, place, batch, 'Slack refused it');
  }
}

/** Returns the batches that Slack shows now. */
async function postContent(
  workspace: Workspace,
  feed: PendingFeed,
  batch: Batch,
  sending: Sending,
): Promise<Batch[]> {
  if (batch.successes !== undefined) return postSuccesses(workspace, feed, sending.signal);
  await postMessages(workspace, feed, batch, sending);
  if (batch.episode !== undefined)
    await noteUpTo(workspace, feed, { ...batch, episode: batch.episode }, sending);
  return [batch];
}

/** Mostly one of the schedules that the batch is for is active, and the others need not be read. */
async function hasActive(
  workspace: Workspace,
  { kind }: Outbox,
  place: FeedPlace,
  batch: Batch,
): Promise<boolean> {
  for (const id of batch.for)
    if ((await workspace.schedules.get(kind, id))?.state.kind === 'active') return true;
  const followers: readonly Schedule[] = await listFollowers(workspace, kind, place);
  return followers.some(({ state }) => state.kind === 'active');
}

/** Removes a batch. @param failed why it was not posted; undefined if it was */
async function takeOff(
  { feeds, schedules, clock, metrics }: Workspace,
  { kind }: Outbox,
  place: FeedPlace,
  batch: Batch,
  failed: string | undefined,
): Promise<void> {
  const last = { at: clock.now(), text: failed === undefined ? batch.what : `${batch.what}, but ${failed}` };
  for (const id of batch.for) await schedules.change({ kind, id }, (current) => ({ ...current, last }));
  await feeds.update(kind, place, (current) => {
    const pending = current?.pending.filter((one) => one.id !== batch.id) ?? [];
    return current && { ...current, pending };
  });
  metrics.occurrence(kind, failed === undefined ? 'posted' : 'failed');
}

type Sending = Pick<Delivery, 'signal' | 'attempt'>;

/** Includes earlier pending outcomes of the same episode, because the jobs of two batches may run in any order. */
async function noteUpTo(
  workspace: Workspace,
  { pending }: PendingFeed,
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
  const others = pending
    .flatMap(({ episode }) => episode ?? [])
    .filter((other) => subjectKey(other.subject) !== key);
  const bySubject = Map.groupBy(others, (other) => subjectKey(other.subject));
  const together = [...bySubject.values()].flatMap(([first, ...more]) =>
    first === undefined ? [] : [{ ...first, outcomes: [first, ...more].flatMap((one) => one.outcomes) }],
  );
  await noteOutcomes(workspace, subject, outcomes, { ...sending, others: together });
}

/** A failure may be posted after the deployment that ended it: it was read late, or Slack did not take it before. */
async function reviewEnded({ jobs, ledger }: Workspace, { episode }: Batch): Promise<void> {
  const last = episode?.outcomes.at(-1);
  if (episode === undefined || last?.kind !== 'failure') return;
  const { channel, account, project } = episode.subject;
  const names = (last.servers ?? []).map((name) => name.toLowerCase());
  const standing = await ledger.standings.get(account, project);
  const own = standing?.servers.filter(({ key }) => names.length === 0 || names.includes(key)) ?? [];
  if (own.length === 0 || own.some(isFailed)) return;
  await jobs.send(REVIEW_FAILURES, { channel, account, key: subjectKey(episode.subject) });
}

async function postMessages(
  workspace: Workspace,
  { channel, account }: FeedPlace,
  { id, root, replies }: Batch,
  sending: Sending,
): Promise<void> {
  if (root === undefined) return;
  // The blocks always name the account.
  const isNamed = root.text.includes(code(account)) || !(await workspace.accounts.hasSeveral());
  const message = isNamed ? root : { ...root, text: `${root.text}\nIn ${code(account)}` };
  const { ts } = await deliver(workspace, { id, channel, message, ...sending });
  const thread = { id, channel, threadTs: ts, ...sending };
  if ((await postReplies(workspace, thread, [...replies.entries()])) !== 'refused') return;
  // If Slack allows no thread, the replies go to the channel.
  for (const [at, message] of replies.entries())
    await deliver(workspace, { id: `${id} ${at}`, channel, message, ...sending });
}
