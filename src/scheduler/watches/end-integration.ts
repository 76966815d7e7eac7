import { AccountFailure } from '../../core/errors.ts';
import { projectId } from '../../core/project-ref.ts';
import { withTimeout } from '../../core/time/clock.ts';
import { type Account, SCHEDULES } from '../../records/accounts.ts';
import type { Push } from '../../records/pushes.ts';
import { BASIC_FLAGS, deleteIntegration, updateIntegration } from '../../service/integrations.ts';
import type { StillOn } from '../../views/watches/watch-messages.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { REFUSALS } from '../schedules/polling.ts';

const OFF = Object.fromEntries(BASIC_FLAGS.map((flag) => [flag, false]));

/** State of an integration at the service, else why it is still on. */
export type Ending = 'off' | 'removed' | StillOn;

/** Removes the integration of a push at the service, or switches it off there. @throws AccountFailure for a failure that may pass */
export async function endAtService(
  workspace: Workspace,
  push: Push,
  signal: AbortSignal | undefined,
): Promise<Ending> {
  const { accounts, log } = workspace;
  const { integration } = push;
  if (integration === undefined) return 'noAnswer';
  const account = await accounts.get(push.account, SCHEDULES);
  if (account === undefined) return 'disconnected';
  try {
    if (await removeAtService(workspace, account, { ...push, integration }, signal)) return 'removed';
    await accounts.use(account, (client) =>
      updateIntegration(client, projectId(push.project), integration, OFF, { signal }),
    );
    return 'off';
  } catch (error) {
    if (!isCallRefused(error)) throw error;
    const { kind, status } = error.cause;
    if (kind === 'record_not_found') return 'removed';
    // The whole account was deleted there.
    if (kind === 'account_not_found') return 'off';
    const fields = { event: 'push_not_switched_off', account: push.account, kind, status };
    log.warn(fields, 'The service refused to switch an integration off');
    return 'refused';
  }
}

/** Maximum time to find out whether the service can remove integrations. */
const DESCRIPTION_TIMEOUT_MS = 2_000;

/** Returns false if the service does not offer it, or refuses. */
async function removeAtService(
  { clock, offered }: Workspace,
  account: Account,
  { project, integration }: Push & { integration: string },
  signal: AbortSignal | undefined,
): Promise<boolean> {
  if (!(await withTimeout(clock, DESCRIPTION_TIMEOUT_MS, offered.has(account, 'removal')))) return false;
  const wasThere = await offered.use(account, 'DELETE /projects/{}/integrations/{}', (client) =>
    deleteIntegration(client, projectId(project), integration, { signal }),
  );
  return wasThere !== undefined;
}

/** True if the service refuses the call, or the key. */
export function isCallRefused(error: unknown): error is AccountFailure {
  return (
    error instanceof AccountFailure && (REFUSALS.has(error.cause.kind) || error.cause.kind === 'unauthorized')
  );
}
