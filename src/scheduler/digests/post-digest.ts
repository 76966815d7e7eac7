import { isDeepStrictEqual } from 'node:util';
import {
  deliver,
  findDelivered,
  isUndeliverable,
  postReplies,
  undeliverableReason,
} from '../../cards/deliver.ts';
import { type AccountFailure, MAY_PASS } from '../../core/errors.ts';
import { toClause } from '../../core/mrkdwn.ts';
import type { Job } from '../../jobs/jobs.ts';
import { type Digest, findNextTime } from '../../records/schedules.ts';
import { countDeployments } from '../../service/activity.ts';
import {
  type DigestFrame,
  digestMessage,
  isWhole,
  threadMessages,
} from '../../views/digests/digest-message.ts';
import type { JobDefinition } from '../../workspace/define-job.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import {
  beginOccurrence,
  defineOccurrenceJob,
  endOccurrence,
  nameOccurrence,
  type Occurrence,
  pauseForOccurrence,
} from '../schedules/occurrences.ts';
import {
  beginReport,
  type Gathered,
  gatherReports,
  notePosted,
  readReported,
  storePosting,
} from './gather-reports.ts';

/** How long Deckhand retries a service that does not answer. After that, the digest says so. */
const MAX_RETRY_MS = 10 * 60_000;
/**
 * Number of `not found` answers in a row that count as a refusal, because the feed may be missing only for a
 * moment.
 */
const NOT_FOUND_ATTEMPTS = 3;

/**
 * Posts one occurrence of a digest, or records for the list why it did not. Safe to repeat after a kill.
 * @param startedAt start of this process, milliseconds since the epoch
 */
async function postOccurrence(workspace: Workspace, job: Job<Occurrence>, startedAt: number): Promise<void> {
  const isPosted = (await findDelivered(workspace, nameOccurrence('digest', job.data))) !== undefined;
  const begun = await beginOccurrence(workspace, 'digest', job, isPosted);
  if (begun === undefined) return;
  const digest = await beginReport(workspace, begun, job.data.scheduledAt);
  const lateSince = findLateSince(job.data, workspace.clock.now(), startedAt);
  const posting: Posting = { workspace, digest, job, lateSince };
  const reports = await gatherReports(workspace, digest, { signal: job.signal, ...job.data });
  if (!isPosted) {
    if (
      reports.every(({ kind, isGone }) => kind === 'failed' && isGone !== true) &&
      (await isPostRefused(posting, reports))
    )
      return;
    if (digest.skipQuiet && isQuiet(reports, digest))
      return endOccurrence(workspace, 'digest', job.data, { outcome: 'quiet' });
  }
  await postOrExplain(posting, isPosted ? reports : await fixReports(posting, reports));
}

/** Another replica, or an attempt that was killed, may have posted earlier reports. */
async function fixReports(
  { workspace, digest, job }: Posting,
  reports: readonly Gathered[],
): Promise<readonly Gathered[]> {
  if (digest.range !== 'since_last') return reports;
  const { scheduledAt } = job.data;
  const marks = Object.fromEntries(
    reports.flatMap((report) =>
      report.kind === 'reported' && report.mark ? [[report.account, report.mark] as const] : [],
    ),
  );
  const reporting = { scheduledAt, at: workspace.clock.now(), marks };
  const stored = await storePosting(workspace, digest, reporting);
  if (isDeepStrictEqual(stored.marks, marks)) return reports;
  const reported = { ...readReported(digest), posting: stored };
  return gatherReports(workspace, { ...digest, reported }, { signal: job.signal, scheduledAt });
}

/** A digest that is posted later than this counts as late. */
const PUNCTUAL_MS = 60_000;
/** Limit for an occurrence from before the start, which certainly waited for it. */
const PUNCTUAL_AT_START_MS = 5_000;

/** @param startedAt start of this process; all times in milliseconds since the epoch */
function findLateSince({ scheduledAt }: Occurrence, now: number, startedAt: number): number | undefined {
  const allowed = scheduledAt < startedAt ? PUNCTUAL_AT_START_MS : PUNCTUAL_MS;
  return now - scheduledAt >= allowed ? scheduledAt : undefined;
}

async function postOrExplain(posting: Posting, reports: readonly Gathered[]): Promise<void> {
  const { workspace, digest, job, lateSince } = posting;
  try {
    await postDigest(posting, reports);
    const outcome = lateSince === undefined ? 'posted' : 'late';
    await endOccurrence(workspace, 'digest', job.data, { outcome }, notePosted(job.data.scheduledAt));
    const { id, channel } = digest;
    workspace.log.info({ event: 'digest_posted', channel, digest: id }, 'Digest posted');
  } catch (error) {
    if (!isUndeliverable(error)) throw error;
    const paused = { cause: 'slack', reason: undeliverableReason(error) } as const;
    await pauseForOccurrence(workspace, 'digest', job.data, paused);
  }
}

/** True if no account answered and a retry would not help. */
async function isPostRefused(posting: Posting, reports: readonly Gathered[]): Promise<boolean> {
  const { workspace, digest, job } = posting;
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
    const reason = toClause(workspace.explain(refused).text);
    await pauseForOccurrence(workspace, 'digest', job.data, { cause: 'service', reason });
    return true;
  }
  // The key is missing or does not work, so all schedules of the account must pause.
  await workspace.accountsChanged();
  await endOccurrence(workspace, 'digest', job.data, {
    outcome: 'failed',
    reason: 'no connected account works',
  });
  return true;
}

/** @param startedAt start of this process, milliseconds since the epoch */
export function digestJob(startedAt: number): JobDefinition<Occurrence> {
  return defineOccurrenceJob('digest', (workspace, job) => postOccurrence(workspace, job, startedAt));
}

interface Posting {
  workspace: Workspace;
  digest: Digest;
  job: Job<Occurrence>;
  lateSince: number | undefined;
}

/**
 * Posts the occurrence's message and thread.
 * @throws SlackFailure
 */
async function postDigest(posting: Posting, reports: readonly Gathered[]): Promise<void> {
  const { workspace, digest, job, lateSince } = posting;
  const { signal, attempt } = job;
  const frame = createFrame(workspace, digest, lateSince);
  const message = digestMessage(frame, reports);
  const { channel } = digest;
  const id = nameOccurrence('digest', job.data);
  const sending = { signal, attempt };
  const { ts } = await deliver(workspace, { id, channel, message, ...sending });
  const thread = { id: `${id} reply`, channel, threadTs: ts, ...sending };
  await postReplies(workspace, thread, [...threadMessages(reports, frame).entries()]);
}

export function createFrame({ clock, pages }: Workspace, digest: Digest, lateSince?: number): DigestFrame {
  return { digest, pages, lateSince, next: findNextTime(digest, clock.now()) };
}

/** True if a retry may help. A missing feed says nothing about the account. */
export function isPassing({ cause }: AccountFailure): boolean {
  return MAY_PASS.has(cause.kind) || cause.kind === 'record_not_found';
}

export function isQuiet(reports: readonly Gathered[], { project }: Digest): boolean {
  return reports.every((report) => {
    if (report.kind === 'failed' || countDeployments(report.data) > 0) return false;
    if (report.activity.outages?.length) return false;
    // A missing or unreadable event may be a deployment.
    const total = project === undefined ? report.activity.stats?.total_deployments : undefined;
    return total === undefined ? isWhole(report.activity) : !total;
  });
}
