import {
  isDurable,
  isMisspelt,
  type Matched,
  parseArguments,
  routeCommand,
} from '../../commands/command-router.ts';
import type { CommandContext } from '../../commands/context.ts';
import { findRefusal } from '../../commands/permission.ts';
import { type CommandLine, listReadings, nameThings } from '../../commands/readings.ts';
import type { Registry } from '../../commands/registry.ts';
import { resolveTarget } from '../../commands/targets/resolve-target.ts';
import { AccountNeeded, UnmatchedWords } from '../../core/errors.ts';
import type { Reply } from '../../core/message.ts';
import { spellName } from '../../core/names.ts';
import { ProjectNeeded, ServerNeeded } from '../../workspace/project-list.ts';
import { isMention } from './respond.ts';

type Context = CommandContext & { registry: Registry };

/**
 * Reads a line in another way, because its words name nothing in the first one. Nothing was changed so far.
 * @param others the remaining ways; left out, all
 * @returns undefined if no other way fits, or if the failure has another cause
 */
export async function readAnew(
  context: Context,
  line: CommandLine,
  error: unknown,
  others?: readonly string[],
): Promise<Reply | undefined> {
  if (!isUnmatched(error)) return undefined;
  const { commands } = context.registry;
  if (line.matched === undefined && isMisspelt(commands, line.text)) return undefined;
  const texts = others ?? listReadings(commands, line).map(({ text }) => text);
  for (const [at, text] of texts.entries())
    if (text !== line.text && (await fits(context, line, text)))
      return { kind: 'command', text, others: texts.slice(at + 1) };
  if (line.matched !== undefined || others !== undefined) return undefined;
  const text = nameThings(line);
  return text !== undefined && (await fits(context, line, text))
    ? { kind: 'command', text, others: [] }
    : undefined;
}

function isUnmatched(error: unknown): boolean {
  return error instanceof UnmatchedWords || (error instanceof ServerNeeded && error.isUnmatched);
}

/** True if the words name a project or a server, if the command needs one, and if the request may change what it changes. */
async function fits(context: Context, { matched: first }: CommandLine, text: string): Promise<boolean> {
  const { invocation, registry } = context;
  const matched = routeCommand(registry.commands, text);
  if (matched === undefined) return false;
  // A request that only read was not stored, so it may change nothing. A mention is stored always.
  const isStored = isMention(invocation) || (first !== undefined && isDurable(first));
  if (isDurable(matched) && !isStored) return false;
  if (first?.isSynonym === false && namesCommand(first, matched)) return false;
  const { target } = matched.command;
  return (target !== 'server' && target !== 'project') || namesTarget(context, matched, text);
}

/** True if the other way takes the name of the typed command for the name of a project, as "failing watch shop" does. */
function namesCommand({ command }: Matched, { rest }: Matched): boolean {
  return ` ${rest.words.map(spellName).join(' ')} `.includes(` ${command.name} `);
}

async function namesTarget(context: Context, { command, rest }: Matched, text: string): Promise<boolean> {
  const { invocation, workspace } = context;
  const { name, role } = command;
  const request = { user: invocation.user, command: name, role, channels: [invocation.channel] };
  if ((await findRefusal(workspace, request)) !== undefined) return false;
  const account = typeof rest.flags.account === 'string' ? rest.flags.account : undefined;
  try {
    await resolveTarget(command, parseArguments(command, rest), { ...context, text, account });
    return true;
  } catch (error) {
    if (isUnmatched(error) || error instanceof AccountNeeded) return false;
    return error instanceof ProjectNeeded || error instanceof ServerNeeded;
  }
}
