import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { AccountFailure, type ServiceErrorKind } from '../../core/errors.ts';
import { describeUnreached } from '../../core/http.ts';
import { defined } from '../../core/json.ts';
import { toClause } from '../../core/mrkdwn.ts';
import { nextPollMs } from '../../core/retry.ts';
import type { Pages } from '../../core/service-pages.ts';
import { HOUR_MS } from '../../core/time/clock.ts';
import type { JobType } from '../../jobs/jobs.ts';
import type { KeyUse } from '../../records/accounts.ts';
import type { FeedKind } from '../../records/feeds.ts';
import { openPace, openPaces, type Pace, STEADY_PACE } from '../../records/paces.ts';
import type { FeedPlace, ScheduleOf } from '../../records/schedules.ts';
import type { FindMentioned, Mentions } from '../../records/service-people.ts';
import type { ActivityEvent } from '../../service/activity.ts';
import type { AccountClient } from '../../service/client.ts';
import { defineJob, type JobDefinition } from '../../workspace/define-job.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { definePostJob, type Outbox, postPending } from './outbox.ts';
import { pauseActive } from './pause-schedule.ts';

/** Something of an account that Deckhand polls for all channels whose schedules follow it. */
export interface Source<K extends FeedKind, Page> extends Outbox, PollInterval {
  kind: K;
  keyUse: KeyUse;
  /** True if an account is polled as long as its key works, although nothing active follows it. */
  isForAll?: boolean;
  /** @param signal of the poll; undefined if a person waits for the answer */
  fetch(client: AccountClient, signal?: AbortSignal): Promise<Page>;
  /** Tells all channels of an account what is new in a page. Safe to repeat. @param followers the active ones */
  takePage(
    workspace: Workspace,
    account: string,
    page: Page,
    followers: readonly ScheduleOf<K>[],
  ): Promise<void>;
  /**
   * Called after the news of a page are stored, and after a failed read that the service's calls asked for, or that nothing
   * active follows. Returns how long the next poll may wait; an interval if left out.
   */
  onRead?(workspace: Workspace, read: ReadPage<K, Page>): Promise<number>;
}

interface ReadPage<K extends FeedKind, Page> {
  account: string;
  active: readonly ScheduleOf<K>[];
  /** Undefined if the read failed. */
  page: Page | undefined;
  /** The projects that the service's calls named; none for a poll. */
  pushed: ReadonlySet<string>;
}

export interface PageContext {
  now: number;
  /** Id of the batch that may follow. */
  batch: string;
  word: string;
  /** Undefined for news without links. */
  pages?: Pages;
  mentions: Mentions;
  findMentioned: FindMentioned;
  /** True for events that the channel does not hear of, because it is quiet; without an event, for all. */
  isQuiet(event?: ActivityEvent): boolean;
}

export function pageContext(
  { clock, pages, word }: Pick<Workspace, 'clock' | 'pages' | 'word'>,
  people: Pick<PageContext, 'mentions' | 'findMentioned' | 'isQuiet'>,
): PageContext {
  return { now: clock.now(), batch: randomUUID(), word, pages, ...people };
}

export function defineSourceJobs<K extends FeedKind, Page>(
  source: Source<K, Page>,
): [JobDefinition<unknown>, JobDefinition<unknown>] {
  const poll = defineJob({
    ...makeJobType(source),
    options: { concurrency: 50, attempts: 5, backoffMs: 5_000 },
    async handle(workspace, job) {
      const { account, at } = job.data;
      const active = await listActive(workspace, source.kind, account);
      if (active.length === 0 && !(await isPolledAlone(workspace, source, account))) return;
      // Its cursor does not move, so nothing is lost and nothing piles up.
      if (active.length > 0) await workspace.slack.expectToken();
      const poll = { id: job.id, account, signal: job.signal, pushed: new Set<string>() };
      await planPoll(workspace, source, account, at, await pollAccount(workspace, source, poll, active));
    },
    // The chain of polls must go on after one fails for good.
    onDeadLetter: (workspace, { account, at }) => planNext(workspace, source, account, at),
  });
  return [poll, definePostJob(source)];
}

async function isPolledAlone<K extends FeedKind, Page>(
  { accounts }: Workspace,
  { isForAll, keyUse }: Source<K, Page>,
  account: string,
): Promise<boolean> {
  return isForAll === true && (await accounts.get(account, keyUse))?.state === 'ok';
}

async function listActive<K extends FeedKind>(
  { schedules }: Pick<Workspace, 'schedules'>,
  kind: K,
  account: string,
): Promise<ScheduleOf<K>[]> {
  const all = await schedules.list(kind);
  return all.filter((schedule) => schedule.account === account && schedule.state.kind === 'active');
}

/**
 * Refusals that a repeat will not change. A broken key is not among them: it pauses its account's schedules
 * by itself.
 */
export const REFUSALS: ReadonlySet<string> = new Set<ServiceErrorKind>([
  'forbidden',
  'api_access_restricted',
  'admin_required',
  'account_not_found',
  'record_not_found',
  'invalid',
  'rejected',
]);

/** Number of `not found` answers in a row that count as a refusal. A list may be missing only for a moment. */
const NOT_FOUND_POLLS = 3;

interface Poll {
  /** Identifies the failed poll in the notice of a refusal. */
  id: string;
  account: string;
  signal: AbortSignal;
  /** The projects that the service's calls named; none for a poll. */
  pushed: ReadonlySet<string>;
}

/** Minimum time between two reads of an account that the service's calls cause. */
export const PUSH_PAUSE_MS = 2_000;

/** Reads an account at once, because the service called about some of its projects. Polls go on as planned. */
export async function pollPushed<K extends FeedKind, Page>(
  workspace: Workspace,
  source: Source<K, Page>,
  poll: Pick<Poll, 'account' | 'pushed' | 'signal'>,
): Promise<void> {
  const { clock, slack } = workspace;
  const { account, signal } = poll;
  const pace = openPace(workspace, source, account);
  const { lookedAt = 0, retryAt = 0 } = await pace.read();
  const isOurs = await claimRead(workspace, pace.id, { lookedAt, signal });
  const active = await listActive(workspace, source.kind, account);
  if (active.length === 0) return;
  if (!isOurs || retryAt > clock.now()) {
    await source.onRead?.(workspace, { ...poll, active, page: undefined });
    return;
  }
  await slack.expectToken();
  await pollAccount(workspace, source, { id: randomUUID(), ...poll }, active);
}

/** The latest read of an account that the service's calls caused. */
export const PushedRead = z.object({
  id: z.string(),
  /** When it began, milliseconds since the epoch. */
  at: z.number(),
});
type PushedRead = z.infer<typeof PushedRead>;

/**
 * Waits until an account may be read again.
 * @returns false if another replica has begun to read it since: that read finds what the calls were about
 */
async function claimRead(
  { clock, store }: Workspace,
  paceId: string,
  { lookedAt, signal }: { lookedAt: number; signal: AbortSignal },
): Promise<boolean> {
  const reads = store.collection('pushed-reads', PushedRead);
  const earlier = await reads.get(paceId);
  const pauseMs = Math.max(lookedAt, earlier?.at ?? 0) + PUSH_PAUSE_MS - clock.now();
  // The clock of another replica may differ.
  if (pauseMs > 0) await clock.sleep(Math.min(pauseMs, PUSH_PAUSE_MS), signal);
  const own = { id: randomUUID(), at: clock.now() };
  const isFree = (current: PushedRead | undefined): boolean => current?.id === earlier?.id;
  const latest = await reads.update(paceId, (current) => (isFree(current) ? own : current), own.at + HOUR_MS);
  return latest?.id === own.id;
}

/**
 * Polls an account once for all its channels. If the service refuses, Deckhand pauses their schedules with
 * its reason. Any other failure slows polling down.
 */
async function pollAccount<K extends FeedKind, Page>(
  workspace: Workspace,
  source: Source<K, Page>,
  poll: Poll,
  active: readonly ScheduleOf<K>[],
): Promise<Pace> {
  const { account: name, signal, pushed } = poll;
  const account = await workspace.accounts.get(name, source.keyUse);
  const paces = openPace(workspace, source, name);
  const before = await paces.read();
  if (
    account === undefined ||
    (pushed.size === 0 && isTooSoon(workspace, source, before, active.length === 0))
  )
    return before;
  const store = async (pace: Pace): Promise<Pace> => {
    await paces.put(pace);
    return pace;
  };
  try {
    const page = await workspace.accounts.use(account, (client) => source.fetch(client, signal));
    await source.takePage(workspace, name, page, active);
    const pauseMs = await source.onRead?.(workspace, { account: name, active, page, pushed });
    return await store(makePace(workspace.clock.now(), pushed, pauseMs));
  } catch (error) {
    if (!(error instanceof AccountFailure) || signal.aborted) throw error;
    const { kind, operation, status, retryAt } = error.cause;
    const reason = describeUnreached(error);
    const fields = { account: name, operation, kind, status, reason };
    workspace.log.warn({ event: 'look_failed', ...fields }, 'Poll of an account failed');
    if (pushed.size > 0) {
      // Only polls react to a failure. The next one is soon, because there is something to read.
      await source.onRead?.(workspace, { account: name, active, page: undefined, pushed });
      const pace = await store({ ...before, retryAt });
      await planNext(workspace, source, name);
      return pace;
    }
    return store(await slowDown(workspace, source, { poll, active, before }, error));
  }
}

/** The pace after a failed poll. A refusal pauses what follows the account. */
async function slowDown<K extends FeedKind, Page>(
  workspace: Workspace,
  source: Source<K, Page>,
  { poll, active, before }: { poll: Poll; active: readonly ScheduleOf<K>[]; before: Pace },
  error: AccountFailure,
): Promise<Pace> {
  const { id, account, pushed } = poll;
  const { kind, retryAt } = error.cause;
  const { lookedAt, failures } = before;
  const slower = { failures: failures + 1, retryAt, lookedAt };
  if (active.length === 0) {
    const pauseMs = await source.onRead?.(workspace, { account, active, page: undefined, pushed });
    return { ...slower, pauseMs };
  }
  const notFound = kind === 'record_not_found' ? (before.notFound ?? 0) + 1 : undefined;
  const mayPass = notFound === undefined ? !REFUSALS.has(kind) : notFound < NOT_FOUND_POLLS;
  if (mayPass) return { ...slower, notFound };
  const why = { cause: 'service', reason: toClause(workspace.explain(error).text) } as const;
  const present = await listActive(workspace, source.kind, account);
  await pauseActive(workspace, present, { why, causeId: `refused ${source.queue} ${id}` });
  return { ...STEADY_PACE, lookedAt };
}

/** True for a poll right after a read that a call of the service caused, and for one of a second chain, which then becomes one with the first. */
function isTooSoon(
  workspace: Workspace,
  interval: PollInterval,
  { pushedAt, lookedAt = 0, retryAt = 0, pauseMs }: Pace,
  isAlone: boolean,
): boolean {
  const now = workspace.clock.now();
  const usualMs = interval.intervalMs(workspace);
  const leastMs = isAlone ? (pauseMs ?? usualMs) / 2 : usualMs / 2;
  const age = now - (pushedAt ?? lookedAt);
  return retryAt > now || (age >= 0 && age < (pushedAt === undefined ? leastMs : PUSH_PAUSE_MS));
}

/** The pace after an answer. */
function makePace(now: number, pushed: Poll['pushed'], pauseMs: number | undefined): Pace {
  const pushedAt = pushed.size > 0 ? now : undefined;
  return { failures: 0, lookedAt: now, ...defined({ pauseMs, pushedAt }) };
}

export interface PollInterval {
  queue: string;
  intervalMs(workspace: Workspace): number;
  /** Maximum pause after failures, in intervals, unless the service asks for a longer one. */
  longestIntervals: number;
}

/** The same if the account may wait longer. */
const MAX_PAUSES = 4;

/** One poll of an account. It plans the next. `at` is its due time, milliseconds since the epoch. */
export const PollJob = z.object({ account: z.string(), at: z.number() });
type PollJob = z.infer<typeof PollJob>;

function makeJobType({ queue }: PollInterval): JobType<PollJob> {
  return { queue, schema: PollJob };
}

/**
 * Plans the next poll of an account, unless one is planned for about that time. Two chains of polls thus
 * become one.
 * @param after due time of the current poll: the next is one interval later, even if clocks differ
 */
export async function planPoll(
  workspace: Workspace,
  interval: PollInterval,
  account: string,
  after: number,
  { failures, retryAt, pauseMs }: Pace,
): Promise<void> {
  const now = workspace.clock.now();
  const usualMs = interval.intervalMs(workspace);
  const intervalMs = pauseMs ?? usualMs;
  const maxMs = Math.max(interval.longestIntervals * usualMs, MAX_PAUSES * (pauseMs ?? 0));
  const waitMs = nextPollMs({ intervalMs, failures, retryAt, now, random: 0, maxMs });
  const at = Math.max(now, after) + waitMs;
  const key = `${account} ${Math.floor(at / intervalMs)}`;
  await workspace.jobs.send(makeJobType(interval), { account, at }, { key, at });
}

/** Waits an interval at most, because the service may not call about all that the schedules follow. */
async function planNext(
  workspace: Workspace,
  interval: PollInterval,
  account: string,
  after = 0,
): Promise<void> {
  const pace = await openPace(workspace, interval, account).read();
  await planPoll(workspace, interval, account, after, { ...pace, pauseMs: undefined });
}

/**
 * Starts to poll an account, unless a chain of polls exists, and posts the channel's pending batches. The next
 * poll is one interval away, even if the service asked for a longer wait or failed before.
 */
export async function startPolling<K extends FeedKind, Page>(
  workspace: Workspace,
  source: Source<K, Page>,
  place: FeedPlace,
): Promise<void> {
  const pace = openPace(workspace, source, place.account);
  const { failures, retryAt, lookedAt, pauseMs } = await pace.read();
  if (failures > 0 || retryAt !== undefined || pauseMs !== undefined)
    await pace.put({ ...STEADY_PACE, lookedAt });
  await planPoll(workspace, source, place.account, 0, STEADY_PACE);
  await postPending(workspace, source, await workspace.feeds.get(source.kind, place));
}

/** Deletes the results of an account's polls. */
export async function forgetPolling(
  workspace: Pick<Workspace, 'store'>,
  interval: PollInterval,
  account: string,
): Promise<void> {
  await openPace(workspace, interval, account).forget();
}

/** The state of the polls of an account. */
interface Polling extends Pick<Pace, 'lookedAt' | 'failures'> {
  /** Time between two polls. */
  intervalMs: number;
  /** End of the wait that the service asked for; undefined if it asked for none or the wait is over. */
  waitsUntil: number | undefined;
}

export async function readPolling(
  workspace: Workspace,
  interval: PollInterval,
): Promise<(account: string) => Polling> {
  const { clock, store } = workspace;
  const paces = new Map((await openPaces(store).list()).map(({ id, doc }) => [id, doc]));
  return (account) => {
    const pace = paces.get(openPace(workspace, interval, account).id) ?? STEADY_PACE;
    const { failures, lookedAt, retryAt = 0, pauseMs: intervalMs = interval.intervalMs(workspace) } = pace;
    return { failures, lookedAt, intervalMs, waitsUntil: retryAt > clock.now() ? retryAt : undefined };
  };
}
