import { MAY_PASS } from '../../core/errors.ts';
import { bold } from '../../core/mrkdwn.ts';
import type { ProjectRef } from '../../core/project-ref.ts';
import { AccountKeyUnreadable } from '../../records/account-keys.ts';
import { type Account, AccountFailure } from '../../records/accounts.ts';
import type { Digest } from '../../records/schedules.ts';
import { getActivity } from '../../service/activity.ts';
import type { SkippedRows } from '../../service/call.ts';
import { chartOf, eventsOf } from '../../views/activity/activity.ts';
import { totalOf } from '../../views/activity/chart.ts';
import { unlistedFailures } from '../../views/activity/stats.ts';
import { failureWords } from '../../views/blocks/failures.ts';
import type { AccountReport } from '../../views/digests/digest.ts';
import { findCurrentProject } from '../../workspace/projects.ts';
import type { Workspace } from '../../workspace/workspace.ts';

/** The report of an account, and the failure where there is none. */
export type Gathered = AccountReport & {
  error?: AccountFailure;
  /** The account answered, and does not list the project of the digest any more. */
  isGone?: boolean;
};

/** Asks each account that the digest covers; one that fails does not stop the others. API 4.9 (docs/service-api.md). */
export async function gatherReports(
  workspace: Workspace,
  digest: Digest,
  signal?: AbortSignal,
): Promise<Gathered[]> {
  const accounts = await workspace.accounts.list();
  const covered = accounts.filter(({ name }) => digest.account === undefined || name === digest.account);
  return Promise.all(covered.map((account) => reportOf(workspace, digest, account, signal)));
}

async function reportOf(
  workspace: Workspace,
  digest: Digest,
  account: Account,
  signal: AbortSignal | undefined,
): Promise<Gathered> {
  const now = workspace.clock.now();
  try {
    const { range, zone, project } = digest;
    const skipped: SkippedRows[] = [];
    const whole = await workspace.accounts.use(account, (client) =>
      getActivity(client, { range, stats: true }, { signal, skipped }),
    );
    const events = project === undefined ? whole.events : eventsOf(whole.events, project);
    if (project !== undefined && events.length === 0) {
      const current = await findCurrentProject(workspace.projects, account, project);
      if (current === undefined) return gone(account, project);
    }
    const data = chartOf({ account: account.name, range, zone, project }, whole, now);
    const activity = { ...whole, events };
    const unlisted = unlistedFailures(whole);
    return { kind: 'reported', account: account.name, activity, data, unlisted, skipped };
  } catch (error) {
    if (!(error instanceof AccountFailure || error instanceof AccountKeyUnreadable)) throw error;
    const said = failureWords(workspace.explain(error));
    const failed = { kind: 'failed', account: account.name, said } as const;
    if (error instanceof AccountKeyUnreadable) return failed;
    const { operation, kind, status } = error.cause;
    const fields = { account: account.name, digest: digest.id, operation, kind, status };
    workspace.log.warn({ event: 'digest_account_failed', ...fields }, 'Account of a digest did not answer');
    return { ...failed, error };
  }
}

function gone({ name: account }: Account, { name }: ProjectRef): Gathered {
  return { kind: 'failed', account, said: `${bold(name)} is no longer listed.`, isGone: true };
}

/** It may be over in a minute. A feed that is not found says nothing about the account. */
export function isPassing({ cause }: AccountFailure): boolean {
  return MAY_PASS.has(cause.kind) || cause.kind === 'record_not_found';
}

/** True where every account answered, and none had a deployment. */
export function isQuiet(reports: readonly Gathered[], { project }: Digest): boolean {
  return reports.every((report) => {
    if (report.kind === 'failed' || totalOf(report.data) > 0) return false;
    // What a truncated feed leaves out, or what could not be read, may be a deployment.
    const { stats, unread } = report.activity;
    const isWhole = !report.data.isTruncated && unread === undefined;
    if (project !== undefined) return isWhole;
    return stats?.total_deployments === undefined ? isWhole : !stats.total_deployments;
  });
}
