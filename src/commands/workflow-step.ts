import type { z } from 'zod';
import type { Ending } from '../scheduler/workflows/end-steps.ts';
import type { CommandContext } from './context.ts';

/** A step of Slack's Workflow Builder, by `callback_id` in manifest.yml. */
export interface WorkflowStep<Inputs = unknown> {
  /** Its command. A channel that does not allow the command does not allow the step either. */
  command: string;
  inputs: z.ZodType<Inputs>;
  /** It fills a menu for the author of a workflow, so it ends before the ack, as Slack expects. */
  isMenu?: true;
  /** The channel that it posts in. */
  actsIn?(inputs: Inputs): string | undefined;
  /** Undefined if the step ends later, by a job that was started. */
  handle(inputs: Inputs, context: CommandContext): Promise<Ending | undefined>;
}

/** Keeps the types of `inputs` and `handle` together, as `defineCommand` does. */
export function defineStep<Inputs>(step: WorkflowStep<Inputs>): WorkflowStep {
  return step as WorkflowStep;
}
