import { isDeepStrictEqual } from 'node:util';
import { MINUTE_MS, withTimeout } from '../../core/time/clock.ts';
import { allows } from '../../records/channels.ts';
import {
  type Episode,
  type EpisodeRecord,
  failingNow,
  makeProjectRef,
  readOpen,
  type Subject,
} from '../../records/episodes.ts';
import type { FailedStep } from '../../records/failed-steps.ts';
import type { Run, Target } from '../../records/test-runs.ts';
import { undefinedOnSlackError } from '../../slack/failure.ts';
import { diagnosisLine } from '../../views/episodes/diagnosis.ts';
import { timesOfRun } from '../../views/test-access/test-run.ts';
import { defineJob } from '../../workspace/define-job.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { beginTest } from '../test-access/start-test.ts';
import { showFact } from './change-episodes.ts';
import { isTestedUnasked } from './count-failures.ts';
import { readFailedStep } from './find-failed-step.ts';
import { DIAGNOSIS_JOBS, type DiagnosisJob } from './queues.ts';

/** A run that took longer does not describe the moment of the failure. */
const MAX_RUN_MS = 5 * MINUTE_MS;
/** How long a test waits for the failed step, which may need no connection. */
const STEP_WAIT_MS = 10_000;

/**
 * Finds out why a deployment failed: its failed step, and whether the project is reachable, by a new run or by the latest result.
 */
export const DIAGNOSE = defineJob({
  ...DIAGNOSIS_JOBS,
  // A job sleeps while the service does not list the deployment.
  options: { concurrency: 200, attempts: 5, backoffMs: 2_000, isSleeper: true },
  handle: (workspace, { data, signal }) =>
    undefinedOnSlackError(diagnose(workspace, data, signal), 'gone', 'forbidden'),
});

async function diagnose(workspace: Workspace, job: DiagnosisJob, signal: AbortSignal): Promise<void> {
  const { store, channels, clock } = workspace;
  const open = await readOpen(store, job.key);
  if (open === undefined) return;
  const { record, subject } = open;
  const settings = await channels.get(subject.channel);
  if (settings.diagnose === false) return;
  if (job.failure === undefined) return testOnce(workspace, job, signal);
  const reading = showFailedStep(workspace, job.key, record, signal);
  const test = async (): Promise<void> => {
    const step = await withTimeout(clock, STEP_WAIT_MS, reading);
    if (step?.connects !== false) await testOnce(workspace, job, signal);
  };
  await Promise.all([reading, test()]);
}

/** Shows where the latest deployment failed. Returns undefined if nothing is known. */
async function showFailedStep(
  workspace: Workspace,
  key: string,
  record: EpisodeRecord,
  signal: AbortSignal,
): Promise<FailedStep | undefined> {
  const { id, latestAt } = failingNow(record) ?? {};
  const step = await readFailedStep(workspace, record, signal);
  const open = (await readOpen(workspace.store, key))?.episode;
  // A later failure has a step of its own.
  if (step === undefined || open === undefined || open.id !== id || open.latestAt !== latestAt) return step;
  const isShared = await workspace.isSharedOutside(record.subject.channel);
  const visible = isShared ? withoutDetails(step) : step;
  if (!isDeepStrictEqual(open.step, visible))
    await showFact(workspace, { key, id: open.id }, { step: visible }, signal);
  return step;
}

/** People of other organisations read only where it failed. */
function withoutDetails({ deployment, step, title, server, connects }: FailedStep): FailedStep {
  return { deployment, step, title, server, connects };
}

/** Tests the project, unless a test of it began since its latest deployment failed. */
async function testOnce(
  workspace: Workspace,
  { key, failure }: DiagnosisJob,
  signal: AbortSignal,
): Promise<void> {
  const open = await readOpen(workspace.store, key);
  if (open === undefined) return;
  const { record, subject, episode } = open;
  const keyFrom = await findKey(workspace, subject);
  if (keyFrom === undefined) return;
  const target = { account: subject.account, project: makeProjectRef(subject) };
  const latest = await workspace.runs.latest(target);
  const show = async (run: Run | undefined): Promise<void> => {
    if (run !== undefined && tells(run)) await noteResult(workspace, key, episode, { run, signal });
  };
  // A test that began before the failure is shown at its end, because it was under way.
  if (failure === undefined || (latest !== undefined && tells(latest) && isLater(latest, episode)))
    return show(latest);
  // Others may have begun to fail since, which makes it a part of an outage.
  if (!(await isTestedUnasked(workspace, record))) return;
  // A running test sends this job again at its end. Without one, the hour had its test.
  return show(await beginDiagnosis(workspace, target, { key, failure, keyFrom, where: subject.channel }));
}

/** True if the test began after the deployment failed, or after Deckhand noticed it. */
function isLater({ startedAt }: Run, { latestAt, newsAt }: Episode): boolean {
  return startedAt > latestAt || startedAt >= newsAt;
}

/** Connection time of the key that would test the project; undefined if the channel wants no test. */
async function findKey(
  { accounts, channels }: Workspace,
  { channel, account: name }: Subject,
): Promise<number | undefined> {
  if (!allows(await channels.get(channel), 'test')) return undefined;
  const account = await accounts.get(name);
  return account?.state === 'ok' ? account.createdAt : undefined;
}

/** Returns the latest run if it starts none: a run goes on, or there was one within the hour. */
async function beginDiagnosis(
  workspace: Workspace,
  target: Target,
  { key: episode, failure, keyFrom, where }: { key: string; failure: string; keyFrom: number; where: string },
): Promise<Run | undefined> {
  const requestId = `diagnosis ${failure}`;
  const unasked = { requestId, at: workspace.clock.now(), episode, keyFrom };
  const other = await beginTest(workspace, { requestId, target, unasked });
  if (other !== undefined) return other;
  const about = { where, target: `${target.account}/${target.project.permalink}` };
  await workspace.audit.record({ requestedBy: 'Deckhand', what: 'test', ...about, result: 'done' });
  return undefined;
}

/** True if the run ended in time and has results. */
function tells({ status, startedAt, endedAt = 0 }: Run): boolean {
  return status === 'completed' && endedAt - startedAt <= MAX_RUN_MS;
}

async function noteResult(
  workspace: Workspace,
  key: string,
  episode: Episode,
  { run, signal }: { run: Run; signal: AbortSignal },
): Promise<void> {
  const { id, failures, servers = [], diagnosis: before } = episode;
  const isOlder = !isLater(run, episode);
  const items = isOlder ? [] : (run.failing ?? []);
  const unreachableAt = items.length > 0 ? failures : before?.unreachableAt;
  const isRepaired = unreachableAt === failures;
  const line = diagnosisLine(run, servers, { isOlder, isRepaired });
  if (line === undefined) return;
  const diagnosis = { at: timesOfRun(run).ended, line, items, unreachableAt, isOlder };
  await showFact(workspace, { key, id }, { diagnosis }, signal);
}
