import { Refusal } from '../../commands/permission.ts';
import { createContext } from '../../commands/resolve-target.ts';
import { withTimeout } from '../../core/clock.ts';
import type { Audited, Caller } from '../../core/reply.ts';
import { type Choice, optionsOf } from '../../views/blocks/inputs.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import type { OptionsBody } from '../payloads/schemas.ts';
import type { Registry } from '../registry.ts';
import { carryOut } from './pipeline.ts';

/** Slack waits 3 s for a menu's options. */
const TIMEOUT_MS = 2_500;

/**
 * The options of an external select for what was typed so far. Where they fail or are late, the source's fallback; a
 * failure is in the log too. A person without the permission is offered none.
 */
export async function runOptions(
  workspace: Workspace,
  registry: Registry,
  caller: Caller,
  { action_id: actionId, block_id: blockId, value, view }: OptionsBody,
): Promise<{ options: ReturnType<typeof optionsOf> }> {
  const found = registry.optionSource(actionId);
  if (found === undefined) return { options: [] };
  const { source, command } = found;
  const fallback = (): Choice[] => source.fallback?.(value) ?? [];
  const context = createContext(workspace, caller);
  const { choices } = await carryOut<Audited & { choices: Choice[] }>({
    kind: 'options',
    workspace,
    caller,
    command: command.name,
    what: source.actionId,
    role: source.role,
    async run() {
      const options = source.options(value, { ...context, metadata: view?.private_metadata ?? '', blockId });
      return { choices: (await withTimeout(workspace.clock, TIMEOUT_MS, options)) ?? fallback() };
    },
    async explain(error) {
      if (error instanceof Refusal) return { choices: [] };
      context.explain(error, { action: actionId });
      return { choices: fallback() };
    },
  });
  return { options: optionsOf(choices) };
}
