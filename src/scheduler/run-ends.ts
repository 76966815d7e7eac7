import { z } from 'zod';
import { capitalised, toClause } from '../core/mrkdwn.ts';
import { projectId } from '../core/project-ref.ts';
import type { JobType } from '../jobs/jobs.ts';
import { FailedItem, findFailing, type Outcome } from '../records/episodes.ts';
import { readShared } from '../records/shared-failures.ts';
import { GuardCheck, type Run, type Target } from '../records/test-runs.ts';
import { isFailing, listItems, summarizeRun } from '../service/projects.ts';
import { describeOutcome } from '../views/test-access/test-run.ts';
import type { Workspace } from '../workspace/workspace.ts';
import { DIAGNOSIS_JOBS, EPISODE_JOBS } from './episodes/queues.ts';
import { endSteps, type RunEnding, stepEnding } from './workflows/end-steps.ts';

/**
 * Sends the outcome of a run to what waits for it: failures of its project, workflow steps and guards. Safe to
 * repeat.
 */
export async function tellWaiting(workspace: Workspace, run: Run, ending: RunEnding): Promise<void> {
  const { requestId, steps = [], guards = [], endedAt = workspace.clock.now() } = run;
  if ('run' in ending) await noteInLedger(workspace, run, ending.run, endedAt);
  if ('run' in ending) await tellFailures(workspace, run, ending.run, endedAt);
  if (steps.length > 0) await endSteps(workspace, steps, await stepEnding(workspace, run, ending));
  for (const check of guards) {
    const key = `${check.id} ${check.at} ${requestId}`;
    await workspace.jobs.send(GUARD_RESULTS, makeGuardResult(run, check, ending, endedAt), { key });
  }
}

type EndedRun = Extract<RunEnding, { run: unknown }>['run'];

/** Any test of a project shows what is reachable now, whoever asked for it. */
async function noteInLedger(
  { ledger, store }: Workspace,
  { target, requestId }: Run,
  run: EndedRun,
  at: number,
): Promise<void> {
  const { account, project } = target;
  const { name, permalink } = project;
  const tested = listItems(target, run.results).filter(({ status }) => status !== undefined);
  if (tested.length === 0) return;
  const items = tested.map((item) => ({ ...item, isReachable: !isFailing(item), reason: item.message }));
  const key = projectId(project);
  const { owner } = await readShared(store, { kind: 'reachability', account, project: key });
  const about = { account, project: key, name, permalink, owner };
  await ledger.noteTest(about, { items, isWhole: isWhole(target, run), at }, requestId);
}

/** True if the run tested all that the project has. */
function isWhole({ server }: Target, run: EndedRun): boolean {
  return server === undefined && run.status === 'completed' && !summarizeRun(run).unread;
}

/**
 * Updates the episodes of guards and failed deployments, because any test of a project shows what is
 * reachable now.
 */
async function tellFailures(
  { jobs, store }: Workspace,
  { target, requestId }: Run,
  run: EndedRun,
  at: number,
): Promise<void> {
  const { account, project } = target;
  const items = listItems(target, run.results);
  if (items.length === 0) return;
  const { words } = describeOutcome(summarizeRun(run), target);
  const noted: Outcome = {
    kind: 'success',
    id: `${requestId} seen`,
    at,
    lines: [capitalised(words)],
    words,
    items: failingIn(target, run),
    // A whole run no longer lists a deleted server, so no episode waits for it.
    tested: isWhole(target, run) ? undefined : items.map(({ key }) => key),
  };
  for (const { key, kind } of await findFailing(store, { account, project: projectId(project) })) {
    const once = { key: `${key} ${requestId}` };
    if (kind === 'reachability') await jobs.send(EPISODE_JOBS, { key, outcome: noted }, once);
    else await jobs.send(DIAGNOSIS_JOBS, { key }, once);
  }
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
  const { words, isSuccess } = describeOutcome(summarizeRun(run), target);
  const unreachable = failingIn(target, run);
  if (unreachable.length > 0 || isSuccess) return { ...about, words, unreachable };
  if (run.status !== 'failed') return { ...about, words };
  // A run without results says nothing about the servers, but deserves the same attention.
  return { ...about, words, unreachable: [{ key: 'test', title: 'Test', message: null }] };
}

/** Maximum number of parts in an episode. */
const MAX_UNREACHABLE = 20;

/** The unreachable parts, shortened. The text comes from the service. */
export function failingIn(target: Target, { results }: EndedRun): FailedItem[] {
  const failing = listItems(target, results).filter(isFailing).slice(0, MAX_UNREACHABLE);
  return failing.map(({ key, title, message }) => ({
    key: key.slice(0, 200),
    title: title.slice(0, 200),
    message: message?.slice(0, 300) ?? null,
  }));
}

/** Outcome of a run that a guard waited for. The guard started it, or joined it. */
export const GuardResult = z.object({
  check: GuardCheck,
  /** The request that started the run. */
  requestId: z.string(),
  /** Milliseconds since the epoch. */
  at: z.number(),
  /** Unreachable parts; undefined if the outcome is unknown. The text comes from the service. */
  unreachable: z.array(FailedItem).optional(),
  /** The outcome, or why it is unknown; half a sentence of mrkdwn. */
  words: z.string(),
  /** Kind of the service's failure that ended the run. */
  failure: z.string().optional(),
});
export interface GuardResult extends z.infer<typeof GuardResult> {}

/** Sent at the end of a run to each guard that waits for it. */
export const GUARD_RESULTS: JobType<GuardResult> = { queue: 'guard-results', schema: GuardResult };
