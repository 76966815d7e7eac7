import { z } from 'zod';
import type { CommandContext } from '../../commands/context.ts';
import type { SlackEvent } from '../../commands/slack-event.ts';
import type { WorkflowStep } from '../../commands/workflow-step.ts';
import { AccountFailure, UserError } from '../../core/errors.ts';
import type { Audited, Invocation } from '../../core/message.ts';
import { unmarked } from '../../core/mrkdwn.ts';
import { withTimeout } from '../../core/time/clock.ts';
import { type Ending, endStepNow, endSteps } from '../../scheduler/workflows/end-steps.ts';
import { isSlackFailure } from '../../slack/failure.ts';
import { failureWords } from '../../views/blocks/failures.ts';
import { defineJob } from '../../workspace/define-job.ts';
import { ProjectNeeded, ServerNeeded } from '../../workspace/project-list.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { ACK_WITHIN_MS, SEEN_MS } from '../inbox.ts';
import { ExecutedStep } from '../payloads/schemas.ts';
import { createContext, handleRequest } from './pipeline.ts';

export const StepData = z.object({ name: z.string(), execution: z.string(), inputs: z.unknown().optional() });
type StepData = z.infer<typeof StepData>;

/** Runs the steps of Slack's Workflow Builder, by `callback_id` in manifest.yml. */
export function createSteps(steps: Readonly<Record<string, WorkflowStep>>) {
  const findStep = (name: string) => (Object.hasOwn(steps, name) ? steps[name] : undefined);
  const job = defineJob({
    queue: 'run-step',
    schema: StepData,
    options: { concurrency: 50, attempts: 3, backoffMs: 1000, keyStaysMs: SEEN_MS },
    async handle(workspace, { data }) {
      await handleStep(workspace.forRequest(), findStep(data.name), data);
    },
    // Ends the step, so that no workflow waits for ever.
    onDeadLetter: (workspace, data, error) =>
      endSteps(workspace, [data.execution], describeFailure(workspace, data, error)),
  });
  return {
    job,
    /** Stores the execution of a step. */
    async functionExecuted({ workspace }: CommandContext, { event }: SlackEvent): Promise<void> {
      const data = readStep(event);
      await workspace.jobs.send(job, data, { key: data.execution });
    },
    isMenu: ({ event }: SlackEvent): boolean =>
      event.type === 'function_executed' && findStep(readStep(event).name)?.isMenu === true,
    /**
     * Fills a menu. Its author waits, so it is not stored. Resolves when it is filled or the ack is due.
     * @param track takes the work, which may go on after the ack
     */
    async fillMenu(
      workspace: Workspace,
      { event }: SlackEvent,
      track: (work: Promise<void>) => void,
    ): Promise<void> {
      const data = readStep(event);
      const work = handleStep(workspace.forRequest(), findStep(data.name), data);
      track(work);
      await withTimeout(workspace.clock, ACK_WITHIN_MS, work);
    },
  };
}

function readStep(event: SlackEvent['event']): StepData {
  const { function: step, inputs = {}, function_execution_id: execution } = ExecutedStep.parse(event);
  return { name: step.callback_id, execution, inputs };
}

/** @throws errors that the job should retry */
async function handleStep(
  workspace: Workspace,
  step: WorkflowStep | undefined,
  data: StepData,
): Promise<void> {
  const { name, execution } = data;
  const context = createContext(workspace, createStepInvocation(data));
  const inputs: unknown = step?.inputs.parse(data.inputs);
  const end = (ending: Ending): Promise<void> =>
    step?.isMenu ? endStepNow(workspace, execution, ending) : endSteps(workspace, [execution], ending);
  await handleRequest<Audited & { ending?: Ending | undefined }>({
    kind: 'step',
    workspace,
    invocation: context.invocation,
    command: step?.command,
    what: step && name,
    actsIn: step?.actsIn?.(inputs),
    async handle() {
      if (step === undefined)
        throw new UserError(
          'This version of Deckhand has no such step. Take it out of the workflow, or ask whoever runs Deckhand.',
        );
      return { ending: await step.handle(inputs, context) };
    },
    async respond({ ending }) {
      if (ending !== undefined) await end(ending);
    },
    async explain(error) {
      // A menu is not tried again.
      if (!step?.isMenu && !isAnswerable(error)) throw error;
      await end(describeFailure(workspace, data, error));
      return {};
    },
  });
}

/** A step has no person and no channel, so the workspace's account counts unless one is named. */
function createStepInvocation({ execution }: StepData): Invocation {
  return { user: '', channel: undefined, requestId: execution };
}

function isAnswerable(error: unknown): boolean {
  const kinds = [UserError, AccountFailure, ProjectNeeded, ServerNeeded];
  return kinds.some((kind) => error instanceof kind) || isSlackFailure(error);
}

/** The failure in plain text. */
function describeFailure(workspace: Workspace, data: StepData, error: unknown): Ending {
  if (error instanceof ServerNeeded) return { error: unmarked(error.message) };
  if (error instanceof ProjectNeeded) return { error: 'Name the project.' };
  const { name, execution } = data;
  const context = createContext(workspace, createStepInvocation(data));
  return { error: unmarked(failureWords(context.explain(error, { step: name, execution }))) };
}
