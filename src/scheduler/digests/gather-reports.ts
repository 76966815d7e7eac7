import { isDeepStrictEqual } from 'node:util';
import { findDelivered } from '../../cards/deliver.ts';
import { AccountFailure, AccountKeyUnreadable } from '../../core/errors.ts';
import { bold, code } from '../../core/mrkdwn.ts';
import { type ProjectRef, projectId } from '../../core/project-ref.ts';
import { previousOccurrence } from '../../core/time/cron.ts';
import {
  type ActivityRange,
  computePeriods,
  findServiceRange,
  type Periods,
  type Range,
} from '../../core/time/range.ts';
import type { Account } from '../../records/accounts.ts';
import {
  type Mark,
  type Posting,
  type Reported,
  withPosted,
  withPosting,
} from '../../records/digest-marks.ts';
import { episodeRecords, type Subject } from '../../records/episodes.ts';
import { isFailed, isSettled, listClosed } from '../../records/failure-rules.ts';
import type { KnownActivity } from '../../records/ledger.ts';
import { isOutage } from '../../records/reachability.ts';
import { readRecoveries } from '../../records/recoveries.ts';
import { type Digest, makeCron, type TimedSchedule } from '../../records/schedules.ts';
import { failureKey, readShared } from '../../records/shared-failures.ts';
import { countByDay } from '../../service/activity.ts';
import type { SkippedRows } from '../../service/call.ts';
import { unlistedFailures } from '../../views/activity/activity-message.ts';
import { waitingWords } from '../../views/activity/waiting.ts';
import { failureWords } from '../../views/blocks/failures.ts';
import type { AccountReport, StillFailing } from '../../views/digests/digest-message.ts';
import { findCurrentProject } from '../../workspace/project-list.ts';
import { fetchActivity, readKnownActivity, readUnreported } from '../../workspace/read-activity.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { nameOccurrence } from '../schedules/occurrences.ts';

/** Report of an account, or the failure that prevented it. */
export type Gathered = AccountReport & {
  error?: AccountFailure;
  /** True if the account answered, but no longer lists the digest's project. */
  isGone?: boolean;
  /** How far a digest of the range `since_last` reports. */
  mark?: Mark | undefined;
};

interface Gathering {
  signal?: AbortSignal;
  /** The occurrence; undefined for a preview. */
  scheduledAt?: number;
}

/** Reads each account of the digest. A failure of one does not stop the others. API 4.9 (docs/service-api.md). */
export async function gatherReports(
  workspace: Workspace,
  digest: Digest,
  gathering: Gathering = {},
): Promise<Gathered[]> {
  const accounts = await workspace.accounts.list();
  const covered = accounts.filter(({ name }) => digest.account === undefined || name === digest.account);
  return Promise.all(covered.map((account) => readReport(workspace, digest, account, gathering)));
}

async function readReport(
  workspace: Workspace,
  digest: Digest,
  account: Account,
  gathering: Gathering,
): Promise<Gathered> {
  const now = workspace.clock.now();
  try {
    const { range, zone, project, channel } = digest;
    const skipped: SkippedRows[] = [];
    const reading = { ...gathering, account, skipped };
    const { activity, periods, mark, days } =
      range === 'since_last'
        ? await readSinceLast(workspace, digest, reading)
        : await readRange(workspace, { ...digest, range }, reading);
    if (project !== undefined && activity.events.length === 0) {
      const current = await findCurrentProject(workspace.projects, account, project);
      if (current === undefined) return gone(workspace, account, project);
    }
    const data = countByDay({ range: days, zone }, activity, now);
    const unlisted = unlistedFailures(activity);
    const of = project && { account: account.name, project };
    const [recovery] = of ? await readRecoveries(workspace, { periods, of, channel }) : [];
    const from = mark && periods.from;
    const failing = await readStillFailing(workspace, account.name, project);
    const waiting = await describeWaiting(workspace, account, digest);
    const figures = { activity, data, unlisted, recovery, skipped, failing, waiting };
    return { kind: 'reported', account: account.name, ...figures, mark, from };
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

/** "12 commits wait to be deployed", for a digest of one project. */
async function describeWaiting(
  { clock, waitingCommits }: Workspace,
  account: Account,
  { project, zone }: Digest,
): Promise<string | undefined> {
  const commits = project && (await waitingCommits(account, projectId(project)));
  return commits && waitingWords(commits, { zone, now: clock.now() });
}

/** Failures of now, by the latest deployments and tests, without what was closed or has had no news for a week. */
async function readStillFailing(
  { clock, ledger, store }: Workspace,
  account: string,
  project: ProjectRef | undefined,
): Promise<StillFailing[]> {
  const standings =
    project === undefined
      ? await ledger.standings.list(account)
      : [await ledger.standings.get(account, projectId(project))].filter((one) => one !== undefined);
  const failing = standings.filter(
    ({ servers, unreachable = [] }) => servers.some(isFailed) || unreachable.some(isOutage),
  );
  if (failing.length === 0) return [];
  const closed = listClosed((await episodeRecords(store).list()).map(({ doc }) => doc));
  const all = failing.flatMap((standing): Array<StillFailing & { kind: Subject['kind'] }> => {
    const { name, permalink, servers, unreachable = [] } = standing;
    const failed = servers.filter(isFailed);
    const key = failureKey({ kind: 'deployments', account, project: standing.project });
    const isClosed = failed.length === 0 || isSettled(failed, closed.get(key), clock.now());
    const items = unreachable.filter(isOutage);
    const of = { project: standing.project, name: name || standing.project, permalink };
    const deployments = {
      ...of,
      kind: 'deployments' as const,
      titles: failed.map((one) => one.name).filter(Boolean),
      since: Math.min(...failed.map((one) => one.since ?? one.latest.at)),
    };
    const reachability = {
      ...of,
      kind: 'reachability' as const,
      titles: items.map(({ title }) => title),
      since: Math.min(...items.map(({ since }) => since)),
      reason: items[0]?.reason,
    };
    return [...(isClosed ? [] : [deployments]), ...(items.length === 0 ? [] : [reachability])];
  });
  const withOwners = all.map(async (one) => ({
    ...one,
    owner: (await readShared(store, { kind: one.kind, account, project: one.project })).owner,
  }));
  return (await Promise.all(withOwners)).toSorted((one, other) => other.since - one.since);
}

interface Read {
  activity: KnownActivity;
  periods: Periods;
  /** Days of the chart. */
  days: Range | number;
  /** How far a digest of the range `since_last` reports. */
  mark?: Mark;
}

type Reading = Gathering & { account: Account; skipped: SkippedRows[] };

async function readRange(
  workspace: Workspace,
  { range, zone, project }: Digest & { range: ActivityRange },
  { account, signal, skipped }: Reading,
): Promise<Read> {
  const isWhole = project === undefined;
  const page = await fetchActivity(workspace, account, { range, stats: isWhole }, { signal, skipped });
  const query = { range, zone, project, isCompared: !isWhole };
  const activity = await readKnownActivity(workspace, account, query, page);
  return { activity, periods: computePeriods(range, zone, workspace.clock.now()), days: range };
}

async function readSinceLast(
  workspace: Workspace,
  digest: Digest,
  { account, signal, skipped, scheduledAt }: Reading,
): Promise<Read> {
  const { project } = digest;
  const { from: begin, marks, posting } = readReported(digest);
  const earlier = posting?.scheduledAt === scheduledAt ? posting : undefined;
  const at = earlier?.at ?? workspace.clock.now();
  const mark = marks[account.name];
  const usual = scheduledAt === undefined ? previewFrom(digest, at) : begin;
  const first = findFirst(usual, marks, account);
  const range = findServiceRange(mark?.at ?? first, at);
  const request = { range, stats: project === undefined };
  const page = await fetchActivity(workspace, account, request, { signal, skipped });
  const until = earlier?.marks[account.name]?.next;
  const query = { mark, from: first, until, at, project };
  const { from, next, ...activity } = await readUnreported(workspace, account, query, page);
  const periods = { from, before: { from: from - (at - from), to: from } };
  return { activity, periods, days: from, mark: { next, at } };
}

/** Beginning of the first report of an account. One that was connected after earlier digests begins with the last of them. */
function findFirst(begin: number, marks: Readonly<Record<string, Mark>>, { createdAt }: Account): number {
  const lastAt = Math.max(begin, ...Object.values(marks).map(({ at }) => at));
  return Math.max(begin, Math.min(lastAt, createdAt));
}

function gone({ word }: Workspace, { name: account }: Account, { name }: ProjectRef): Gathered {
  const next = `Choose another project with ${code(`${word} digest edit`)}.`;
  return { kind: 'failed', account, reason: `${bold(name)} is no longer listed. ${next}`, isGone: true };
}

/** How far a digest has reported. Its first one begins one cadence before it. Pure. */
export function readReported({
  reported,
  cadence,
  zone,
  createdAt,
  activeSince = createdAt,
}: Digest): Reported {
  if (reported !== undefined) return reported;
  return { from: previousOccurrence(makeCron(cadence), zone, activeSince), marks: {} };
}

/** Beginning of what a preview shows: one cadence before now, if no digest was posted yet. Pure. @param now milliseconds since the epoch */
export function previewFrom(digest: Digest, now: number): number {
  const { from } = readReported(digest);
  const cadenceMs = from - previousOccurrence(makeCron(digest.cadence), digest.zone, from - 1);
  return digest.reported === undefined ? Math.min(from, now - cadenceMs) : from;
}

/** Brings what is stored up to date before an occurrence: a kill may have followed the post of the one before. */
export async function beginReport(
  workspace: Workspace,
  digest: Digest,
  scheduledAt: number,
): Promise<Digest> {
  if (digest.range !== 'since_last') return digest;
  const before = readReported(digest);
  const earlier = before.posting?.scheduledAt ?? scheduledAt;
  const wasPosted =
    earlier !== scheduledAt &&
    (await findDelivered(workspace, nameOccurrence('digest', { id: digest.id, scheduledAt: earlier }))) !==
      undefined;
  const reported = wasPosted ? withPosted(before, earlier) : before;
  if (isDeepStrictEqual(reported, digest.reported)) return digest;
  return (await workspace.schedules.change(digest, (current) => ({ ...current, reported }))) ?? digest;
}

/**
 * Stores what an occurrence is about to report, before its post, so that each attempt reports the same.
 * @returns what the first attempt stored
 */
export async function storePosting(
  { schedules }: Workspace,
  digest: Digest,
  posting: Posting,
): Promise<Posting> {
  const changed = await schedules.change(digest, (current) => ({
    ...current,
    reported: withPosting(readReported(current), posting),
  }));
  return changed?.reported?.posting ?? posting;
}

/** Counts an occurrence as reported. Another range is no part of what `since_last` has reported. */
export function notePosted(scheduledAt: number): <S extends TimedSchedule>(current: S) => S {
  return (current) => {
    if (current.kind !== 'digest' || current.reported === undefined) return current;
    const isCounted = current.range === 'since_last';
    return { ...current, reported: isCounted ? withPosted(current.reported, scheduledAt) : undefined };
  };
}
