import { z } from 'zod';
import type { Deckhand } from '../../deckhand.ts';
import type { Job, JobData } from '../../jobs/jobs.ts';
import { isSlackFailure } from '../../slack/failure.ts';
import { BACKGROUND } from '../../slack/rate-limit.ts';

/** Workflow steps that wait for something to end. */

export const END_STEP = 'end-step';

const Ending = z.union([
  z.object({ outputs: z.record(z.string(), z.union([z.string(), z.number()])) }),
  /** Plain text for whoever looks at the workflow. */
  z.object({ error: z.string() }),
]);
/** How a step ends: with what the manifest names as its outputs, or with a reason. */
export type Ending = z.infer<typeof Ending>;

const EndStep = z.object({ workspace: z.string(), execution: z.string(), ending: Ending });

/** Ends steps for good, also over a `kill -9`; those that ended already stay as they are. */
export async function endSteps(
  deckhand: Deckhand,
  workspace: string,
  executions: readonly string[],
  ending: Ending,
): Promise<void> {
  for (const execution of executions)
    await deckhand.engine.send(END_STEP, { workspace, execution, ending }, { key: execution });
}

/** Tells Slack, with the bot's own token: the step's is a secret, and jobs are stored as they are. */
export async function endStep(deckhand: Deckhand, job: Job<JobData>): Promise<void> {
  const { workspace, execution, ending } = EndStep.parse(job.data);
  try {
    await complete(deckhand, workspace, execution, ending);
  } catch (error) {
    if (!isSlackFailure(error) || isSlackFailure(error, 'busy', 'unreachable')) throw error;
    const { reason } = error;
    deckhand.log.warn({ event: 'step_refused', workspace, execution, reason }, 'a step could not be ended');
    if (reason !== 'parameter_validation_failed') return;
    await complete(deckhand, workspace, execution, { error: 'The outcome does not fit this step.' });
  }
}

async function complete(
  { slack }: Deckhand,
  workspace: string,
  execution: string,
  ending: Ending,
): Promise<void> {
  const step = { function_execution_id: execution };
  if ('outputs' in ending) {
    const { outputs } = ending;
    await slack.call(
      workspace,
      'functions.completeSuccess',
      (client) => client.functions.completeSuccess({ ...step, outputs }),
      BACKGROUND,
    );
    return;
  }
  const { error } = ending;
  await slack.call(
    workspace,
    'functions.completeError',
    (client) => client.functions.completeError({ ...step, error }),
    BACKGROUND,
  );
}
