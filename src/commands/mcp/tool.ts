import type { z } from 'zod';
import type { Audited } from '../../core/reply.ts';
import type { Role } from '../../workspace/roles.ts';
import type { CommandContext } from '../command.ts';

/** What a tool gives back: data for the assistant, which words it for the person. */
export type ToolResult = Audited & { data: Record<string, unknown> };

/** Something that Slack's assistant may do for a person: it reads or tests, and never creates or costs. */
export interface Tool {
  name: string;
  /** What the assistant chooses it by. */
  description: string;
  /** The command that it stands for: its role, and the channels that allow it, count for the tool too. */
  command: string;
  role: Role;
  /** True where it starts something at the service. */
  isChange?: true;
  inputs: z.ZodObject;
  run(inputs: unknown, context: CommandContext): Promise<ToolResult>;
}

interface ToolSpec<Inputs extends z.ZodObject> extends Omit<Tool, 'inputs' | 'run'> {
  inputs: Inputs;
  run(inputs: z.output<Inputs>, context: CommandContext): Promise<ToolResult>;
}

/** Keeps the types of `inputs` and `run` together, and drops them outside. */
export function defineTool<Inputs extends z.ZodObject>(spec: ToolSpec<Inputs>): Tool {
  return { ...spec, run: async (inputs, context) => spec.run(spec.inputs.parse(inputs), context) };
}
