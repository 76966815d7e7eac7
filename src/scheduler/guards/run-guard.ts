import { MINUTE_MS } from '../../core/clock.ts';
import type { Job } from '../../jobs/jobs.ts';
import { GUARD_RESULTS, type Guard, GuardCheck, type GuardResult, requestOf } from '../../records/guards.ts';
import { defineJob } from '../../workspace/define-job.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { REFUSALS } from '../schedules/poll-account.ts';
import { beginTest } from '../test-access/start-test.ts';
import { GUARDS } from './schedule.ts';

/** What is unreachable is tested again so much later, before anybody is told. */
const AGAIN_MS = 2 * MINUTE_MS;
/** A project that is not found may be there a moment later, so only this many checks in a row make it a refusal. */
const NOT_FOUND_CHECKS = 3;

/** The occurrences of guards. */
export const GUARD_RUNS = GUARDS.jobDefinition(async (workspace, job) => {
  const guard = await GUARDS.begin(workspace, job);
  const { id, scheduledAt } = job.data;
  if (guard !== undefined)
    await test(workspace, guard, { id, scheduledAt, at: scheduledAt, unreachable: [], notFound: 0 });
});

/** Tests that follow another of the same occurrence. */
export const GUARD_CHECKS = defineJob({
  queue: 'guard-checks',
  schema: GuardCheck,
  options: { concurrency: 50, attempts: 16, backoffMs: 15_000 },
  async run(workspace, { data: check }) {
    const guard = await workspace.guards.get(check.id);
    if (guard?.state.kind === 'active') await test(workspace, guard, check);
  },
});

/** What came of a test, the guard's own or one that went on already. */
export const GUARD_OUTCOMES = defineJob({
  ...GUARD_RESULTS,
  options: { concurrency: 50, attempts: 16, backoffMs: 15_000 },
  run: takeResult,
});

/** The test is shown nowhere; its result comes as a job. A test of the project that goes on is waited for. */
async function test(workspace: Workspace, { account, project }: Guard, check: GuardCheck): Promise<void> {
  await beginTest(workspace, { requestId: requestOf(check), target: { account, project }, guard: check });
}

async function takeResult(workspace: Workspace, job: Job<GuardResult>): Promise<void> {
  const { check, unreachable, words } = job.data;
  const guard = await workspace.guards.get(check.id);
  if (guard === undefined) return;
  // Where this result paused it, and was killed before its notice, that is sent now.
  if (guard.state.kind === 'paused') return GUARDS.notifyPaused(workspace, check, job.signal);
  if (unreachable === undefined) return takeFailure(workspace, job);
  await GUARDS.end(workspace, check, {
    outcome: unreachable.length === 0 ? 'reachable' : 'unreachable',
    reason: words,
  });
}

/** There is no outcome: the service refused or failed, or the test was given up. */
async function takeFailure(
  workspace: Workspace,
  { data: { check, requestId, words, failure }, signal }: Job<GuardResult>,
): Promise<void> {
  // It was somebody's, with a key of theirs and a message that may be gone: the guard tests by itself.
  if (requestId !== requestOf(check)) return testAgain(workspace, check, workspace.clock.now());
  const notFound = failure === 'record_not_found' ? check.notFound + 1 : 0;
  if (notFound > 0 && notFound < NOT_FOUND_CHECKS)
    return testAgain(workspace, { ...check, notFound }, workspace.clock.now() + AGAIN_MS);
  if (REFUSALS.has(failure ?? ''))
    return GUARDS.pause(workspace, check, { cause: 'service', reason: words }, signal);
  await GUARDS.end(workspace, check, { outcome: 'failed', reason: words });
}

async function testAgain({ jobs }: Workspace, check: GuardCheck, at: number): Promise<void> {
  await jobs.send(GUARD_CHECKS, { ...check, at }, { key: requestOf({ id: check.id, at }), at });
}
