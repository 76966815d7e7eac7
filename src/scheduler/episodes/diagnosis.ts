import { MINUTE_MS } from '../../core/time/clock.ts';
import { allows } from '../../records/channels.ts';
import {
  DIAGNOSIS_JOBS,
  type DiagnosisJob,
  type Episode,
  episodeRecords,
  failingNow,
  makeProjectRef,
  type Subject,
} from '../../records/episodes.ts';
import type { Run, Target } from '../../records/test-runs.ts';
import { undefinedOnSlackError } from '../../slack/failure.ts';
import { diagnosisLine } from '../../views/episodes/diagnosis.ts';
import { timesOfRun } from '../../views/test-access/test-run.ts';
import { defineJob } from '../../workspace/define-job.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { beginTest } from '../test-access/start-test.ts';
import { noteDiagnosis } from './episodes.ts';

/** Maximum age of a result that is used instead of a new run. */
const FRESH_MS = 10 * MINUTE_MS;
/** A run that took longer does not describe the moment of the failure. */
const MAX_RUN_MS = 5 * MINUTE_MS;

/** Tests whether the project of a failed deployment is reachable, by a new run or by the latest result. */
export const DIAGNOSE = defineJob({
  ...DIAGNOSIS_JOBS,
  options: { concurrency: 50, attempts: 5, backoffMs: 2_000 },
  run: (workspace, { data, signal }) =>
    undefinedOnSlackError(diagnose(workspace, data, signal), 'gone', 'forbidden'),
});

async function diagnose(
  workspace: Workspace,
  { key, failure }: DiagnosisJob,
  signal: AbortSignal,
): Promise<void> {
  const record = await episodeRecords(workspace.store).get(key);
  const episode = record && failingNow(record);
  if (record === undefined || episode === undefined) return;
  const keyFrom = await findKey(workspace, record.subject);
  if (keyFrom === undefined) return;
  const { account } = record.subject;
  const target = { account, project: makeProjectRef(record.subject) };
  const latest = await workspace.runs.latest(target);
  const isFresh =
    latest !== undefined && tells(latest) && workspace.clock.now() - readEnd(latest) <= FRESH_MS;
  if (isFresh) return noteResult(workspace, key, episode, { run: latest, signal });
  if (failure === undefined) return;
  const other = await beginDiagnosis(workspace, target, {
    key,
    failure,
    keyFrom,
    where: record.subject.channel,
  });
  // A running test sends this job again at its end.
  if (other !== undefined && tells(other)) await noteResult(workspace, key, episode, { run: other, signal });
}

/** Connection time of the key that would test the project; undefined if the channel wants no test. */
async function findKey(
  { accounts, channels }: Workspace,
  { channel, account: name }: Subject,
): Promise<number | undefined> {
  const settings = await channels.get(channel);
  if (settings.diagnose === false || !allows(settings, 'test')) return undefined;
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
  const name = `${target.account}/${target.project.permalink}`;
  await workspace.audit.record({
    requestedBy: 'Deckhand',
    what: 'test',
    where,
    target: name,
    result: 'done',
  });
  return undefined;
}

function readEnd({ endedAt = 0 }: Run): number {
  return endedAt;
}

/** True if the run ended in time and has results. */
function tells(run: Run): boolean {
  return run.status === 'completed' && readEnd(run) - run.startedAt <= MAX_RUN_MS;
}

async function noteResult(
  workspace: Workspace,
  key: string,
  { id, newsAt, failures, servers = [], diagnosis: before }: Episode,
  { run, signal }: { run: Run; signal: AbortSignal },
): Promise<void> {
  const items = run.failing ?? [];
  const unreachableAt = items.length > 0 ? failures : before?.unreachableAt;
  const isRepaired = unreachableAt === failures;
  const line = diagnosisLine(run, servers, { isOlder: readEnd(run) < newsAt, isRepaired });
  if (line === undefined) return;
  const diagnosis = { at: timesOfRun(run).ended, line, items, unreachableAt };
  await noteDiagnosis(workspace, { key, id }, diagnosis, signal);
}
