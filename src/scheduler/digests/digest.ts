import {
  deliver,
  findDelivered,
  isUndeliverable,
  postReplies,
  undeliverableReason,
} from '../../cards/deliver.ts';
import { AccountFailure, AccountKeyUnreadable, MAY_PASS } from '../../core/errors.ts';
import { bold, toClause } from '../../core/mrkdwn.ts';
import type { ProjectRef } from '../../core/project-ref.ts';
import type { Job } from '../../jobs/jobs.ts';
import type { Account } from '../../records/accounts.ts';
import { readRecoveries } from '../../records/recoveries.ts';
import { accountsChanged, type Digest, findNextTime } from '../../records/schedules.ts';
import { countByDay, countDeployments } from '../../service/activity.ts';
import type { SkippedRows } from '../../service/call.ts';
import { unlistedFailures } from '../../views/activity/activity.ts';
import { failureWords } from '../../views/blocks/failures.ts';
import {
  type AccountReport,
  type DigestFrame,
  digestMessage,
  threadMessages,
} from '../../views/digests/digest.ts';
import { fetchActivity, readKnownActivity } from '../../workspace/activity.ts';
import type { JobDefinition } from '../../workspace/define-job.ts';
import { findCurrentProject } from '../../workspace/projects.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import {
  beginOccurrence,
  defineOccurrenceJob,
  endOccurrence,
  nameOccurrence,
  type Occurrence,
  pauseForOccurrence,
} from '../schedules/timed.ts';

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
async function runDigest(workspace: Workspace, job: Job<Occurrence>, startedAt: number): Promise<void> {
  const isPosted = (await findDelivered(workspace, nameOccurrence('digest', job.data))) !== undefined;
  const digest = await beginOccurrence(workspace, 'digest', job, isPosted);
  if (digest === undefined) return;
  const lateSince = findLateSince(job.data, workspace.clock.now(), startedAt);
  const run: OccurrenceRun = { workspace, digest, job, lateSince };
  const reports = await gatherReports(workspace, digest, job.signal);
  if (!isPosted) {
    if (
      reports.every(({ kind, isGone }) => kind === 'failed' && isGone !== true) &&
      (await isPostRefused(run, reports))
    )
      return;
    if (digest.skipQuiet && isQuiet(reports, digest))
      return endOccurrence(workspace, 'digest', job.data, { outcome: 'quiet' });
  }
  await postOrExplain(run, reports);
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

async function postOrExplain(run: OccurrenceRun, reports: readonly Gathered[]): Promise<void> {
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

/** True if no account answered and a retry would not help. */
async function isPostRefused(run: OccurrenceRun, reports: readonly Gathered[]): Promise<boolean> {
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
    const reason = toClause(workspace.explain(refused).text);
    await pauseForOccurrence(workspace, 'digest', job.data, { cause: 'service', reason });
    return true;
  }
  // The key is missing or does not work, so all schedules of the account must pause.
  await accountsChanged(workspace);
  await endOccurrence(workspace, 'digest', job.data, {
    outcome: 'failed',
    reason: 'no connected account works',
  });
  return true;
}

/** @param startedAt start of this process, milliseconds since the epoch */
export function digestJob(startedAt: number): JobDefinition<Occurrence> {
  return defineOccurrenceJob('digest', (workspace, job) => runDigest(workspace, job, startedAt));
}

interface OccurrenceRun {
  workspace: Workspace;
  digest: Digest;
  job: Job<Occurrence>;
  lateSince: number | undefined;
}

/**
 * Posts the occurrence's message and thread.
 * @throws SlackFailure
 */
async function postDigest(run: OccurrenceRun, reports: readonly Gathered[]): Promise<void> {
  const { workspace, digest, job, lateSince } = run;
  const { signal, attempt } = job;
  const message = digestMessage(createFrame(workspace, digest, lateSince), reports);
  const { channel } = digest;
  const id = nameOccurrence('digest', job.data);
  const sending = { signal, attempt };
  const { ts } = await deliver(workspace, { id, channel, message, ...sending });
  const thread = { id: `${id} reply`, channel, threadTs: ts, ...sending };
  await postReplies(workspace, thread, [...threadMessages(reports, digest).entries()]);
}

export function createFrame({ clock }: Workspace, digest: Digest, lateSince?: number): DigestFrame {
  return { digest, lateSince, next: findNextTime(digest, clock.now()) };
}

/** Report of an account, or the failure that prevented it. */
export type Gathered = AccountReport & {
  error?: AccountFailure;
  /** True if the account answered, but no longer lists the digest's project. */
  isGone?: boolean;
};

/** Reads each account of the digest. A failure of one does not stop the others. API 4.9 (docs/service-api.md). */
export async function gatherReports(
  workspace: Workspace,
  digest: Digest,
  signal?: AbortSignal,
): Promise<Gathered[]> {
  const accounts = await workspace.accounts.list();
  const covered = accounts.filter(({ name }) => digest.account === undefined || name === digest.account);
  return Promise.all(covered.map((account) => readReport(workspace, digest, account, signal)));
}

async function readReport(
  workspace: Workspace,
  digest: Digest,
  account: Account,
  signal: AbortSignal | undefined,
): Promise<Gathered> {
  const now = workspace.clock.now();
  try {
    const { range, zone, project, channel } = digest;
    const skipped: SkippedRows[] = [];
    const isWhole = project === undefined;
    const page = await fetchActivity(workspace, account, { range, stats: isWhole }, { signal, skipped });
    const activity = await readKnownActivity(workspace, account, { range, zone, project }, page);
    if (project !== undefined && activity.events.length === 0) {
      const current = await findCurrentProject(workspace.projects, account, project);
      if (current === undefined) return gone(account, project);
    }
    const data = countByDay({ range, zone }, activity, now);
    const unlisted = unlistedFailures(activity);
    const of = project && { account: account.name, project };
    const [recovery] = of ? await readRecoveries(workspace, { range, zone, of, channel }) : [];
    return { kind: 'reported', account: account.name, activity, data, unlisted, recovery, skipped };
  } catch (error) {
    if (!(error instanceof AccountFailure || error instanceof AccountKeyUnreadable)) throw error;
    const reason = failureWords(workspace.explain(error));
    const failed = { kind: 'failed', account: account.name, reason } as const;
    if (error instanceof AccountKeyUnreadable) return failed;
    const { operation, kind, status } = error.cause;
    const fields = { account: account.name, digest: digest.id, operation, kind, status };
    workspace.log.warn({ event: 'digest_account_failed', ...fields }, 'Account not read for a digest');
    return { ...failed, error };
  }
}

function gone({ name: account }: Account, { name }: ProjectRef): Gathered {
  return { kind: 'failed', account, reason: `${bold(name)} is no longer listed.`, isGone: true };
}

/** True if a retry may help. A missing feed says nothing about the account. */
export function isPassing({ cause }: AccountFailure): boolean {
  return MAY_PASS.has(cause.kind) || cause.kind === 'record_not_found';
}

export function isQuiet(reports: readonly Gathered[], { project }: Digest): boolean {
  return reports.every((report) => {
    if (report.kind === 'failed' || countDeployments(report.data) > 0) return false;
    // A missing or unreadable event may be a deployment.
    const { stats, unread } = report.activity;
    const isWhole = !report.data.isTruncated && report.activity.gaps.length === 0 && unread === undefined;
    if (project !== undefined) return isWhole;
    return stats?.total_deployments === undefined ? isWhole : !stats.total_deployments;
  });
}
