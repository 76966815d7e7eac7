import { z } from 'zod';
import { AccountFailure, AccountKeyUnreadable } from '../../core/errors.ts';
import { nextPollMs } from '../../core/retry.ts';
import { HOUR_MS, MINUTE_MS } from '../../core/time/clock.ts';
import type { Job } from '../../jobs/jobs.ts';
import { makePaceId, openPaces } from '../../records/paces.ts';
import { type ActivityEvent, MAX_EVENTS, readEventTime } from '../../service/activity.ts';
import { defineJob } from '../../workspace/define-job.ts';
import { fetchActivity } from '../../workspace/read-activity.ts';
import type { Workspace } from '../../workspace/workspace.ts';

/** Pauses between two reads. The shorter ones are for accounts whose feed of 100 events rolls over sooner. */
const PAUSES_MS = [15, 8, 4, 2, 1].map((minutes) => minutes * MINUTE_MS);
const [IDLE_MS = MINUTE_MS, ...BUSY_MS] = PAUSES_MS;

/** The reads as polls, for `readPolling`. */
export const FEED_READS = { queue: 'read-feeds', intervalMs: () => IDLE_MS, longestIntervals: 4 };

/** One read of an account's feed. It plans the next. `at` is its due time, milliseconds since the epoch. */
export const FeedRead = z.object({ account: z.string(), at: z.number(), failures: z.number().optional() });
type FeedRead = z.infer<typeof FeedRead>;

/** Reads the feed of an account that no watch polls, so that the ledger misses none of its events. */
async function readFeed(workspace: Workspace, { data, signal }: Job<FeedRead>): Promise<void> {
  const { accounts, clock } = workspace;
  const { account: name, failures = 0 } = data;
  const paces = openPaces(workspace.store);
  const paceId = makePaceId(FEED_READS, name);
  const account = await accounts.get(name);
  if (account === undefined) return void (await paces.delete(paceId));
  // Once a key works again, `planFeedReads` plans the next read.
  if (account.purpose !== 'shared' || account.state !== 'ok') return;
  if (await isWatched(workspace, name)) return planRead(workspace, data, { pauseMs: IDLE_MS });
  try {
    const query = { range: 'last_7_days', stats: false } as const;
    const { events } = await fetchActivity(workspace, account, query, { signal, retries: 0 });
    const pauseMs = choosePause(events, clock.now());
    await paces.put(paceId, { failures: 0, lookedAt: clock.now(), pauseMs });
    await planRead(workspace, data, { pauseMs });
  } catch (error) {
    // `accounts.use` has marked the account as broken.
    if (error instanceof AccountKeyUnreadable) return;
    if (!(error instanceof AccountFailure) || signal.aborted) throw error;
    const { kind, operation, status, retryAt } = error.cause;
    const fields = { account: name, operation, kind, status };
    workspace.log.warn({ event: 'look_failed', ...fields }, 'Poll of an account failed');
    await paces.update(paceId, (pace) => ({ ...pace, failures: failures + 1 }));
    const timing = { intervalMs: IDLE_MS, failures, retryAt, now: clock.now(), random: 0 };
    const pauseMs = nextPollMs({ ...timing, maxMs: HOUR_MS });
    await planRead(workspace, data, { pauseMs, failures: failures + 1 });
  }
}

/** An active watch polls the account more often. */
async function isWatched({ schedules }: Workspace, account: string): Promise<boolean> {
  const watches = await schedules.list('watch');
  return watches.some((watch) => watch.account === account && watch.state.kind === 'active');
}

/** The longest pause in which half a feed of events fits, at the pace of the latest ones. */
function choosePause(events: readonly ActivityEvent[], now: number): number {
  const oldest = events.map(readEventTime).toSorted((one, other) => other - one)[MAX_EVENTS / 2];
  if (oldest === undefined || now - oldest >= IDLE_MS) return IDLE_MS;
  return BUSY_MS.find((pauseMs) => pauseMs <= now - oldest) ?? MINUTE_MS;
}

/** One read is planned for each account and time, whatever the number of replicas and starts. */
async function planRead(
  { clock, jobs }: Pick<Workspace, 'clock' | 'jobs'>,
  { account, at: before }: Pick<FeedRead, 'account' | 'at'>,
  { pauseMs, failures = 0 }: { pauseMs: number; failures?: number },
): Promise<void> {
  const at = Math.max(clock.now(), before) + pauseMs;
  const key = `${account} ${pauseMs} ${Math.floor(at / pauseMs)}`;
  await jobs.send(READ_FEED, { account, at, ...(failures === 0 ? {} : { failures }) }, { key, at });
}

/** Plans the reads of all accounts with a shared key that works. Safe to repeat. */
export async function planFeedReads(workspace: Workspace): Promise<void> {
  for (const { name: account, purpose, state } of await workspace.accounts.list())
    if (purpose === 'shared' && state === 'ok')
      await planRead(workspace, { account, at: 0 }, { pauseMs: IDLE_MS });
}

export const READ_FEED = defineJob({
  queue: 'read-feeds',
  schema: FeedRead,
  options: { concurrency: 10, attempts: 5, backoffMs: 5_000 },
  handle: readFeed,
  // The chain of reads must go on after one fails for good.
  onDeadLetter: (workspace, data) => planRead(workspace, data, { pauseMs: IDLE_MS }),
});
