import { nextOccurrence } from '../../core/time/cron.ts';
import { CATCH_UP_MS, type JobType } from '../../jobs/jobs.ts';
import type { Workspace } from '../../workspace/workspace.ts';

/**
 * A schedule by the clock, as a chain of jobs: each sends the next one before it does its work, under a key that names the
 * schedule and the time, so that no occurrence has two.
 */
export interface Chain<Data> {
  /** Of the schedule, unique among the jobs of this type. */
  id: string;
  /** Five-field cron expression. */
  cron: string;
  /** IANA time zone in which the fields are meant. */
  zone: string;
  /** How long after its time an occurrence begins, in milliseconds. */
  delayMs?: number;
  job: JobType<Data>;
  /** Of the job of an occurrence; times are milliseconds since the epoch. */
  dataAt(scheduledAt: number): Data;
}

/**
 * Sends the job of the first occurrence after `since`, or of the first that is not too old to be caught up with, unless it
 * is there already.
 * @throws CronError if the expression or the zone is wrong
 */
export async function startChain<Data>(
  { jobs, clock }: Pick<Workspace, 'jobs' | 'clock'>,
  chain: Chain<Data>,
  since: number,
): Promise<void> {
  const after = Math.max(since, clock.now() - CATCH_UP_MS);
  await send(jobs, chain, nextOccurrence(chain.cron, chain.zone, after));
}

/** The job of an occurrence that has begun. */
export interface Link {
  scheduledAt: number;
  attempt: number;
  /** The latest occurrence that has ended. */
  doneAt: number | undefined;
}

/**
 * Called first by the job of an occurrence: sends the next one.
 * @returns whether the occurrence is to be done now: not where it has been, nor where the schedule has other times by now,
 * nor where a later one has fallen due, as while Deckhand was down
 * @throws CronError if the expression or the zone is wrong
 */
export async function continueChain<Data>(
  { jobs, clock }: Pick<Workspace, 'jobs' | 'clock'>,
  chain: Chain<Data>,
  { scheduledAt, attempt, doneAt = Number.NEGATIVE_INFINITY }: Link,
): Promise<boolean> {
  const next = (after: number): number => nextOccurrence(chain.cron, chain.zone, after);
  if (doneAt >= scheduledAt || next(scheduledAt - 1) !== scheduledAt) return false;
  const now = clock.now() - (chain.delayMs ?? 0);
  let latest = scheduledAt;
  for (let at = next(Math.max(latest, now - CATCH_UP_MS)); at <= now; at = next(at)) latest = at;
  const isLatest = latest === scheduledAt || attempt > 1;
  await send(jobs, chain, isLatest ? next(scheduledAt) : latest);
  return isLatest;
}

async function send<Data>(
  jobs: Workspace['jobs'],
  { id, job, delayMs = 0, dataAt }: Chain<Data>,
  at: number,
): Promise<void> {
  await jobs.send(job, dataAt(at), { key: `${id} ${at}`, at: at + delayMs });
}
