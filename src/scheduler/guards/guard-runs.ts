import { isUndeliverable, undeliverableReason } from '../../cards/deliver.ts';
import { isDirect } from '../../core/message.ts';
import { capitalised } from '../../core/mrkdwn.ts';
import { projectId } from '../../core/project-ref.ts';
import { MINUTE_MS } from '../../core/time/clock.ts';
import type { Job } from '../../jobs/jobs.ts';
import { type Outcome, readOpen, type Subject, subjectKey } from '../../records/episodes.ts';
import type { Guard } from '../../records/schedules.ts';
import { GuardCheck, makeGuardRequestId } from '../../records/test-runs.ts';
import { defineJob } from '../../workspace/define-job.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { noteOutcomes } from '../episodes/change-episodes.ts';
import { GUARD_RESULTS, type GuardResult } from '../run-ends.ts';
import {
  beginOccurrence,
  defineOccurrenceJob,
  endOccurrence,
  pauseForOccurrence,
} from '../schedules/occurrences.ts';
import { REFUSALS } from '../schedules/polling.ts';
import { beginTest } from '../test-access/start-test.ts';

/** Delay before unreachable parts are tested again. The channel hears nothing until then. */
const AGAIN_MS = 2 * MINUTE_MS;
/** Number of checks in a row without the project before it counts as gone. It may be missing only for a moment. */
const NOT_FOUND_CHECKS = 3;

export const GUARD_RUNS = defineOccurrenceJob('guard', async (workspace, job) => {
  const guard = await beginOccurrence(workspace, 'guard', job);
  const { id, scheduledAt } = job.data;
  if (guard !== undefined)
    await test(workspace, guard, { id, scheduledAt, at: scheduledAt, unreachable: [], notFound: 0 });
});

/** Repeated tests of the same occurrence. */
export const GUARD_CHECKS = defineJob({
  queue: 'guard-checks',
  schema: GuardCheck,
  options: { concurrency: 50, attempts: 16, backoffMs: 15_000 },
  async handle(workspace, { data: check }) {
    const guard = await workspace.schedules.get('guard', check.id);
    if (guard?.state.kind === 'active') await test(workspace, guard, check);
  },
});

/** Handles the result of a test that the guard began or joined. */
export const GUARD_OUTCOMES = defineJob({
  ...GUARD_RESULTS,
  options: { concurrency: 50, attempts: 16, backoffMs: 15_000 },
  handle: takeResult,
});

/** Starts a test now. @param request its id; a repeat after a kill starts nothing more */
export async function runGuard({ jobs, clock }: Workspace, id: string, request: string): Promise<void> {
  const now = clock.now();
  const check = { id, scheduledAt: now, at: now, unreachable: [], notFound: 0 };
  await jobs.send(GUARD_CHECKS, check, { key: `${id} ${request}` });
}

/** No message shows the test; its result comes as a job. Joins a test of the project that already runs. */
async function test(workspace: Workspace, { account, project }: Guard, check: GuardCheck): Promise<void> {
  await beginTest(workspace, {
    requestId: makeGuardRequestId(check),
    target: { account, project },
    guard: check,
  });
}

async function takeResult(workspace: Workspace, job: Job<GuardResult>): Promise<void> {
  const { check, unreachable, words } = job.data;
  const guard = await workspace.schedules.get('guard', check.id);
  if (guard?.state.kind !== 'active') return;
  if (unreachable === undefined) return takeFailure(workspace, job);
  const confirmed = await findConfirmed(workspace, guard, job.data, unreachable);
  if (confirmed === undefined) {
    const since = job.data.at;
    const next = { ...check, since, unreachable: unreachable.map(({ key }) => key), notFound: 0 };
    return testAgain(workspace, next, workspace.clock.now() + AGAIN_MS);
  }
  try {
    await noteOutcome(workspace, guard, job, confirmed);
  } catch (error) {
    if (!isUndeliverable(error)) throw error;
    const paused = { cause: 'slack', reason: undeliverableReason(error) } as const;
    return pauseForOccurrence(workspace, 'guard', check, paused);
  }
  const outcome = confirmed.length === 0 ? 'reachable' : 'unreachable';
  await endOccurrence(workspace, 'guard', check, { outcome, reason: words });
}

type Unreachable = NonNullable<GuardResult['unreachable']>;

/**
 * The unreachable parts to report: all of them during an episode, otherwise those that two checks in a row
 * found. Undefined if a second check must confirm them first.
 */
async function findConfirmed(
  { store }: Workspace,
  guard: Guard,
  { check }: GuardResult,
  unreachable: Unreachable,
): Promise<Unreachable | undefined> {
  if (unreachable.length === 0) return unreachable;
  if ((await readOpen(store, subjectKey(makeSubject(guard)))) !== undefined) return unreachable;
  const still = unreachable.filter(({ key }) => check.unreachable.includes(key));
  return still.length === 0 ? undefined : still;
}

function makeSubject({ channel, account, project, createdBy }: Guard): Subject {
  const person = isDirect(channel) ? createdBy : undefined;
  const { permalink, name } = project;
  return { kind: 'reachability', channel, account, project: projectId(project), name, permalink, person };
}

function noteOutcome(
  workspace: Workspace,
  guard: Guard,
  { data: { check, requestId: id, at, words }, signal }: Job<GuardResult>,
  items: Unreachable,
): Promise<void> {
  const kind = items.length === 0 ? 'success' : 'failure';
  const { since } = check;
  const escalates = [guard.id];
  const outcome: Outcome = { kind, id, at, since, lines: [capitalised(words)], words, items, escalates };
  return noteOutcomes(workspace, makeSubject(guard), [outcome], { signal });
}

/** Handles a test without an outcome: the service refused or failed, or the test was given up. */
async function takeFailure(
  workspace: Workspace,
  { data: { check, requestId, words, failure } }: Job<GuardResult>,
): Promise<void> {
  // A person started it, with their own key and a message that may be gone. So the guard starts its own test.
  if (requestId !== makeGuardRequestId(check)) return testAgain(workspace, check, workspace.clock.now());
  const notFound = failure === 'record_not_found' ? check.notFound + 1 : 0;
  if (notFound > 0 && notFound < NOT_FOUND_CHECKS)
    return testAgain(workspace, { ...check, notFound }, workspace.clock.now() + AGAIN_MS);
  if (REFUSALS.has(failure ?? ''))
    return pauseForOccurrence(workspace, 'guard', check, { cause: 'service', reason: words });
  await endOccurrence(workspace, 'guard', check, { outcome: 'failed', reason: words });
}

async function testAgain({ jobs }: Workspace, check: GuardCheck, at: number): Promise<void> {
  // The key names the previous check, so that a repeat after a kill plans no second one.
  await jobs.send(GUARD_CHECKS, { ...check, at }, { key: makeGuardRequestId(check), at });
}
