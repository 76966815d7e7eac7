import { asClause } from '../../core/mrkdwn.ts';
import { CATCH_UP_MS, type Job } from '../../jobs/jobs.ts';
import type { OccurrenceResult } from '../../records/digests.ts';
import { accountsChanged, type Paused } from '../../records/schedules.ts';
import { say } from '../../views/blocks/message.ts';
import { defineJob, type JobDefinition } from '../../workspace/define-job.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { isDelivered, isUndeliverable, undeliverableReason } from '../deliver.ts';
import { continueChain } from '../schedules/chain.ts';
import { notifyOwner, type Pausing, pauseAndNotify } from '../schedules/notify-owner.ts';
import { deliveryId, type OccurrenceOutcome, type OccurrenceRun, postDigest } from './post.ts';
import { failuresOf, type Gathered, gatherReports, isPassing, isQuiet } from './reports.ts';
import { asSchedule, chainOf, DIGEST, DIGESTS, type OccurrenceJob } from './schedule.ts';

/** How long a service that gives no answer is asked again before the digest says so. */
const MAX_RETRY_MS = 10 * 60_000;
/** A feed that is not found may be there a moment later, so only this many attempts in a row make it a refusal. */
const NOT_FOUND_ATTEMPTS = 3;

/**
 * Posts one occurrence of a digest, or records why not, for the list of digests. Safe to repeat after a kill.
 * @param startedAt when this process started, milliseconds since the epoch
 */
async function runDigest(workspace: Workspace, job: Job<OccurrenceJob>, startedAt: number): Promise<void> {
  const occurrence = job.data;
  const [digest, isPosted] = await Promise.all([
    workspace.digests.get(occurrence.digest),
    isDelivered(workspace, deliveryId(occurrence)),
  ]);
  if (digest === undefined) return;
  const late = lateSince(occurrence, workspace.clock.now(), startedAt);
  const run: OccurrenceRun = { workspace, digest, occurrence, job, lateSince: late };
  // Where this occurrence paused it, and was killed before its notice, that is sent now.
  if (digest.state.kind === 'paused') return notifyPaused(run, undefined);
  const link = {
    scheduledAt: occurrence.scheduledAt,
    attempt: job.attempt,
    doneAt: digest.last?.scheduledAt,
  };
  if (!(await continueChain(workspace, chainOf(digest), link))) return;
  if (isPosted) return post(run, await gather(run), true);
  if ((digest.snoozedUntil ?? 0) > occurrence.scheduledAt)
    return recordOccurrence(workspace, occurrence, { outcome: 'snoozed' });
  if (workspace.clock.now() - occurrence.scheduledAt >= CATCH_UP_MS)
    return recordOccurrence(workspace, occurrence, { outcome: 'missed' });
  const reports = await gather(run);
  if (reports.every(({ kind }) => kind === 'failed') && (await isRefused(run, reports))) return;
  if (digest.skipQuiet && isQuiet(reports, digest))
    return recordOccurrence(workspace, occurrence, { outcome: 'quiet' });
  await post(run, reports, false);
}

/** Later than this is late. */
const PUNCTUAL_MS = 60_000;
/** An occurrence from before the start certainly waited for it. */
const PUNCTUAL_AT_START_MS = 5_000;

/** @param startedAt when this process started; all in milliseconds since the epoch */
function lateSince({ scheduledAt }: OccurrenceJob, now: number, startedAt: number): number | undefined {
  const allowed = scheduledAt < startedAt ? PUNCTUAL_AT_START_MS : PUNCTUAL_MS;
  return now - scheduledAt >= allowed ? scheduledAt : undefined;
}

/** The last attempt failed: the list of digests says so, and its owner is notified. */
async function digestFailed(workspace: Workspace, occurrence: OccurrenceJob): Promise<void> {
  const digest = await workspace.digests.get(occurrence.digest);
  if (digest === undefined) return;
  await recordOccurrence(workspace, occurrence, { outcome: 'failed', reason: 'an unexpected error' });
  const { what, channel, setUpBy: user } = asSchedule(digest);
  const said = `:warning: Deckhand could not post ${what} because of an unexpected error. It is posted again at its next time; if this keeps happening, contact your administrator.`;
  const id = `dead ${deliveryId(occurrence)}`;
  await notifyOwner(workspace, { id, user, message: say(said), channel });
}

function gather({ workspace, digest, job }: OccurrenceRun): Promise<Gathered[]> {
  return gatherReports(workspace, digest, job.signal);
}

async function post(run: OccurrenceRun, reports: readonly Gathered[], isShown: boolean): Promise<void> {
  const { workspace, digest, occurrence } = run;
  try {
    await recordOccurrence(workspace, occurrence, await postDigest(run, reports, isShown));
    const { id, channel } = digest;
    workspace.log.info({ event: 'digest_posted', channel, digest: id }, 'Digest posted');
  } catch (error) {
    if (!isUndeliverable(error)) throw error;
    await pause(run, { cause: 'slack', reason: undeliverableReason(error) });
  }
}

/** For the list of digests. */
async function recordOccurrence(
  { clock, digests, metrics }: Pick<Workspace, 'clock' | 'digests' | 'metrics'>,
  { digest, scheduledAt }: OccurrenceJob,
  result: OccurrenceOutcome,
): Promise<void> {
  const last: OccurrenceResult = { scheduledAt, at: clock.now(), ...result };
  await digests.change(digest, (current) => {
    // A late occurrence may end after a younger one.
    const isLatest = (current.last?.scheduledAt ?? 0) <= scheduledAt;
    const { snoozedUntil = 0, ...awake } = current;
    const changed = snoozedUntil > scheduledAt ? current : awake;
    return isLatest ? { ...changed, last } : changed;
  });
  metrics.occurrence('digest', result.outcome, last.at - scheduledAt);
}

/** Pauses the digest and notifies its owner, once. */
async function pause(run: OccurrenceRun, paused: Pick<Paused, 'cause' | 'reason'>): Promise<void> {
  const { workspace, occurrence } = run;
  await recordOccurrence(workspace, occurrence, { outcome: 'failed', reason: paused.reason });
  await notifyPaused(run, paused);
}

function notifyPaused(
  { workspace, occurrence, job, digest }: OccurrenceRun,
  paused: Pausing['paused'],
): Promise<void> {
  return pauseAndNotify(workspace, DIGESTS, {
    concerns: ({ id }) => id === digest.id,
    paused,
    causeId: deliveryId(occurrence),
    signal: job.signal,
  });
}

/** True where no account answered and there is nothing to post, because trying again does not change a refusal. */
async function isRefused(run: OccurrenceRun, reports: readonly Gathered[]): Promise<boolean> {
  const { workspace, digest, occurrence } = run;
  const now = workspace.clock.now();
  const failures = failuresOf(reports);
  const isNotFound = failures.every(({ cause }) => cause.kind === 'record_not_found');
  const { scheduledAt } = occurrence;
  const before = digest.noAnswer?.scheduledAt === scheduledAt ? digest.noAnswer : { since: now, notFound: 0 };
  const noAnswer = { scheduledAt, since: before.since, notFound: isNotFound ? before.notFound + 1 : 0 };
  const passing = failures.find(isPassing);
  if (passing !== undefined && noAnswer.notFound < NOT_FOUND_ATTEMPTS) {
    if (now - noAnswer.since >= MAX_RETRY_MS) return false;
    await workspace.digests.change(digest.id, (current) => ({ ...current, noAnswer }));
    throw passing;
  }
  const refused = failures.find(({ cause }) => cause.kind !== 'unauthorized');
  if (refused !== undefined) {
    const { text } = workspace.explain(refused);
    await pause(run, { cause: 'service', reason: asClause(text) });
    return true;
  }
  // The key does not work, or there is none, which concerns every schedule of the account.
  await accountsChanged(workspace);
  await recordOccurrence(workspace, occurrence, { outcome: 'failed', reason: 'no connected account works' });
  return true;
}

/** @param startedAt when this process started, milliseconds since the epoch */
export function digestJob(startedAt: number): JobDefinition<OccurrenceJob> {
  return defineJob({
    ...DIGEST,
    // Some eight hours of attempts, while an occurrence is worth posting.
    options: { concurrency: 50, attempts: 16, backoffMs: 15_000 },
    run: (workspace, job) => runDigest(workspace, job, startedAt),
    onDeadLetter: digestFailed,
  });
}
