import { z } from 'zod';
import { UserError } from '../../core/errors.ts';
import type { Deckhand } from '../../deckhand.ts';
import type { Job, JobData } from '../../jobs/jobs.ts';
import type { EventBody } from '../../listeners/events.ts';
import { explainAndLog } from '../../scheduler/explain.ts';
import { type Ending, endSteps } from '../../scheduler/workflows/end-steps.ts';
import { isSlackFailure } from '../../slack/failure.ts';
import { failureWords } from '../../views/blocks/failures.ts';
import { unmarked } from '../../views/blocks/text.ts';
import { AccountFailure } from '../../workspace/accounts.ts';
import { ProjectNeeded } from '../../workspace/projects.ts';
import { ServerNeeded } from '../../workspace/servers.ts';
import type { Step } from './inputs.ts';
import { statisticsStep } from './statistics.ts';
import { testAccessStep } from './test-access.ts';

export const RUN_STEP = 'run-step';

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
  workspace: z.string(),
  name: z.string(),
  execution: z.string(),
  inputs: z.unknown().optional(),
});

/** A workflow reached one of our steps. */
export async function functionExecuted(
  deckhand: Deckhand,
  workspace: string,
  { event }: EventBody,
): Promise<void> {
  const { function: known, inputs = {}, function_execution_id: execution } = Executed.parse(event);
  const data = { workspace, name: known.callback_id, execution, inputs };
  await deckhand.engine.send(RUN_STEP, data, { key: execution });
}

/** Carries out a step. What the workflow's maker, the service or Slack did wrong ends it with the reason. */
export async function runStep(deckhand: Deckhand, job: Job<JobData>): Promise<void> {
  const { workspace, name, execution, inputs } = RunStep.parse(job.data);
  try {
    const run = Object.hasOwn(STEPS, name) ? STEPS[name] : undefined;
    if (run === undefined) throw new UserError('This version of Deckhand has no such step.');
    const ending = await run({ deckhand, workspace, execution, inputs });
    if (ending !== undefined) await endSteps(deckhand, workspace, [execution], ending);
  } catch (error) {
    if (!isAnswerable(error)) throw error;
    await endSteps(deckhand, workspace, [execution], { error: wordsOf(deckhand, job.data, error) });
  }
}

/** After the last failed attempt: no workflow waits for ever. */
export async function stepFailed(deckhand: Deckhand, data: JobData, error: unknown): Promise<void> {
  const { workspace, execution } = RunStep.parse(data);
  await endSteps(deckhand, workspace, [execution], { error: wordsOf(deckhand, data, error) });
}

function isAnswerable(error: unknown): boolean {
  const isOurs = error instanceof UserError || error instanceof AccountFailure;
  return isOurs || error instanceof ProjectNeeded || error instanceof ServerNeeded || isSlackFailure(error);
}

function wordsOf(deckhand: Deckhand, { workspace, name, execution }: JobData, error: unknown): string {
  if (error instanceof ServerNeeded) return unmarked(error.message);
  if (error instanceof ProjectNeeded) return 'Name the project.';
  const at = { word: deckhand.config.SLACK_COMMAND, now: deckhand.clock.now() };
  const fields = { workspace, job: RUN_STEP, step: name, execution };
  return unmarked(failureWords(explainAndLog(error, at, deckhand.log, fields)));
}
