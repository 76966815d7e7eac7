import { likelyCommands } from '../../commands/likely-commands.ts';
import { runnable } from '../../commands/permission.ts';
import type { Caller, Reply } from '../../core/reply.ts';
import { suggestionsMessage } from '../../views/help/suggestions.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import type { Registry } from '../registry.ts';

/** A mention comes as an event: it has a thread to be answered in, and no handle that opens a form. */
export function isMention({ answerTs, triggerId }: Caller): boolean {
  return answerTs !== undefined && triggerId === undefined;
}

/** For words that are no command, or stand inside a sentence: what the person may run and may have meant. */
export async function suggest(
  { registry, workspace, caller }: { registry: Registry; workspace: Workspace; caller: Caller },
  text: string,
): Promise<Reply> {
  const allowed = await runnable(workspace, caller, registry.commands);
  const message = suggestionsMessage(workspace.config.SLACK_COMMAND, likelyCommands(allowed, text));
  return { kind: 'private', message };
}
