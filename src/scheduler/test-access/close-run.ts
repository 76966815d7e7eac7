import { deliver, isUndeliverable } from '../../cards/deliver.ts';
import type { ServiceErrorKind } from '../../core/errors.ts';
import { isDirect, type Message } from '../../core/message.ts';
import { mergeServers } from '../../records/known-servers.ts';
import {
  isUnasked,
  makeTargetKey,
  type Run,
  usualDuration,
  withDuration,
  withServerResult,
} from '../../records/test-runs.ts';
import { projectUrl } from '../../service/addresses.ts';
import { readRunTimes, summarizeRun } from '../../service/projects.ts';
import { isThreadGone } from '../../slack/failure.ts';
import { notifyUser } from '../../slack/slack.ts';
import { type TestState, testRootMessage } from '../../views/test-access/test-run.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { failingIn, tellWaiting } from '../run-ends.ts';
import type { RunEnding } from '../workflows/end-steps.ts';

/** Records the end of a run, frees its target, and notifies whoever waits for it. Safe to repeat. */
export async function closeRun(workspace: Workspace, run: Run, ending: RunEnding): Promise<void> {
  const endedAt = workspace.clock.now();
  const closed = await workspace.runs.change(run, (current) => ({
    ...makeRunChange(current, ending),
    ...('run' in ending ? withDuration(current, readRunTimes(ending.run), endedAt) : {}),
    endedAt,
  }));
  if (closed === undefined) return;
  await correctWhole(workspace, closed);
  await tellWaiting(workspace, closed, ending);
  await postToOthers(workspace, closed, ending);
}

/** After a test of one server, updates the server in an older run of its project. */
async function correctWhole(
  { runs }: Workspace,
  { target, status, reachable, total, failing, channel, endedAt = 0 }: Run,
): Promise<void> {
  const { server, ...project } = target;
  if (server === undefined || status !== 'completed' || total !== 1) return;
  const whole = await runs.latest(project);
  // Only its own person reads a direct message.
  if (whole === undefined || (isDirect(channel) && channel !== whole.channel)) return;
  await runs.change(whole, (current) =>
    current.status === 'completed' && (current.endedAt ?? 0) < endedAt
      ? withServerResult(current, server, reachable === 1, failing)
      : {},
  );
}

const FORBIDDEN: ReadonlySet<string> = new Set<ServiceErrorKind>([
  'forbidden',
  'api_access_restricted',
  'admin_required',
]);

function makeRunChange(run: Run, ending: RunEnding): Partial<Run> {
  if ('status' in ending) {
    const { status, failure } = ending;
    if (!run.unasked || !isUnasked(run)) return { status };
    return { status, unasked: { ...run.unasked, isForbidden: FORBIDDEN.has(failure?.kind ?? '') } };
  }
  const status = ending.run.status === 'failed' ? 'failed' : 'completed';
  const servers = mergeServers([], ending.run.results?.servers ?? []);
  const optionalServers = servers.length === 0 ? {} : { servers };
  const failing = failingIn(run.target, ending.run);
  return { status, failing, ...summarizeRun(ending.run), ...readRunTimes(ending.run), ...optionalServers };
}

/** Posts the outcome to everybody who requested the run while no message showed it. */
async function postToOthers(workspace: Workspace, run: Run, ending: RunEnding): Promise<void> {
  const state: TestState =
    'run' in ending ? { kind: 'ended', run: ending.run } : { kind: 'stopped', reason: ending.reason };
  for (const { requestId, requestedBy, channel, threadTs } of run.requests ?? []) {
    if (channel === undefined) continue;
    const message = drawRoot(workspace, { ...run, requestedBy }, state);
    try {
      await deliver(workspace, { id: `test ${requestId}`, channel, threadTs, message });
    } catch (error) {
      if (!isUndeliverable(error)) throw error;
      if (isThreadGone(error) && requestedBy !== undefined)
        await notifyUser(workspace.slack, { user: requestedBy, channel }, message);
      const fields = { event: 'message_refused', channel, method: error.method, reason: error.reason };
      workspace.log.warn(fields, 'Slack refused a message');
    }
  }
}

export function drawRoot({ clock, config }: Workspace, run: Run, state: TestState): Message {
  return testRootMessage({
    ...run,
    now: clock.now(),
    usualMs: usualDuration(run),
    state,
    projectUrl: projectUrl(run.target.account, run.target.project.permalink, config.SERVICE_BASE_URL),
    runKey: makeTargetKey(run.target),
  });
}
