import { z } from 'zod';
import { nextPollMs, type PollState } from '../../core/retry.ts';
import type { Job, JobType } from '../../jobs/jobs.ts';
import type { Collection, WorkspaceStore } from '../../store/store.ts';
import { defineJob, type JobDefinition } from '../../workspace/define-job.ts';
import type { Workspace } from '../../workspace/workspace.ts';

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
  const longestMs = interval.longestIntervals * intervalMs;
  const now = workspace.clock.now();
  return nextPollMs({ intervalMs, failures, retryAt, now, random: Math.random(), longestMs });
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
