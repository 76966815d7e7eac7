import { z } from 'zod';
import type { Job } from '../../core/job.ts';
import { isSlackFailure } from '../../slack/failure.ts';
import { BACKGROUND } from '../../slack/rate-limit.ts';
import { defineJob } from '../../workspace/define-job.ts';
import type { Workspace } from '../../workspace/workspace.ts';

/** Workflow steps that wait for something to end. */

const Ending = z.union([
  z.object({ outputs: z.record(z.string(), z.union([z.string(), z.number()])) }),
  /** Plain text for whoever looks at the workflow. */
  z.object({ error: z.string() }),
]);
/** How a step ends: with what the manifest names as its outputs, or with a reason. */
export type Ending = z.infer<typeof Ending>;

const EndStep = z.object({ execution: z.string(), ending: Ending });
type EndStep = z.infer<typeof EndStep>;

/** Ends steps for good, also over a `kill -9`; those that ended already stay as they are. */
export async function endSteps(
  workspace: Workspace,
  executions: readonly string[],
  ending: Ending,
): Promise<void> {
  for (const execution of executions)
    await workspace.jobs.send(END_STEP, { execution, ending }, { key: execution });
}

/** Tells Slack, with the bot's own token: the step's is a secret, and jobs are stored as they are. */
export async function endStep(workspace: Workspace, job: Job<EndStep>): Promise<void> {
  const { execution, ending } = job.data;
  try {
    await complete(workspace, execution, ending);
  } catch (error) {
    if (!isSlackFailure(error) || isSlackFailure(error, 'busy', 'unreachable')) throw error;
    const { reason } = error;
    workspace.log.warn({ event: 'step_refused', execution, reason }, 'a step could not be ended');
    if (reason !== 'parameter_validation_failed') return;
    await complete(workspace, execution, { error: 'The outcome does not fit this step.' });
  }
}

async function complete({ slack }: Workspace, execution: string, ending: Ending): Promise<void> {
  const step = { function_execution_id: execution };
  if ('outputs' in ending) {
    const { outputs } = ending;
    await slack.call(
      'functions.completeSuccess',
      (client) => client.functions.completeSuccess({ ...step, outputs }),
      BACKGROUND,
    );
    return;
  }
  const { error } = ending;
  await slack.call(
    'functions.completeError',
    (client) => client.functions.completeError({ ...step, error }),
    BACKGROUND,
  );
}

export const END_STEP = defineJob({
  queue: 'end-step',
  schema: EndStep,
  options: { concurrency: 50, attempts: 10, backoffMs: 5_000 },
  run: endStep,
});
