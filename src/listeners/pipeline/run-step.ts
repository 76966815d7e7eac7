import { z } from 'zod';
import type { CommandContext, SlackEvent, WorkflowStep } from '../../commands/command.ts';
import { AccountFailure, UserError } from '../../core/errors.ts';
import type { Audited, Invocation } from '../../core/message.ts';
import { unmarked } from '../../core/mrkdwn.ts';
import { type Ending, endSteps } from '../../scheduler/workflows/end-steps.ts';
import { isSlackFailure } from '../../slack/failure.ts';
import { failureWords } from '../../views/blocks/failures.ts';
import { defineJob } from '../../workspace/define-job.ts';
import { ProjectNeeded, ServerNeeded } from '../../workspace/projects.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { SEEN_MS } from '../inbox.ts';
import { ExecutedStep } from '../payloads/schemas.ts';
import { createContext, runStages } from './pipeline.ts';

const RunStep = z.object({ name: z.string(), execution: z.string(), inputs: z.unknown().optional() });
type RunStep = z.infer<typeof RunStep>;

/** Runs the steps of Slack's Workflow Builder, by `callback_id` in manifest.yml. */
export function createSteps(steps: Readonly<Record<string, WorkflowStep>>) {
  const job = defineJob({
    queue: 'run-step',
    schema: RunStep,
    options: { concurrency: 50, attempts: 3, backoffMs: 1000, keyStaysMs: SEEN_MS },
    async run(workspace, { data }) {
      await runStep(
        workspace.forRequest(),
        Object.hasOwn(steps, data.name) ? steps[data.name] : undefined,
        data,
      );
    },
    // Ends the step, so that no workflow waits for ever.
    onDeadLetter: endWithFailure,
  });
  return {
    job,
    /** Stores the execution of a step. */
    async functionExecuted({ workspace }: CommandContext, { event }: SlackEvent): Promise<void> {
      const { function: step, inputs = {}, function_execution_id: execution } = ExecutedStep.parse(event);
      await workspace.jobs.send(job, { name: step.callback_id, execution, inputs }, { key: execution });
    },
  };
}

/** @throws errors that the job should retry */
async function runStep(workspace: Workspace, step: WorkflowStep | undefined, data: RunStep): Promise<void> {
  const { name, execution } = data;
  const context = createContext(workspace, createStepInvocation(data));
  const inputs: unknown = step?.inputs.parse(data.inputs);
  await runStages<Audited & { ending?: Ending | undefined }>({
    kind: 'step',
    workspace,
    invocation: context.invocation,
    command: step?.command,
    what: step && name,
    actsIn: step?.actsIn?.(inputs),
    async run() {
      if (step === undefined) throw new UserError('This version of Deckhand has no such step.');
      return { ending: await step.run(inputs, context) };
    },
    async respond({ ending }) {
      if (ending !== undefined) await endSteps(workspace, [execution], ending);
    },
    async explain(error) {
      if (!isAnswerable(error)) throw error;
      await endWithFailure(workspace, data, error);
      return {};
    },
  });
}

/** A step has no person and no channel, so the workspace's account counts unless one is named. */
function createStepInvocation({ execution }: RunStep): Invocation {
  return { user: '', channel: undefined, requestId: execution };
}

function isAnswerable(error: unknown): boolean {
  const kinds = [UserError, AccountFailure, ProjectNeeded, ServerNeeded];
  return kinds.some((kind) => error instanceof kind) || isSlackFailure(error);
}

/** Ends a step with the failure in plain text. */
async function endWithFailure(workspace: Workspace, data: RunStep, error: unknown): Promise<void> {
  await endSteps(workspace, [data.execution], { error: unmarked(describeFailure(workspace, data, error)) });
}

function describeFailure(workspace: Workspace, data: RunStep, error: unknown): string {
  if (error instanceof ServerNeeded) return error.message;
  if (error instanceof ProjectNeeded) return 'Name the project.';
  const { name, execution } = data;
  const context = createContext(workspace, createStepInvocation(data));
  return failureWords(context.explain(error, { step: name, execution }));
}
