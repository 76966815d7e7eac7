import { mayChange } from '../../commands/command.ts';
import {
  isDurable,
  type Matched,
  parseArguments,
  replaceAddresses,
  routeCommand,
  UnclearWords,
  unknownCommand,
} from '../../commands/command-router.ts';
import type { CommandContext } from '../../commands/context.ts';
import { findLikelyCommands } from '../../commands/likely-commands.ts';
import { runnable } from '../../commands/permission.ts';
import { type CommandLine, readCommandLine, type Sentence } from '../../commands/readings.ts';
import type { Registry } from '../../commands/registry.ts';
import { resolveTarget } from '../../commands/targets/resolve-target.ts';
import { readAccountName } from '../../commands/targets/targets.ts';
import { AccountFailure, AccountNeeded, UserError } from '../../core/errors.ts';
import type { Invocation, Message, Reply } from '../../core/message.ts';
import { code } from '../../core/mrkdwn.ts';
import { indexNames, NameIndex } from '../../core/names.ts';
import { withTimeout } from '../../core/time/clock.ts';
import type { Project } from '../../service/projects.ts';
import { connectFirstMessage } from '../../views/accounts/account-messages.ts';
import { chooseServerMessage } from '../../views/blocks/inputs.ts';
import { openFormMessage, suggestionsMessage } from '../../views/help/help-messages.ts';
import { chooseProjectMessage } from '../../views/projects/project-messages.ts';
import { ProjectNeeded, ServerNeeded } from '../../workspace/project-list.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { handleRequest } from './pipeline.ts';
import { readAnew } from './read-anew.ts';
import {
  askInChannel,
  isMention,
  removeWorking,
  respondFailure,
  respondPrivately,
  respondWorking,
  say,
  showReplyCard,
} from './respond.ts';

/** Typed text, and the choices of menus in place of words. */
interface Typed {
  text: string;
  /** The text as it was read before the ack. */
  line?: CommandLine | undefined;
  project?: string | undefined;
  server?: string | undefined;
  /** Set if the choice was made in a message that only asked for it. */
  isAnswer?: true | undefined;
  /** Set if it is offered as a button and not run. */
  isAside?: true | undefined;
  /** Other ways to read the text, if names in it are unknown. Default: all that there are. */
  others?: readonly string[] | undefined;
}

/** Context of a request, with the registry of commands. */
export interface RequestContext extends CommandContext {
  registry: Registry;
}

/** Runs typed text as a command, and replies. */
export async function handleText(context: RequestContext, request: Typed): Promise<void> {
  const { registry, workspace, invocation } = context;
  const line = request.line ?? readCommandLine(registry, request.text);
  const { text, matched } = line;
  const isSuggestion = isMention(invocation) && (matched === undefined || request.isAside === true);
  const start = registry.commands.find(({ name }) => name === registry.start);
  const command = isSuggestion ? start : matched?.command;
  await handleRequest<Reply>({
    kind: 'command',
    workspace,
    invocation,
    command: command?.name,
    role: command?.role,
    pending: command?.needsAccount ? text : undefined,
    isChange: command?.durable === true,
    target: isSuggestion ? undefined : readTargetNames(matched),
    showProgress: respondWorking(workspace, invocation, command?.name),
    async handle() {
      if (matched !== undefined && isSuggestion) return suggest(context, line);
      try {
        return await showReplyCard(
          context,
          await handleMatched(context, matched, { ...request, text, line }),
        );
      } catch (error) {
        const other = await readAnew(context, line, error, request.others);
        if (other !== undefined) return other;
        if (isSuggestion) return suggest(context, line);
        throw error;
      }
    },
    async respond(reply) {
      await followReply(context, reply, text);
      await removeWorking(workspace, invocation, request.isAnswer);
    },
    explain: (error) => answerOrAsk(context, error, line, request.isAnswer),
  });
}

async function handleMatched(
  context: RequestContext,
  matched: Matched | undefined,
  request: Typed,
): Promise<Reply> {
  const { registry, workspace } = context;
  if (matched === undefined) {
    const candidates = request.line?.isQuestion
      ? registry.commands.filter((one) => !mayChange(one))
      : registry.commands;
    throw unknownCommand(candidates, request.text);
  }
  const text = replaceAddresses(request.text, matched.command, workspace.config.SERVICE_BASE_URL);
  const isPasted = text !== request.text;
  const { command, rest } = (isPasted ? routeCommand(registry.commands, text) : undefined) ?? matched;
  const { account } = rest.flags;
  const args = parseArguments(command, rest);
  if (account === true) throw new UserError('`--account` needs a name.', 'accounts');
  const accountName = account === undefined ? undefined : readAccountName(workspace, account);
  const resolved = { ...context, ...request, text, account: accountName };
  return command.handle(args, resolved, await resolveTarget(command, args, resolved));
}

/** Names of account and project for the audit log, if they look like names: anything else may be a secret. */
function readTargetNames(matched: Matched | undefined): string | undefined {
  if (matched === undefined) return undefined;
  const { command, rest } = matched;
  const words = command.positionals.map((name, at) => (TARGETS.has(name) ? rest.words[at] : undefined));
  const names = [rest.flags.account, ...words].filter((word) => typeof word === 'string' && NAME.test(word));
  return names.length === 0 ? undefined : names.join('/');
}

const TARGETS: ReadonlySet<string> = new Set(['account', 'project', 'server']);
const NAME = /^[a-z][a-z0-9-]{0,30}$/;

/**
 * Sends a reply, or runs the command that it names.
 * @param text the command that it answers, if any. Without Slack's handle no form can open, so a button runs it again
 */
export async function followReply(context: RequestContext, reply: Reply, text?: string): Promise<void> {
  const { workspace, invocation } = context;
  if (reply.kind === 'command') {
    const { thread: answerTs, ...typed } = reply;
    return handleText(
      answerTs === undefined ? context : { ...context, invocation: { ...invocation, answerTs } },
      typed,
    );
  }
  if (reply.kind === 'modal' && invocation.triggerId === undefined && text !== undefined)
    return respondPrivately(
      workspace,
      invocation,
      openFormMessage(workspace.word, text, invocation.answerTs),
    );
  if (reply.kind === 'card') return followReply(context, await showReplyCard(context, reply), text);
  if (reply.kind !== 'several') return say(context, reply);
  for (const part of reply.replies) await followReply(context, part, text);
}

/** Asks for a missing word if a button or menu can give it; explains every other failure. */
async function answerOrAsk(
  context: RequestContext,
  error: unknown,
  line: CommandLine,
  isAnswer: true | undefined,
): Promise<Reply> {
  const { workspace, invocation } = context;
  const { text, matched } = line;
  const command = matched?.command.name ?? 'unknown';
  const retry = { text, isDurable: matched !== undefined && isDurable(matched) };
  const question = await createQuestion(context, error, line, retry.isDurable);
  const put = matched?.command.isPosted === true ? askInChannel : respondPrivately;
  if (question === undefined) await respondFailure(context, error, { command }, retry);
  else
    await put(workspace, invocation, question).then(
      () => removeWorking(workspace, invocation, isAnswer),
      (failure: unknown) => respondFailure(context, failure, { command }, retry),
    );
  return { kind: 'nothing' };
}

async function createQuestion(
  context: RequestContext,
  error: unknown,
  line: Sentence,
  isDurable: boolean,
): Promise<Message | undefined> {
  const { text } = line;
  const { word, roles } = context.workspace;
  const { user, answerTs: thread } = context.invocation;
  if (error instanceof UnclearWords) {
    const next = error.next === undefined ? '' : ` Try ${code(`${word} ${error.next}`)}.`;
    return (await suggest(context, line, `:warning: ${error.message}${next}`)).message;
  }
  if (error instanceof ProjectNeeded) return chooseProjectMessage(error.projects, text, thread);
  if (error instanceof ServerNeeded)
    return chooseServerMessage(error.message, { ...error.target, command: text, thread });
  if (error instanceof AccountNeeded)
    return connectFirstMessage(word, { text, isDurable, thread }, await roles.holds(user, 'admin'));
  return undefined;
}

const PROJECTS_WITHIN_MS = 1_000;

/**
 * Suggests commands for words that are not a command or are inside a sentence, from those that the person may run.
 * @param fault error in the words; mrkdwn, escaped
 */
async function suggest(
  { registry, workspace, invocation }: { registry: Registry; workspace: Workspace; invocation: Invocation },
  { text, isQuestion }: Sentence,
  fault?: string,
): Promise<Extract<Reply, { kind: 'private' }>> {
  const allowed = await runnable(workspace, invocation, registry.commands);
  const projects = await indexProjects(workspace, invocation);
  const likely = findLikelyCommands(allowed, isQuestion ? `${text}?` : text, projects);
  const message = suggestionsMessage(workspace.word, likely, { fault: fault, thread: invocation.answerTs });
  return { kind: 'private', message };
}

/** Index of the projects' names; empty without an account, or if the service does not list them in time. */
async function indexProjects(workspace: Workspace, invocation: Invocation): Promise<NameIndex<Project>> {
  const { accounts, channels, clock, projects } = workspace;
  try {
    const channel = await channels.get(invocation.channel);
    const account = await accounts.resolve(invocation, undefined, channel.account);
    const index = projects.list(account).then(indexNames);
    return (await withTimeout(clock, PROJECTS_WITHIN_MS, index)) ?? new NameIndex();
  } catch (error) {
    const isKnown = [AccountNeeded, AccountFailure, UserError].some((kind) => error instanceof kind);
    if (isKnown) return new NameIndex();
    throw error;
  }
}
