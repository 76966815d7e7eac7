import { z } from 'zod';
import { UserError } from '../../core/errors.ts';
import type { Job } from '../../core/job.ts';
import { unmarked } from '../../core/mrkdwn.ts';
import type { EventBody } from '../../listeners/events.ts';
import { explainAndLog } from '../../scheduler/explain.ts';
import { type Ending, endSteps } from '../../scheduler/workflows/end-steps.ts';
import { isSlackFailure } from '../../slack/failure.ts';
import { failureWords } from '../../views/blocks/failures.ts';
import { AccountFailure } from '../../workspace/accounts.ts';
import { defineJob } from '../../workspace/define-job.ts';
import { ProjectNeeded } from '../../workspace/projects.ts';
import { ServerNeeded } from '../../workspace/servers.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import type { Step } from './inputs.ts';
import { statisticsStep } from './statistics.ts';
import { testAccessStep } from './test-access.ts';

/** By `callback_id` in manifest.yml. Undefined: it ends later, by whoever was started. */
const STEPS: Readonly<Record<string, (step: Step) => Promise<Ending | undefined>>> = {
  test_access: testAccessStep,
  deployment_statistics: statisticsStep,
};

const Executed = z.object({
  function: z.object({ callback_id: z.string() }),
  inputs: z.unknown().optional(),
  function_execution_id: z.string(),
});

const RunStep = z.object({
  name: z.string(),
  execution: z.string(),
  inputs: z.unknown().optional(),
});
type RunStep = z.infer<typeof RunStep>;

/** A workflow reached one of our steps. */
export async function functionExecuted(workspace: Workspace, { event }: EventBody): Promise<void> {
  const { function: known, inputs = {}, function_execution_id: execution } = Executed.parse(event);
  const data = { name: known.callback_id, execution, inputs };
  await workspace.jobs.send(RUN_STEP, data, { key: execution });
}

/** Carries out a step. What the workflow's maker, the service or Slack did wrong ends it with the reason. */
export async function runStep(workspace: Workspace, job: Job<RunStep>): Promise<void> {
  const { name, execution, inputs } = job.data;
  try {
    const run = Object.hasOwn(STEPS, name) ? STEPS[name] : undefined;
    if (run === undefined) throw new UserError('This version of Deckhand has no such step.');
    const ending = await run({ workspace, execution, inputs });
    if (ending !== undefined) await endSteps(workspace, [execution], ending);
  } catch (error) {
    if (!isAnswerable(error)) throw error;
    await endSteps(workspace, [execution], { error: wordsOf(workspace, job.data, error) });
  }
}

/** After the last failed attempt: no workflow waits for ever. */
export async function stepFailed(workspace: Workspace, data: RunStep, error: unknown): Promise<void> {
  const { execution } = data;
  await endSteps(workspace, [execution], { error: wordsOf(workspace, data, error) });
}

function isAnswerable(error: unknown): boolean {
  const isOurs = error instanceof UserError || error instanceof AccountFailure;
  return isOurs || error instanceof ProjectNeeded || error instanceof ServerNeeded || isSlackFailure(error);
}

function wordsOf(workspace: Workspace, { name, execution }: RunStep, error: unknown): string {
  if (error instanceof ServerNeeded) return unmarked(error.message);
  if (error instanceof ProjectNeeded) return 'Name the project.';
  const at = { word: workspace.config.SLACK_COMMAND, now: workspace.clock.now() };
  const fields = { job: RUN_STEP, step: name, execution };
  return unmarked(failureWords(explainAndLog(error, at, workspace.log, fields)));
}

export const RUN_STEP = defineJob({
  queue: 'run-step',
  schema: RunStep,
  options: { concurrency: 50, attempts: 3, backoffMs: 1000 },
  run: runStep,
  onDeadLetter: stepFailed,
});
