import type { Caller, Command, CommandContext, Reply } from '../../commands/command.ts';
import { type Matched, parseArguments, routeCommand, unknownCommand } from '../../commands/command-router.ts';
import { requirePermission } from '../../commands/permission.ts';
import { cleanCommandText, splitWords, type Words } from '../../commands/tokenize.ts';
import { AccountNeeded, UserError } from '../../core/errors.ts';
import type { Deckhand } from '../../deckhand.ts';
import { connectFirstMessage } from '../../views/accounts/connect.ts';
import { chooseServerMessage } from '../../views/blocks/choices.ts';
import type { Message } from '../../views/blocks/message.ts';
import { workingMessage } from '../../views/blocks/working.ts';
import { chooseProjectMessage } from '../../views/projects/projects.ts';
import { ProjectNeeded } from '../../workspace/projects.ts';
import { ServerNeeded } from '../../workspace/servers.ts';
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
export function runCommand(deckhand: Deckhand, registry: Registry, request: CommandRequest): Promise<void> {
  const { workspace } = request.caller;
  const text = cleanCommandText(request.text);
  const isBare = splitWords(text).words.length === 0;
  const matched = routeCommand(registry.commands, isBare ? `${registry.start} ${text}` : text);
  const name = matched?.command.name ?? 'unknown';
  return instrument(deckhand, { command: name, by: 'command', workspace }, (end) =>
    runMatched(deckhand, registry, { ...request, text }, matched, end),
  );
}

async function runMatched(
  deckhand: Deckhand,
  registry: Registry,
  request: CommandRequest,
  matched: Matched | undefined,
  end: (outcome: Outcome) => void,
): Promise<void> {
  const { caller, text } = request;
  const name = matched?.command.name ?? 'unknown';
  const progress = showProgress(deckhand, (ms) => respondPrivately(deckhand, caller, workingMessage(ms)));
  try {
    if (matched === undefined) throw unknownCommand(registry.commands, text);
    await requirePermission(deckhand, caller, matched.command.role, name);
    await requireAccount(deckhand, caller, matched.command, text);
    const { command, rest } = matched;
    const change = { caller, what: name, isChange: command.durable === true };
    const reply = await auditReply(deckhand, change, (seen) => replyOf(seen, command, rest, request));
    await progress.stop();
    await carryOut(deckhand, registry, caller, reply);
    end('done');
  } catch (error) {
    await progress.stop();
    const question = questionOf(deckhand, error, text);
    const isRefusal = question !== undefined || error instanceof UserError;
    end(isRefusal ? 'refused' : 'failed');
    if (question !== undefined) await ask(deckhand, caller, question, name);
    else await answerFailure(deckhand, caller, error, { command: name });
  }
}

/** Says a reply, or runs the command that it stands for. */
export async function carryOut(
  deckhand: Deckhand,
  registry: Registry,
  caller: Caller,
  reply: Reply,
): Promise<void> {
  if (reply.kind === 'run') return runCommand(deckhand, registry, { ...reply, caller });
  if (reply.kind !== 'several') return respond(deckhand, caller, reply);
  for (const part of reply.replies) await carryOut(deckhand, registry, caller, part);
}

/** Keeps what was typed until an account is connected. @throws UserError where none is */
async function requireAccount(
  deckhand: Deckhand,
  caller: Caller,
  command: Command,
  text: string,
): Promise<void> {
  if (!command.needsAccount || (await deckhand.accounts.list(caller.workspace)).length > 0) return;
  await deckhand.waiting.keep(caller.workspace, caller.user, text);
  throw new AccountNeeded();
}

async function replyOf(
  deckhand: Deckhand,
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
    deckhand,
  };
  return command.run(args, context);
}

async function ask(deckhand: Deckhand, caller: Caller, question: Message, name: string): Promise<void> {
  try {
    await respondPrivately(deckhand, caller, question);
  } catch (error) {
    await answerFailure(deckhand, caller, error, { command: name });
  }
}

/** What is missing is asked for, where a button or menu can give it. */
function questionOf(deckhand: Deckhand, error: unknown, text: string): Message | undefined {
  if (error instanceof ProjectNeeded) return chooseProjectMessage(error.projects, text);
  if (error instanceof ServerNeeded) return chooseServerMessage(error.message, { ...error.place, run: text });
  if (error instanceof AccountNeeded) return connectFirstMessage(deckhand.config.SLACK_COMMAND, text);
  return undefined;
}
