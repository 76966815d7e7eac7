import { randomUUID } from 'node:crypto';
import type { ServiceErrorKind } from '../../core/errors.ts';
import { asClause } from '../../core/mrkdwn.ts';
import { STEADY } from '../../core/retry.ts';
import { AccountFailure } from '../../records/accounts.ts';
import { feedChannelId } from '../../records/schedules.ts';
import type { Mentions } from '../../records/service-names.ts';
import type { AccountClient } from '../../service/client.ts';
import type { JobDefinition } from '../../workspace/define-job.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import type { ScheduleKind } from './lifecycle.ts';
import { pauseAndNotify } from './notify-owner.ts';
import { type FeedChannel, type Outbox, outboxJob, postPending } from './outbox.ts';
import { type AccountPace, type Poll, type PollInterval, pollerJob } from './poller.ts';

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
