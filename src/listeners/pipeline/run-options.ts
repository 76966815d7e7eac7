import type { Caller } from '../../core/reply.ts';
import { withTimeout } from '../../core/timeout.ts';
import { explainAndLog } from '../../scheduler/explain.ts';
import { optionsOf } from '../../views/blocks/modal.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import type { OptionsBody } from '../payloads/payloads.ts';
import type { Registry } from '../registry.ts';

/** Slack waits 3 s for a menu's options. */
const PATIENCE_MS = 2_500;

/**
 * The options of an external select for what was typed so far. Where they fail or are late, the source's fallback;
 * a failure is a line in the log too.
 */
export async function runOptions(
  workspace: Workspace,
  registry: Registry,
  caller: Caller,
  body: OptionsBody,
): Promise<{ options: ReturnType<typeof optionsOf> }> {
  const source = registry.optionSource(body.action_id)?.source;
  let isAllowed = false;
  try {
    if (source === undefined) return { options: [] };
    isAllowed = await workspace.roles.holds(caller.user, source.role);
    if (!isAllowed) return { options: [] };
    const metadata = body.view?.private_metadata ?? '';
    const context = { caller, account: undefined, text: '', workspace, metadata, blockId: body.block_id };
    const choices = await withTimeout(workspace.clock, PATIENCE_MS, source.options(body.value, context));
    return { options: optionsOf(choices ?? source.fallback?.(body.value) ?? []) };
  } catch (error) {
    const at = { word: workspace.config.SLACK_COMMAND, now: workspace.clock.now() };
    explainAndLog(error, at, workspace.log, { workspace: workspace.id, action: body.action_id });
    return { options: optionsOf((isAllowed && source?.fallback?.(body.value)) || []) };
  }
}
