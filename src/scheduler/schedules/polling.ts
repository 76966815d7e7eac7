import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { ServiceErrorKind } from '../../core/errors.ts';
import { describeUnreached } from '../../core/http.ts';
import { asClause } from '../../core/mrkdwn.ts';
import { nextPollMs } from '../../core/retry.ts';
import type { Job, JobType } from '../../jobs/jobs.ts';
import { AccountFailure } from '../../records/accounts.ts';
import { feedChannelId, type Schedule } from '../../records/schedules.ts';
import type { Mentions } from '../../records/service-people.ts';
import type { AccountClient } from '../../service/client.ts';
import type { Collection, WorkspaceStore } from '../../store/store.ts';
import { defineJob, type JobDefinition } from '../../workspace/define-job.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import type { ScheduleKind } from './lifecycle.ts';
import { pauseWhere } from './notify-owner.ts';
import { type FeedChannel, type Outbox, outboxJob, postPending } from './outbox.ts';

/** Something of an account that is polled for all channels that follow it. */
export interface Feed<Doc extends FeedChannel, Page> {
  interval: PollInterval;
  outbox: Outbox<Doc>;
  /** @param signal of the poll; undefined where a person waits for the answer */
  fetch(client: AccountClient, signal?: AbortSignal): Promise<Page>;
  /** The channel after a page, with a batch pending where there is news. Pure. */
  after(doc: Doc, page: Page, context: PageContext): Doc;
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
  const { interval } = feed;
  const poll = defineJob({
    ...jobOf(interval),
    options: { concurrency: 50, attempts: 5, backoffMs: 5_000 },
    async run(workspace, job) {
      const { account, at } = job.data;
      if ((await activeOf(workspace, feed, account)).length === 0) return;
      // Its cursor stays where it is, so that nothing is lost and nothing piles up.
      await workspace.slack.expectToken();
      await pollAccount(workspace, feed, kind, job);
      await planPoll(workspace, interval, account, at);
    },
    // A poll that fails for good must not be the last.
    onDeadLetter: (workspace, { account, at }) => planPoll(workspace, interval, account, at),
  });
  return [poll, outboxJob(feed.outbox, kind)];
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
  { id, data: { account: name }, signal }: Job<PollJob>,
): Promise<void> {
  const account = await workspace.accounts.get(name, kind.requester);
  if (account === undefined) return;
  const paces = pacesOf(workspace.store);
  const paceId = paceIdOf(feed.interval, name);
  const { failures, notFound = 0, lookedAt } = (await paces.get(paceId)) ?? STEADY_PACE;
  try {
    const page = await workspace.accounts.use(account, (client) => feed.fetch(client, signal));
    const mentions = await workspace.names.mentions(name);
    for (const doc of await activeOf(workspace, feed, name))
      await takeNews(workspace, feed, doc, { page, mentions });
    await paces.put(paceId, { failures: 0, lookedAt: workspace.clock.now() });
  } catch (error) {
    if (!(error instanceof AccountFailure) || signal.aborted) throw error;
    const { kind: failure, operation, status, retryAt } = error.cause;
    const reason = describeUnreached(error);
    const fields = { account: name, operation, kind: failure, status, reason };
    workspace.log.warn({ event: 'look_failed', ...fields }, 'Poll of an account failed');
    const isNotFound = failure === 'record_not_found';
    const mayPass = isNotFound ? notFound + 1 < NOT_FOUND_POLLS : !REFUSALS.has(failure);
    if (mayPass) {
      const pace = { failures: failures + 1, retryAt, lookedAt };
      return paces.put(paceId, { ...pace, notFound: isNotFound ? notFound + 1 : 0 });
    }
    await paces.put(paceId, { failures: 0, lookedAt });
    const why = { cause: 'service', reason: asClause(workspace.explain(error).text) } as const;
    const concerns = (schedule: Schedule): boolean => schedule.account === name;
    await pauseWhere(workspace, kind, { concerns, why, causeId: `refused ${feed.interval.queue} ${id}` });
  }
}

/** Stores how far the channel was read together with what is to be posted, then has that posted. */
async function takeNews<Doc extends FeedChannel, Page>(
  workspace: Workspace,
  { outbox, after }: Feed<Doc, Page>,
  doc: Doc,
  { page, mentions }: { page: Page; mentions: Mentions },
): Promise<void> {
  const context = pageContext(workspace, mentions);
  const moved = (current: Doc | undefined): Doc | undefined =>
    current !== undefined && outbox.isActive(current) ? after(current, page, context) : current;
  // Most polls find nothing, and then nothing is written.
  const isMoved = JSON.stringify(after(doc, page, context)) !== JSON.stringify(doc);
  const kept = isMoved ? await outbox.collection(workspace.store).update(feedChannelId(doc), moved) : doc;
  await postPending(workspace, outbox, kept);
}

/** How often something is polled. */
export interface PollInterval {
  queue: string;
  intervalMs(workspace: Workspace): number;
  /** No pause after failures is longer than this many intervals, unless the service asks for it. */
  longestIntervals: number;
}

/** One poll of an account, which plans the next; when it is due, milliseconds since the epoch. */
const PollJob = z.object({ account: z.string(), at: z.number() });
type PollJob = z.infer<typeof PollJob>;

function jobOf({ queue }: PollInterval): JobType<PollJob> {
  return { queue, schema: PollJob };
}

/** How the latest polls of an account went. */
const Pace = z.object({
  failures: z.number(),
  retryAt: z.number().optional(),
  /** Polls in a row that met `record_not_found`. */
  notFound: z.number().optional(),
  /** When the service answered last, milliseconds since the epoch. */
  lookedAt: z.number().optional(),
});
type Pace = z.infer<typeof Pace>;

const STEADY_PACE: Pace = { failures: 0 };

function pacesOf(store: WorkspaceStore): Collection<Pace> {
  return store.collection('rounds', Pace);
}

function paceIdOf({ queue }: PollInterval, account: string): string {
  return `${queue} ${account}`;
}

/**
 * Plans the next poll of an account, unless one is planned about then: of two that poll it, one is left after a while.
 * @param after when the one that plans it was due: the next is an interval later, also where clocks differ
 */
async function planPoll(
  workspace: Workspace,
  interval: PollInterval,
  account: string,
  after: number,
): Promise<void> {
  const intervalMs = interval.intervalMs(workspace);
  const now = workspace.clock.now();
  const { failures, retryAt } =
    (await pacesOf(workspace.store).get(paceIdOf(interval, account))) ?? STEADY_PACE;
  const maxMs = interval.longestIntervals * intervalMs;
  const pauseMs = nextPollMs({ intervalMs, failures, retryAt, now, random: 0, maxMs });
  const at = Math.max(now, after) + pauseMs;
  const key = `${account} ${Math.floor(at / intervalMs)}`;
  await workspace.jobs.send(jobOf(interval), { account, at }, { key, at });
}

/** Begins to poll an account, first after an interval, unless it is polled already. */
export function ensurePolling(workspace: Workspace, interval: PollInterval, account: string): Promise<void> {
  return planPoll(workspace, interval, account, 0);
}

/** Each record with how its account is polled: when the service answered last, and how many polls have failed since. */
export async function withPolling<R extends { account: string }>(
  store: WorkspaceStore,
  interval: PollInterval,
  records: readonly R[],
): Promise<Array<R & Pick<Pace, 'lookedAt' | 'failures'>>> {
  const paces = new Map((await pacesOf(store).list()).map(({ id, doc }) => [id, doc]));
  return records.map((record) => {
    const { lookedAt, failures } = paces.get(paceIdOf(interval, record.account)) ?? STEADY_PACE;
    return { ...record, lookedAt, failures };
  });
}
