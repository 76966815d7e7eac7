import { likelyCommands } from '../../commands/likely-commands.ts';
import { runnable } from '../../commands/permission.ts';
import { withTimeout } from '../../core/clock.ts';
import { AccountNeeded, UserError } from '../../core/errors.ts';
import type { Caller, Reply } from '../../core/reply.ts';
import type { Project } from '../../service/projects.ts';
import { suggestionsMessage } from '../../views/help/suggestions.ts';
import { AccountFailure } from '../../workspace/accounts.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import type { Registry } from '../registry.ts';

const PROJECTS_WITHIN_MS = 1_000;

/**
 * For words that are no command, or stand inside a sentence: what the person may run and may have meant.
 * @param said what is wrong with the words; mrkdwn, escaped
 */
export async function suggest(
  { registry, workspace, caller }: { registry: Registry; workspace: Workspace; caller: Caller },
  text: string,
  said?: string,
): Promise<Extract<Reply, { kind: 'private' }>> {
  const allowed = await runnable(workspace, caller, registry.commands);
  // A single word is a command with a typing mistake rather than a project.
  const projects = text.includes(' ') ? await knownProjects(workspace, caller) : [];
  const likely = likelyCommands(allowed, text, projects);
  const message = suggestionsMessage(workspace.config.SLACK_COMMAND, likely, {
    said,
    thread: caller.answerTs,
  });
  return { kind: 'private', message };
}

/** None without an account, or where the service does not give them in time. */
async function knownProjects(workspace: Workspace, caller: Caller): Promise<Project[]> {
  const { accounts, channels, clock, projects } = workspace;
  try {
    const channel = await channels.get(caller.channel);
    const account = await accounts.resolve(caller, undefined, channel.account);
    return (await withTimeout(clock, PROJECTS_WITHIN_MS, projects.list(account))) ?? [];
  } catch (error) {
    const isKnown = [AccountNeeded, AccountFailure, UserError].some((kind) => error instanceof kind);
    if (isKnown) return [];
    throw error;
  }
}
