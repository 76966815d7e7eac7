import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { UserError } from '../../core/errors.ts';
import { isDirect } from '../../core/message.ts';
import { code } from '../../core/mrkdwn.ts';
import { isSameOrNone } from '../../core/project-ref.ts';
import { MINUTE_MS } from '../../core/time/clock.ts';
import { nextOccurrence } from '../../core/time/cron.ts';
import { CATCH_UP_MS, type Job } from '../../jobs/jobs.ts';
import {
  type LastOccurrence,
  makeCron,
  type ScheduleOf,
  type TimedKind,
  type TimedSchedule,
} from '../../records/schedules.ts';
import { say } from '../../views/blocks/make-blocks.ts';
import { describeSchedule, nameSchedule } from '../../views/schedules/words.ts';
import { defineJob, type JobDefinition } from '../../workspace/define-job.ts';
import { findCurrentProject } from '../../workspace/project-list.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { isServed, notifyOwner, pauseActive, pauseIfExcluded, type Reason } from './pause-schedule.ts';

/** Kinds that run by the clock. Each occurrence takes place once. */

/** An occurrence: the schedule's id, and the due time in milliseconds since the epoch. */
export const Occurrence = z.object({ id: z.string(), scheduledAt: z.number() });
export interface Occurrence extends z.infer<typeof Occurrence> {}

/** Name of an occurrence, the same for each attempt. */
export function nameOccurrence(kind: TimedKind, { id, scheduledAt }: Occurrence): string {
  return `${kind} ${id} ${scheduledAt}`;
}

/** @param handle does the work of an occurrence; safe to repeat after a kill */
export function defineOccurrenceJob(
  kind: TimedKind,
  handle: JobDefinition<Occurrence>['handle'],
): JobDefinition<Occurrence> {
  return defineJob({
    queue: kind,
    schema: Occurrence,
    // About eight hours of attempts. Later an occurrence is not worth the work.
    options: { concurrency: 50, attempts: 16, backoffMs: 15_000 },
    handle,
    onDeadLetter: (workspace, occurrence) => reportDead(workspace, kind, occurrence),
  });
}

/** Guards start within this time after they are due, so that they do not all call the service in the same minute. */
const SPREAD_MS = 5 * MINUTE_MS;

function makeChain({ kind: queue, id, cadence, zone }: TimedSchedule): Chain {
  // The same delay for each occurrence.
  const delayMs = queue === 'guard' ? hash('sha256', id, 'buffer').readUInt32BE() % SPREAD_MS : 0;
  return { queue, id, cron: makeCron(cadence), zone, delayMs };
}

/** Sends the next occurrence, counted from the latest one or from the time when the schedule became active. */
export async function startTimed(workspace: Workspace, schedule: TimedSchedule): Promise<void> {
  const { last, createdAt, activeSince: since = createdAt } = schedule;
  await startChain(workspace, makeChain(schedule), Math.max(since, last?.scheduledAt ?? since));
}

export async function prepareTimed(
  workspace: Workspace,
  schedule: TimedSchedule,
): Promise<() => Promise<void>> {
  const { kind, account } = schedule;
  if (!isServed(schedule, await workspace.accounts.list()))
    throw new UserError(
      `The ${kind} ${code(nameSchedule(schedule))} has no working account.`,
      `connect${account === undefined ? '' : ` ${account}`}`,
    );
  return async () => void (await workspace.schedules.change(schedule, endSnooze));
}

function endSnooze<S extends TimedSchedule>(schedule: S): S {
  return { ...schedule, snoozedUntil: undefined };
}

/**
 * Plans the next occurrence.
 * @param isBegun true if this one was begun before a kill
 * @returns the schedule if this occurrence is due
 */
export async function beginOccurrence<K extends TimedKind>(
  workspace: Workspace,
  kind: K,
  { data, attempt }: Job<Occurrence>,
  isBegun = false,
): Promise<ScheduleOf<K> | undefined> {
  const schedule = await workspace.schedules.get(kind, data.id);
  if (schedule?.state.kind !== 'active') return undefined;
  await workspace.slack.expectToken();
  const { scheduledAt } = data;
  const link = { scheduledAt, attempt, doneAt: schedule.last?.scheduledAt };
  if (!(await continueChain(workspace, makeChain(schedule), link))) return undefined;
  const isSnoozed = (schedule.snoozedUntil ?? 0) > scheduledAt;
  const isMissed = workspace.clock.now() - scheduledAt >= CATCH_UP_MS;
  if (isDirect(schedule.channel) && (await pauseIfExcluded(workspace, [schedule]))) return undefined;
  if (!isBegun && (isSnoozed || isMissed)) {
    await endOccurrence(workspace, kind, data, { outcome: isSnoozed ? 'snoozed' : 'missed' });
    return undefined;
  }
  return refreshProject(workspace, schedule);
}

/** Stores the present name of the schedule's project, which may have been renamed at the service. */
export async function refreshProject<S extends TimedSchedule>(
  { accounts, projects, schedules }: Workspace,
  schedule: S,
): Promise<S> {
  const { project } = schedule;
  const account = schedule.account === undefined ? undefined : await accounts.get(schedule.account);
  if (project === undefined || account === undefined) return schedule;
  const current = await findCurrentProject(projects, account, project);
  if (current === undefined || isDeepStrictEqual(current, project)) return schedule;
  await schedules.change<TimedKind>(schedule, (doc) =>
    isSameOrNone(doc.project, current) ? { ...doc, project: current } : doc,
  );
  return { ...schedule, project: current };
}

/** Records the end of an occurrence for the list. @param change made in the same write */
export async function endOccurrence(
  { clock, metrics, schedules }: Workspace,
  kind: TimedKind,
  { id, scheduledAt }: Occurrence,
  result: Pick<LastOccurrence, 'outcome' | 'reason'>,
  change: <S extends TimedSchedule>(current: S) => S = (current) => current,
): Promise<void> {
  const last = { scheduledAt, at: clock.now(), ...result };
  await schedules.change({ kind, id }, (stored) => {
    const current = change(stored);
    // A late occurrence may end after the next one.
    if ((current.last?.scheduledAt ?? 0) > scheduledAt) return current;
    return { ...((current.snoozedUntil ?? 0) > scheduledAt ? current : endSnooze(current)), last };
  });
  metrics.occurrence(kind, result.outcome, last.at - scheduledAt);
}

/** Pauses the schedule because of an occurrence, and notifies its owner once. */
export async function pauseForOccurrence(
  workspace: Workspace,
  kind: TimedKind,
  occurrence: Occurrence,
  why: Reason,
): Promise<void> {
  const schedule = await workspace.schedules.get(kind, occurrence.id);
  const causeId = nameOccurrence(kind, occurrence);
  await pauseActive(workspace, schedule === undefined ? [] : [schedule], { why, causeId });
  await endOccurrence(workspace, kind, occurrence, { outcome: 'failed', reason: why.reason });
}

/** Records a failed last attempt for the list, and notifies the owner. */
async function reportDead(workspace: Workspace, kind: TimedKind, occurrence: Occurrence): Promise<void> {
  const schedule = await workspace.schedules.get(kind, occurrence.id);
  if (schedule === undefined) return;
  await endOccurrence(workspace, kind, occurrence, { outcome: 'failed', reason: 'an unexpected error' });
  const { channel, createdBy: user } = schedule;
  const text = `:warning: Deckhand could not run ${describeSchedule(schedule)} because of an unexpected error. It runs again at its next time. If this keeps happening, ask whoever runs Deckhand.`;
  const id = `dead ${nameOccurrence(kind, occurrence)}`;
  await notifyOwner(workspace, { id, user, message: say(text), channel });
}

/**
 * A schedule as a chain of jobs. Each job sends the next one before it does its work. The job's key names the
 * schedule and the time, so that no occurrence has two jobs.
 */
export interface Chain {
  queue: string;
  id: string;
  cron: string;
  /** IANA time zone of the cron expression. */
  zone: string;
  /** Delay of each occurrence after its time, in milliseconds. */
  delayMs?: number;
}

/**
 * Sends the job of the first occurrence after `since`, or of the first that is not too late to catch up with.
 * Does nothing if the job exists.
 * @throws CronError if the expression or the zone is wrong
 */
export async function startChain(
  { jobs, clock }: Pick<Workspace, 'jobs' | 'clock'>,
  chain: Chain,
  since: number,
): Promise<void> {
  const after = Math.max(since, clock.now() - CATCH_UP_MS);
  await sendChained(jobs, chain, nextOccurrence(chain.cron, chain.zone, after));
}

/**
 * Plans the next occurrence. The job of an occurrence calls it first.
 * @returns false if the occurrence is done, the schedule has other times by now, or a later occurrence is
 * due, e.g. because Deckhand was down
 * @throws CronError if the expression or the zone is wrong
 */
export async function continueChain(
  { jobs, clock }: Pick<Workspace, 'jobs' | 'clock'>,
  chain: Chain,
  {
    scheduledAt,
    attempt,
    doneAt = Number.NEGATIVE_INFINITY,
  }: { scheduledAt: number; attempt: number; doneAt: number | undefined },
): Promise<boolean> {
  const next = (after: number): number => nextOccurrence(chain.cron, chain.zone, after);
  if (doneAt >= scheduledAt || next(scheduledAt - 1) !== scheduledAt) return false;
  const now = clock.now() - (chain.delayMs ?? 0);
  let latest = scheduledAt;
  for (let at = next(Math.max(latest, now - CATCH_UP_MS)); at <= now; at = next(at)) latest = at;
  const isLatest = latest === scheduledAt || attempt > 1;
  await sendChained(jobs, chain, isLatest ? next(scheduledAt) : latest);
  return isLatest;
}

async function sendChained(
  jobs: Workspace['jobs'],
  { queue, id, delayMs = 0 }: Chain,
  at: number,
): Promise<void> {
  const job = { queue, schema: Occurrence };
  await jobs.send(job, { id, scheduledAt: at }, { key: `${id} ${at}`, at: at + delayMs });
}
