import { asClause } from '../../core/mrkdwn.ts';
import type { Job } from '../../jobs/jobs.ts';
import { accountsChanged, type Digest, nextOf } from '../../records/schedules.ts';
import { type DigestFrame, digestMessage, threadMessages } from '../../views/digests/digest.ts';
import type { JobDefinition } from '../../workspace/define-job.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { deliver, findDelivered, isUndeliverable, postReplies, undeliverableReason } from '../deliver.ts';
import {
  beginOccurrence,
  defineOccurrenceJob,
  endOccurrence,
  nameOccurrence,
  type Occurrence,
  pauseForOccurrence,
} from '../schedules/timed.ts';
import { type Gathered, gatherReports, isPassing, isQuiet } from './reports.ts';

/** How long a service that gives no answer is asked again before the digest says so. */
const MAX_RETRY_MS = 10 * 60_000;
/** A feed that is not found may be there a moment later, so only this many attempts in a row make it a refusal. */
const NOT_FOUND_ATTEMPTS = 3;

/**
 * Posts one occurrence of a digest, or records why not, for the list of digests. Safe to repeat after a kill.
 * @param startedAt when this process started, milliseconds since the epoch
 */
async function runDigest(workspace: Workspace, job: Job<Occurrence>, startedAt: number): Promise<void> {
  const isPosted = (await findDelivered(workspace, nameOccurrence('digest', job.data))) !== undefined;
  const digest = await beginOccurrence(workspace, 'digest', job, isPosted);
  if (digest === undefined) return;
  const lateSince = lateSinceOf(job.data, workspace.clock.now(), startedAt);
  const run: OccurrenceRun = { workspace, digest, job, lateSince };
  const reports = await gatherReports(workspace, digest, job.signal);
  if (!isPosted) {
    if (
      reports.every(({ kind, isGone }) => kind === 'failed' && isGone !== true) &&
      (await isRefused(run, reports))
    )
      return;
    if (digest.skipQuiet && isQuiet(reports, digest))
      return endOccurrence(workspace, 'digest', job.data, { outcome: 'quiet' });
  }
  await post(run, reports);
}

/** Later than this is late. */
const PUNCTUAL_MS = 60_000;
/** An occurrence from before the start certainly waited for it. */
const PUNCTUAL_AT_START_MS = 5_000;

/** @param startedAt when this process started; all in milliseconds since the epoch */
function lateSinceOf({ scheduledAt }: Occurrence, now: number, startedAt: number): number | undefined {
  const allowed = scheduledAt < startedAt ? PUNCTUAL_AT_START_MS : PUNCTUAL_MS;
  return now - scheduledAt >= allowed ? scheduledAt : undefined;
}

async function post(run: OccurrenceRun, reports: readonly Gathered[]): Promise<void> {
  const { workspace, digest, job, lateSince } = run;
  try {
    await postDigest(run, reports);
    await endOccurrence(workspace, 'digest', job.data, {
      outcome: lateSince === undefined ? 'posted' : 'late',
    });
    const { id, channel } = digest;
    workspace.log.info({ event: 'digest_posted', channel, digest: id }, 'Digest posted');
  } catch (error) {
    if (!isUndeliverable(error)) throw error;
    const paused = { cause: 'slack', reason: undeliverableReason(error) } as const;
    await pauseForOccurrence(workspace, 'digest', job.data, paused);
  }
}

/** True where no account answered and there is nothing to post, because trying again does not change a refusal. */
async function isRefused(run: OccurrenceRun, reports: readonly Gathered[]): Promise<boolean> {
  const { workspace, digest, job } = run;
  const { scheduledAt } = job.data;
  const now = workspace.clock.now();
  const failures = reports.flatMap(({ error }) => error ?? []);
  const isNotFound = failures.every(({ cause }) => cause.kind === 'record_not_found');
  const before = digest.noAnswer?.scheduledAt === scheduledAt ? digest.noAnswer : { since: now, notFound: 0 };
  const noAnswer = { scheduledAt, since: before.since, notFound: isNotFound ? before.notFound + 1 : 0 };
  const passing = failures.find(isPassing);
  if (passing !== undefined && noAnswer.notFound < NOT_FOUND_ATTEMPTS) {
    if (now - noAnswer.since >= MAX_RETRY_MS) return false;
    await workspace.schedules.change(digest, (current) => ({ ...current, noAnswer }));
    throw passing;
  }
  const refused = failures.find(({ cause }) => cause.kind !== 'unauthorized');
  if (refused !== undefined) {
    const reason = asClause(workspace.explain(refused).text);
    await pauseForOccurrence(workspace, 'digest', job.data, { cause: 'service', reason });
    return true;
  }
  // The key does not work, or there is none, which concerns every schedule of the account.
  await accountsChanged(workspace);
  await endOccurrence(workspace, 'digest', job.data, {
    outcome: 'failed',
    reason: 'no connected account works',
  });
  return true;
}

/** @param startedAt when this process started, milliseconds since the epoch */
export function digestJob(startedAt: number): JobDefinition<Occurrence> {
  return defineOccurrenceJob('digest', (workspace, job) => runDigest(workspace, job, startedAt));
}

/** An occurrence of a digest that is being posted. */
interface OccurrenceRun {
  workspace: Workspace;
  digest: Digest;
  job: Job<Occurrence>;
  /** When it was due, where it comes late. */
  lateSince: number | undefined;
}

/**
 * Posts the occurrence's message and thread.
 * @throws SlackFailure
 */
async function postDigest(run: OccurrenceRun, reports: readonly Gathered[]): Promise<void> {
  const { workspace, digest, job, lateSince } = run;
  const { signal } = job;
  const message = digestMessage(frameOf(workspace, digest, lateSince), reports);
  const { channel } = digest;
  const id = nameOccurrence('digest', job.data);
  const sending = { signal, possibleDuplicate: job.attempt > 1 };
  const { ts } = await deliver(workspace, { id, channel, message, ...sending });
  const thread = { id: `${id} reply`, channel, threadTs: ts, ...sending };
  await postReplies(workspace, thread, [...threadMessages(reports, digest).entries()]);
}

export function frameOf({ clock }: Workspace, digest: Digest, lateSince?: number): DigestFrame {
  return { digest, lateSince, next: nextOf(digest, clock.now()) };
}
