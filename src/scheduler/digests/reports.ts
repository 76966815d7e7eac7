import { getActivity } from '../../service/activity.ts';
import type { ServiceErrorKind } from '../../service/errors.ts';
import { eventsOf, isCut } from '../../views/activity/activity.ts';
import { deploymentsByDay, type PastRate, totalOf } from '../../views/activity/deployments-chart.ts';
import { RANGE_WORDS } from '../../views/activity/ranges.ts';
import { dayOf } from '../../views/blocks/days.ts';
import type { AccountReport, ToldReport } from '../../views/digests/digest.ts';
import { type Account, AccountFailure } from '../../workspace/accounts.ts';
import type { Digest } from '../../workspace/digests.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { explain } from '../explain.ts';

/** The report of an account, and the failure where there is none. */
export type Gathered = AccountReport & { error?: AccountFailure };

/** What may be over in a minute. */
const PASSING: ReadonlySet<ServiceErrorKind> = new Set(['busy', 'unreachable', 'unexpected']);

/** Asks each account that the digest covers; one that fails does not stop the others. Spec 4.9. */
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
    const whole = await workspace.accounts.use(account, (client) =>
      getActivity(client, { range, stats: true }, signal === undefined ? {} : { signal }),
    );
    const events = project === undefined ? whole.events : eventsOf(whole.events, project.permalink);
    const cut = isCut(whole);
    const data = {
      title: `${project === undefined ? '' : `${project.name} in `}${account.name}, ${RANGE_WORDS[range].name}`,
      zone,
      days: deploymentsByDay(events, { range, zone, now, isCut: cut }),
      isCut: cut,
      rates: [
        ...pastRatesOf(digest, account.name),
        { day: dayOf(zone, now), rate: whole.stats?.success_rate ?? null },
      ],
    };
    return { kind: 'told', account: account.name, activity: { ...whole, events }, data };
  } catch (error) {
    if (!(error instanceof AccountFailure)) throw error;
    const { text, next } = explain(error, { word: workspace.config.SLACK_COMMAND, now });
    const { operation, kind, status } = error.cause;
    const fields = {
      account: account.name,
      digest: digest.id,
      operation,
      kind,
      status,
    };
    workspace.log.warn(
      { event: 'digest_account_failed', ...fields },
      'an account of a digest did not answer',
    );
    const said = [text, next].filter(Boolean).join(' ');
    return { kind: 'failed', account: account.name, said, error };
  }
}

function pastRatesOf({ pastRates, zone }: Digest, account: string): PastRate[] {
  return pastRates.flatMap(({ slotAt, rates }) => {
    const rate = rates[account];
    return rate === undefined ? [] : [{ day: dayOf(zone, slotAt), rate }];
  });
}

export function toldOf(reports: readonly Gathered[]): ToldReport[] {
  return reports.filter((report) => report.kind === 'told');
}

export function failuresOf(reports: readonly Gathered[]): AccountFailure[] {
  return reports.flatMap(({ error }) => (error === undefined ? [] : [error]));
}

export function isPassing({ cause }: AccountFailure): boolean {
  return PASSING.has(cause.kind);
}

/** True where every account answered, and none had a deployment. */
export function isQuiet(reports: readonly Gathered[], { project }: Digest): boolean {
  return reports.every((report) => {
    if (report.kind === 'failed' || totalOf(report.data) > 0) return false;
    // Of a cut feed nobody knows what it held before.
    if (project !== undefined) return !report.data.isCut;
    return (report.activity.stats?.total_deployments ?? 0) === 0;
  });
}
