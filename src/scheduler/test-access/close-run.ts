import { deliver, isUndeliverable } from '../../cards/deliver.ts';
import type { ServiceErrorKind } from '../../core/errors.ts';
import { isDirect, type Message } from '../../core/message.ts';
import { capitalised, toClause } from '../../core/mrkdwn.ts';
import { projectId } from '../../core/project-ref.ts';
import {
  DIAGNOSIS_JOBS,
  EPISODE_JOBS,
  type FailedItem,
  findFailing,
  type Outcome,
} from '../../records/episodes.ts';
import { mergeServers } from '../../records/servers.ts';
import {
  GUARD_RESULTS,
  type GuardCheck,
  type GuardResult,
  isUnasked,
  makeTargetKey,
  type Run,
  type Target,
  usualDuration,
  withDuration,
  withServerResult,
} from '../../records/test-runs.ts';
import { projectUrl } from '../../service/addresses.ts';
import { isFailing, listItems, readRunTimes, summarizeRun } from '../../service/projects.ts';
import { isThreadGone } from '../../slack/failure.ts';
import { notifyUser } from '../../slack/slack.ts';
import { outcomeWords, type TestState, testRootMessage } from '../../views/test-access/test-run.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { endSteps, type RunEnding, stepEnding } from '../workflows/end-steps.ts';

/** Records the end of a run, frees its target, and notifies whoever waits for it. Safe to repeat. */
export async function closeRun(workspace: Workspace, run: Run, ending: RunEnding): Promise<void> {
  const endedAt = workspace.clock.now();
  const closed = await workspace.runs.change(run, (current) => ({
    ...makeRunChange(current, ending),
    ...('run' in ending ? withDuration(current, readRunTimes(ending.run), endedAt) : {}),
    endedAt,
  }));
  if (closed === undefined) return;
  const { steps = [], guards = [] } = closed;
  await correctWhole(workspace, closed);
  if ('run' in ending) await noteInEpisodes(workspace, closed, ending.run, endedAt);
  if (steps.length > 0) await endSteps(workspace, steps, await stepEnding(workspace, closed, ending));
  for (const check of guards) {
    const key = `${check.id} ${check.at} ${run.requestId}`;
    await workspace.jobs.send(GUARD_RESULTS, makeGuardResult(closed, check, ending, endedAt), { key });
  }
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

type EndedRun = Extract<RunEnding, { run: unknown }>['run'];

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

/**
 * Updates the episodes of guards and failed deployments, because any test of a project shows what is
 * reachable now.
 */
async function noteInEpisodes(
  { jobs, store }: Workspace,
  { target, requestId }: Run,
  run: EndedRun,
  at: number,
): Promise<void> {
  const { account, project, server } = target;
  const items = listItems(target, run.results);
  if (items.length === 0) return;
  const outcome = summarizeRun(run);
  const { words } = outcomeWords(outcome, target);
  // A whole run no longer lists a deleted server, so no episode waits for it.
  const isWhole = server === undefined && run.status === 'completed' && (outcome.unread ?? 0) === 0;
  const noted: Outcome = {
    kind: 'success',
    id: `${requestId} seen`,
    at,
    lines: [capitalised(words)],
    words,
    items: failingIn(target, run),
    tested: isWhole ? undefined : items.map(({ key }) => key),
  };
  for (const { key, kind } of await findFailing(store, { account, project: projectId(project) })) {
    const once = { key: `${key} ${requestId}` };
    if (kind === 'reachability') await jobs.send(EPISODE_JOBS, { key, outcome: noted }, once);
    else await jobs.send(DIAGNOSIS_JOBS, { key }, once);
  }
}

/** Maximum number of parts in an episode. */
const MAX_UNREACHABLE = 20;

function failingIn(target: Target, { results }: EndedRun): FailedItem[] {
  const failing = listItems(target, results).filter(isFailing).slice(0, MAX_UNREACHABLE);
  return failing.map(({ key, title, message }) => ({
    key: key.slice(0, 200),
    title: title.slice(0, 200),
    message: message?.slice(0, 300) ?? null,
  }));
}

function makeGuardResult(
  { target, requestId }: Run,
  check: GuardCheck,
  ending: RunEnding,
  at: number,
): GuardResult {
  const about = { check, requestId, at };
  if ('status' in ending) {
    const { reason, failure } = ending;
    return { ...about, words: failure?.reason ?? toClause(reason), failure: failure?.kind };
  }
  const { run } = ending;
  const { words, isSuccess } = outcomeWords(summarizeRun(run), target);
  const unreachable = failingIn(target, run);
  if (unreachable.length > 0 || isSuccess) return { ...about, words, unreachable };
  if (run.status !== 'failed') return { ...about, words };
  // A run without results says nothing about the servers, but deserves the same attention.
  return { ...about, words, unreachable: [{ key: 'test', title: 'Test', message: null }] };
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
