import type { Command, CommandContext } from '../../commands/command.ts';
import { type Matched, parseArguments, routeCommand, unknownCommand } from '../../commands/command-router.ts';
import { requirePermission } from '../../commands/permission.ts';
import { cleanCommandText, splitWords, type Words } from '../../commands/tokenize.ts';
import { AccountNeeded, UserError } from '../../core/errors.ts';
import type { Message } from '../../core/message.ts';
import type { Caller, Reply } from '../../core/reply.ts';
import { connectFirstMessage } from '../../views/accounts/connect.ts';
import { chooseServerMessage } from '../../views/blocks/choices.ts';
import { workingMessage } from '../../views/blocks/message.ts';
import { chooseProjectMessage } from '../../views/projects/projects.ts';
import { ProjectNeeded } from '../../workspace/projects.ts';
import { ServerNeeded } from '../../workspace/servers.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import type { Registry } from '../registry.ts';
import { answerFailure } from './answer-failure.ts';
import { auditReply } from './audit-reply.ts';
import { instrument, type Outcome } from './instrument.ts';
import { showProgress } from './progress.ts';
import { respond, respondPrivately } from './respond.ts';

export interface CommandRequest {
  caller: Caller;
  text: string;
  /** A project that the person picked from a menu, in place of the word left out. */
  project?: string | undefined;
  /** A server that the person picked from a menu, in place of the word for one. */
  server?: string | undefined;
}

/** Runs what was typed and says what comes of it. Never rejects. */
export function runCommand(workspace: Workspace, registry: Registry, request: CommandRequest): Promise<void> {
  const text = cleanCommandText(request.text);
  const isBare = splitWords(text).words.length === 0;
  const matched = routeCommand(registry.commands, isBare ? `${registry.start} ${text}` : text);
  const name = matched?.command.name ?? 'unknown';
  return instrument(workspace, { command: name, by: 'command' }, (end) =>
    runMatched(workspace, registry, { ...request, text }, matched, end),
  );
}

async function runMatched(
  workspace: Workspace,
  registry: Registry,
  request: CommandRequest,
  matched: Matched | undefined,
  end: (outcome: Outcome) => void,
): Promise<void> {
  const { caller, text } = request;
  const name = matched?.command.name ?? 'unknown';
  const progress = showProgress(workspace, (ms) => respondPrivately(workspace, caller, workingMessage(ms)));
  try {
    if (matched === undefined) throw unknownCommand(registry.commands, text);
    await requirePermission(workspace, caller, matched.command.role, name);
    await requireAccount(workspace, caller, matched.command, text);
    const { command, rest } = matched;
    const change = { caller, what: name, isChange: command.durable === true };
    const reply = await auditReply(workspace, change, (seen) => replyOf(seen, command, rest, request));
    await progress.stop();
    await carryOut(workspace, registry, caller, reply);
    end('done');
  } catch (error) {
    await progress.stop();
    const question = questionOf(workspace, error, text);
    const isRefusal = question !== undefined || error instanceof UserError;
    end(isRefusal ? 'refused' : 'failed');
    if (question !== undefined) await ask(workspace, caller, question, name);
    else await answerFailure(workspace, caller, error, { command: name });
  }
}

/** Says a reply, or runs the command that it stands for. */
export async function carryOut(
  workspace: Workspace,
  registry: Registry,
  caller: Caller,
  reply: Reply,
): Promise<void> {
  if (reply.kind === 'run') return runCommand(workspace, registry, { ...reply, caller });
  if (reply.kind !== 'several') return respond(workspace, caller, reply);
  for (const part of reply.replies) await carryOut(workspace, registry, caller, part);
}

/** Keeps what was typed until an account is connected. @throws UserError where none is */
async function requireAccount(
  workspace: Workspace,
  caller: Caller,
  command: Command,
  text: string,
): Promise<void> {
  if (!command.needsAccount || (await workspace.accounts.list()).length > 0) return;
  await workspace.pending.keep(caller.user, text);
  throw new AccountNeeded();
}

async function replyOf(
  workspace: Workspace,
  command: Command,
  rest: Words,
  request: CommandRequest,
): Promise<Reply> {
  const account = rest.flags.account;
  if (account === true) throw new UserError('`--account` needs a name.', 'accounts');
  const args = parseArguments(command, rest);
  const context: CommandContext = {
    caller: request.caller,
    account,
    text: request.text,
    project: request.project,
    server: request.server,
    workspace,
  };
  return command.run(args, context);
}

async function ask(workspace: Workspace, caller: Caller, question: Message, name: string): Promise<void> {
  try {
    await respondPrivately(workspace, caller, question);
  } catch (error) {
    await answerFailure(workspace, caller, error, { command: name });
  }
}

/** What is missing is asked for, where a button or menu can give it. */
function questionOf(workspace: Workspace, error: unknown, text: string): Message | undefined {
  if (error instanceof ProjectNeeded) return chooseProjectMessage(error.projects, text);
  if (error instanceof ServerNeeded) return chooseServerMessage(error.message, { ...error.place, run: text });
  if (error instanceof AccountNeeded) return connectFirstMessage(workspace.config.SLACK_COMMAND, text);
  return undefined;
}
