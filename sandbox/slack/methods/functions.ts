import { z } from 'zod';
import type { FunctionRun, Workspace } from '../state/types.ts';
import { jsonObject, text } from '../web-api/args.ts';
import { SlackError } from '../web-api/errors.ts';
import { type Call, defineMethod, type Method } from '../web-api/method.ts';

export const functionMethods: Method[] = [
  defineMethod({
    name: 'functions.completeSuccess',
    tier: 3,
    json: true,
    args: z.object({ function_execution_id: text, outputs: jsonObject }),
    run: (call, args) => {
      const { workspace, run } = findRunning(call, args.function_execution_id);
      const known = call.world.app.functions.find((one) => one.callback_id === run.callbackId);
      const unknown = Object.keys(args.outputs).filter((name) => !known?.output_parameters.includes(name));
      if (unknown.length > 0) throw new SlackError('parameter_validation_failed');
      end(call, workspace, run, { state: 'succeeded', outputs: args.outputs });
      return {};
    },
  }),
  defineMethod({
    name: 'functions.completeError',
    tier: 3,
    json: true,
    args: z.object({ function_execution_id: text, error: text }),
    run: (call, args) => {
      const { workspace, run } = findRunning(call, args.function_execution_id);
      end(call, workspace, run, { state: 'failed', error: args.error });
      return {};
    },
  }),
];

function findRunning(call: Call, id: string): { workspace: Workspace; run: FunctionRun } {
  for (const workspace of call.workspaces) {
    const run = workspace.functionRuns.get(id);
    if (!run) continue;
    if (run.state !== 'running') throw new SlackError('execution_not_in_running_state');
    return { workspace, run };
  }
  throw new SlackError('function_execution_not_found');
}

/** The token that came with the run dies with it. */
function end(call: Call, workspace: Workspace, run: FunctionRun, result: Partial<FunctionRun>): void {
  Object.assign(run, result);
  const token = call.world.tokens.get(run.token);
  if (token) token.state = 'revoked';
  call.world.changes.emit({ type: 'function', team: workspace.id, execution: run.id });
}
