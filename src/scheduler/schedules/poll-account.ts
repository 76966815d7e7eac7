import { asClause } from '../../core/mrkdwn.ts';
import type { AccountClient } from '../../service/client.ts';
import type { ServiceErrorKind } from '../../service/errors.ts';
import { AccountFailure } from '../../workspace/accounts.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { explain } from '../explain.ts';
import { type PollState, STEADY } from '../polling.ts';
import { pauseAndNotify } from './pause.ts';
import type { Poll } from './poller.ts';
import type { ScheduleKind } from './reconcile-schedules.ts';

/** Answers that asking again will not change. A key that does not work pauses all of its account by itself. */
const REFUSALS: ReadonlySet<ServiceErrorKind> = new Set([
  'forbidden',
  'api_access_restricted',
  'admin_required',
  'account_not_found',
  'record_not_found',
  'invalid',
  'rejected',
]);

/**
 * Looks at an account once for all schedules of a kind. Where the service refuses, they are paused with its reason; any
 * other failure of the service slows the rounds down.
 */
export async function pollAccount<T>(
  workspace: Workspace,
  kind: ScheduleKind,
  { account: name, id, pace, signal }: Poll,
  how: { fetch(client: AccountClient): Promise<T>; take(found: T): Promise<void> },
): Promise<PollState> {
  const pausing = {
    concerns: ({ account }: { account: string | undefined }) => account === name,
    during: id,
    signal,
  };
  // A process that died while it told of a refusal left that to do.
  await pauseAndNotify(workspace, kind, { ...pausing, paused: undefined });
  const account = await workspace.accounts.get(name);
  if (account === undefined) return STEADY;
  try {
    await how.take(await workspace.accounts.use(account, how.fetch));
    return STEADY;
  } catch (error) {
    if (!(error instanceof AccountFailure) || signal.aborted) throw error;
    const { kind: failure, operation, status, retryAt } = error.cause;
    const fields = { account: name, operation, kind: failure, status };
    workspace.log.warn({ event: 'look_failed', ...fields }, 'a look at an account failed');
    if (!REFUSALS.has(failure)) return { failures: pace.failures + 1, retryAt };
    const { text } = explain(error, { word: workspace.config.SLACK_COMMAND, now: workspace.clock.now() });
    await pauseAndNotify(workspace, kind, {
      ...pausing,
      paused: { cause: 'service', reason: asClause(text) },
    });
    return STEADY;
  }
}
