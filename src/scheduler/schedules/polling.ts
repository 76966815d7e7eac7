import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { ServiceErrorKind } from '../../core/errors.ts';
import { asClause } from '../../core/mrkdwn.ts';
import { nextPollMs, type PollState, STEADY } from '../../core/retry.ts';
import type { Job, JobType } from '../../jobs/jobs.ts';
import { AccountFailure } from '../../records/accounts.ts';
import { feedChannelId } from '../../records/schedules.ts';
import type { Mentions } from '../../records/service-people.ts';
import type { AccountClient } from '../../service/client.ts';
import type { Collection, WorkspaceStore } from '../../store/store.ts';
import { defineJob, type JobDefinition } from '../../workspace/define-job.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import type { ScheduleKind } from './lifecycle.ts';
import { pauseAndNotify } from './notify-owner.ts';
import { type FeedChannel, type Outbox, outboxJob, postPending } from './outbox.ts';

/** Something of an account that is polled for all channels that follow it. */
export interface Feed<Doc extends FeedChannel, Page> {
  interval: PollInterval;
  outbox: Outbox<Doc>;
  /** @param signal of the poll; undefined where a person waits for the answer */
  fetch(client: AccountClient, signal?: AbortSignal): Promise<Page>;
  /** The channel after a page, with a batch pending where there is news. Pure. */
  after(doc: Doc, page: Page, context: PageContext): Doc;
  /** Most polls find nothing, and then nothing is written. Pure. */
  hasMoved(before: Doc, after: Doc): boolean;
}

export interface PageContext {
  /** Milliseconds since the epoch. */
  now: number;
  /** The id of a batch that may come of it. */
  batch: string;
  /** The slash word. */
  word: string;
  /** The people who are to be mentioned. */
  mentions: Mentions;
}

export function pageContext(
  { clock, word }: Pick<Workspace, 'clock' | 'word'>,
  mentions: Mentions,
): PageContext {
  return { now: clock.now(), batch: randomUUID(), word, mentions };
}

/** The two jobs of a feed: one polls, one posts. */
export function feedJobs<Doc extends FeedChannel, Page>(
  feed: Feed<Doc, Page>,
  kind: ScheduleKind,
): [JobDefinition<unknown>, JobDefinition<unknown>] {
  const poller = pollerJob({
    interval: feed.interval,
    isWanted: async (workspace, account) => (await activeOf(workspace, feed, account)).length > 0,
    poll: (workspace, poll) => pollAccount(workspace, feed, kind, poll),
  });
  return [poller, outboxJob(feed.outbox, kind)];
}

/** The channels that follow the account. */
async function activeOf<Doc extends FeedChannel, Page>(
  { store }: Pick<Workspace, 'store'>,
  { outbox }: Feed<Doc, Page>,
  account: string,
): Promise<Doc[]> {
  const rows = await outbox.collection(store).list();
  return rows.map(({ doc }) => doc).filter((doc) => doc.account === account && outbox.isActive(doc));
}

/** Refusals that asking again will not change. A key that does not work pauses its account's schedules by itself. */
export const REFUSALS: ReadonlySet<string> = new Set<ServiceErrorKind>([
  'forbidden',
  'api_access_restricted',
  'admin_required',
  'account_not_found',
  'record_not_found',
  'invalid',
  'rejected',
]);

/** A list that is not found may be there a moment later, so only this many polls in a row make it a refusal. */
const NOT_FOUND_POLLS = 3;

/**
 * Asks an account once for all its channels. Where the service refuses, their schedules are paused with its reason;
 * any other failure of the service slows polling down.
 */
async function pollAccount<Doc extends FeedChannel, Page>(
  workspace: Workspace,
  feed: Feed<Doc, Page>,
  kind: ScheduleKind,
  { account: name, id, pace, signal }: Poll,
): Promise<AccountPace> {
  const pausing = {
    concerns: ({ account }: { account: string | undefined }) => account === name,
    causeId: id,
    signal,
  };
  // A process that died while it sent notices of a refusal left the rest to this one.
  await pauseAndNotify(workspace, kind, { ...pausing, paused: undefined });
  const account = await workspace.accounts.get(name, kind.requester);
  if (account === undefined) return STEADY;
  try {
    const page = await workspace.accounts.use(account, (client) => feed.fetch(client, signal));
    const mentions = await workspace.names.mentions(name);
    for (const doc of await activeOf(workspace, feed, name))
      await takeNews(workspace, feed, doc, { page, mentions });
    return STEADY;
  } catch (error) {
    if (!(error instanceof AccountFailure) || signal.aborted) throw error;
    const { kind: failure, operation, status, retryAt } = error.cause;
    const fields = { account: name, operation, kind: failure, status };
    workspace.log.warn({ event: 'look_failed', ...fields }, 'Poll of an account failed');
    const notFound = failure === 'record_not_found' ? (pace.notFound ?? 0) + 1 : undefined;
    const isPassing = !REFUSALS.has(failure) || (notFound ?? NOT_FOUND_POLLS) < NOT_FOUND_POLLS;
    if (isPassing) return { failures: pace.failures + 1, retryAt, notFound };
    const { text } = workspace.explain(error);
    await pauseAndNotify(workspace, kind, {
      ...pausing,
      paused: { cause: 'service', reason: asClause(text) },
    });
    return STEADY;
  }
}

/** Stores how far the channel was read together with what is to be posted, then has that posted. */
async function takeNews<Doc extends FeedChannel, Page>(
  workspace: Workspace,
  { outbox, after, hasMoved }: Feed<Doc, Page>,
  doc: Doc,
  { page, mentions }: { page: Page; mentions: Mentions },
): Promise<void> {
  const context = pageContext(workspace, mentions);
  const moved = (current: Doc | undefined): Doc | undefined =>
    current !== undefined && outbox.isActive(current) ? after(current, page, context) : current;
  const isMoved = hasMoved(doc, after(doc, page, context));
  const kept = isMoved ? await outbox.collection(workspace.store).update(feedChannelId(doc), moved) : doc;
  await postPending(workspace, outbox, kept);
}

/** The polling of an account. Each poll is a job of its own, named by its number. */
const Polled = z.object({
  number: z.number(),
  /** False where there is nothing to poll for: then no job waits. */
  goesOn: z.boolean(),
  dueAt: z.number(),
  failures: z.number(),
  retryAt: z.number().optional(),
  /** Polls in a row that met `record_not_found`. */
  notFound: z.number().optional(),
  /** When the service answered last, milliseconds since the epoch. */
  lookedAt: z.number().optional(),
});
type Polled = z.infer<typeof Polled>;

const PollJob = z.object({ account: z.string(), number: z.number() });
type PollJob = z.infer<typeof PollJob>;

/** One poll of one account. */
export interface Poll {
  account: string;
  /** The same for each attempt. */
  id: string;
  pace: AccountPace;
  signal: AbortSignal;
}

/** How the last polls of an account went. */
export interface AccountPace extends PollState {
  /** Polls in a row that met `record_not_found`. */
  notFound?: number | undefined;
}

/** How often something is polled. */
export interface PollInterval {
  queue: string;
  intervalMs(workspace: Workspace): number;
  /** No pause after failures is longer than this many intervals, unless the service asks for it. */
  longestIntervals: number;
}

/** Something that is polled, once an account however many channels want it. */
export interface Poller {
  interval: PollInterval;
  isWanted(workspace: Workspace, account: string): Promise<boolean>;
  /** @returns how it went; rejects only for a bug, and then the poll is repeated */
  poll(workspace: Workspace, poll: Poll): Promise<AccountPace>;
}

export function pollerJob(poller: Poller): JobDefinition<PollJob> {
  return defineJob({
    ...jobOf(poller.interval),
    options: { concurrency: 50, attempts: 5, backoffMs: 5_000 },
    run: (workspace, job) => runPoll(workspace, poller, job),
    // A poll that fails for good must not be the last.
    async onDeadLetter(workspace, { account, number }) {
      const polled = await polls(workspace.store).get(pollId(poller.interval, account));
      if (polled?.number !== number) return;
      const failures = polled.failures + 1;
      await planNext(workspace, poller, { account, number }, { failures, retryAt: undefined });
    },
  });
}

function jobOf({ queue }: PollInterval): JobType<PollJob> {
  return { queue, schema: PollJob };
}

/** Begins to poll an account, first after an interval, unless it is polled already. */
export async function ensurePolling(
  workspace: Workspace,
  interval: PollInterval,
  account: string,
): Promise<void> {
  const dueAt = workspace.clock.now() + pauseMs(workspace, interval, { failures: 0, retryAt: undefined });
  const polled = await polls(workspace.store).update(pollId(interval, account), (current) =>
    current?.goesOn ? current : { number: (current?.number ?? 0) + 1, goesOn: true, dueAt, failures: 0 },
  );
  if (polled !== undefined) await send(workspace, interval, account, polled);
}

/** Each record with how its account is polled: when the service answered last, and how many polls have failed since. */
export async function withPolling<R extends { account: string }>(
  store: WorkspaceStore,
  interval: PollInterval,
  records: readonly R[],
): Promise<Array<R & Pick<Polled, 'lookedAt' | 'failures'>>> {
  const accounts = [...new Set(records.map(({ account }) => account))];
  const read = await Promise.all(accounts.map((account) => polls(store).get(pollId(interval, account))));
  const polled = new Map(accounts.map((account, at) => [account, read[at]]));
  return records.map((record) => {
    const { lookedAt, failures = 0 } = polled.get(record.account) ?? {};
    return { ...record, lookedAt, failures };
  });
}

/** Repeated after a kill it finds by its number whether the next poll is planned already. */
async function runPoll(workspace: Workspace, poller: Poller, { data, signal }: Job<PollJob>): Promise<void> {
  const { account, number } = data;
  const polled = await polls(workspace.store).get(pollId(poller.interval, account));
  if (polled === undefined) return;
  if (polled.number !== number) {
    if (polled.goesOn) await send(workspace, poller.interval, account, polled);
    return;
  }
  const { failures, retryAt, notFound } = polled;
  const id = `${poller.interval.queue} ${account} ${number}`;
  const poll = { account, id, pace: { failures, retryAt, notFound }, signal };
  await planNext(workspace, poller, data, await poller.poll(workspace, poll));
}

/** Plans the next poll, or none where no channel wants one any more. */
async function planNext(
  workspace: Workspace,
  poller: Poller,
  { account, number }: PollJob,
  pace: AccountPace,
): Promise<void> {
  const { interval } = poller;
  const now = workspace.clock.now();
  const goesOn = await poller.isWanted(workspace, account);
  const polled = await polls(workspace.store).update(pollId(interval, account), (current) => {
    if (current?.number !== number) return current;
    const { failures, retryAt, notFound } = pace;
    const lookedAt = failures === 0 ? now : current.lookedAt;
    return {
      number: number + 1,
      goesOn,
      dueAt: now + pauseMs(workspace, interval, pace),
      failures,
      retryAt,
      notFound,
      lookedAt,
    };
  });
  if (polled === undefined) return;
  if (polled.goesOn) return send(workspace, interval, account, polled);
  // A channel that began to want it right before found it being polled.
  if (await poller.isWanted(workspace, account)) await ensurePolling(workspace, interval, account);
}

function pauseMs(workspace: Workspace, interval: PollInterval, { failures, retryAt }: PollState): number {
  const intervalMs = interval.intervalMs(workspace);
  const maxMs = interval.longestIntervals * intervalMs;
  const now = workspace.clock.now();
  return nextPollMs({ intervalMs, failures, retryAt, now, random: Math.random(), maxMs });
}

async function send(
  { jobs }: Workspace,
  interval: PollInterval,
  account: string,
  { number, dueAt }: Polled,
): Promise<void> {
  await jobs.send(jobOf(interval), { account, number }, { key: `${account} ${number}`, at: dueAt });
}

function polls(store: WorkspaceStore): Collection<Polled> {
  return store.collection('rounds', Polled);
}

function pollId({ queue }: PollInterval, account: string): string {
  return `${queue} ${account}`;
}
