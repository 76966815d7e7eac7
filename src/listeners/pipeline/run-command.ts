import { type Matched, parseArguments, routeCommand, unknownCommand } from '../../commands/command-router.ts';
import { createContext } from '../../commands/context.ts';
import { cleanCommandText, splitWords } from '../../commands/tokenize.ts';
import { AccountNeeded, UserError } from '../../core/errors.ts';
import type { Message } from '../../core/message.ts';
import type { Caller, Reply } from '../../core/reply.ts';
import { connectFirstMessage } from '../../views/accounts/connect.ts';
import { chooseServerMessage } from '../../views/blocks/choices.ts';
import { synonymMessage } from '../../views/help/help.ts';
import { chooseProjectMessage } from '../../views/projects/projects.ts';
import { ProjectNeeded } from '../../workspace/projects.ts';
import { ServerNeeded } from '../../workspace/servers.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import type { Registry } from '../registry.ts';
import { carryOut } from './pipeline.ts';
import { removeWorking, respondFailure, respondPrivately, respondWorking, say } from './respond.ts';

/** What was typed, and what was picked from a menu in place of a word. */
export interface Typed {
  text: string;
  project?: string | undefined;
  server?: string | undefined;
}

/** Where a request is carried out, and for whom. */
export interface Scene {
  registry: Registry;
  workspace: Workspace;
  caller: Caller;
}

/** Runs what was typed, and says what comes of it. */
export async function runText(scene: Scene, typed: Typed): Promise<void> {
  const { registry, workspace, caller } = scene;
  const text = cleanCommandText(typed.text);
  const isBare = splitWords(text).words.length === 0;
  const matched = routeCommand(registry.commands, isBare ? `${registry.start} ${text}` : text);
  const command = matched?.command;
  const word = workspace.config.SLACK_COMMAND;
  await carryOut<Reply>({
    kind: 'command',
    workspace,
    caller,
    command: command?.name,
    role: command?.role,
    pending: command?.needsAccount ? text : undefined,
    isChange: command?.durable === true,
    showProgress: respondWorking(workspace, caller, command?.name),
    run: async () => runMatched(scene, matched, { ...typed, text }),
    async respond(reply) {
      await follow(scene, reply);
      await removeWorking(workspace, caller);
      if (command !== undefined && matched?.synonym !== undefined)
        await respondPrivately(workspace, caller, synonymMessage(word, matched.synonym, command.name));
    },
    explain: (error) => answerOrAsk(scene, error, text, command?.name ?? 'unknown'),
  });
}

function runMatched(
  { registry, workspace, caller }: Scene,
  matched: Matched | undefined,
  typed: Typed,
): Promise<Reply> {
  if (matched === undefined) throw unknownCommand(registry.commands, typed.text);
  const { command, rest } = matched;
  const { account } = rest.flags;
  if (account === true) throw new UserError('`--account` needs a name.', 'accounts');
  const args = parseArguments(command, rest);
  return command.run(args, createContext(workspace, caller, { account, ...typed }));
}

/** Says a reply, or runs the command that it stands for. */
export async function follow(scene: Scene, reply: Reply): Promise<void> {
  if (reply.kind === 'run') return runText(scene, reply);
  if (reply.kind !== 'several') return say(createContext(scene.workspace, scene.caller), reply);
  for (const part of reply.replies) await follow(scene, part);
}

/** What is missing is asked for, where a button or menu can give it. */
async function answerOrAsk(
  { workspace, caller }: Scene,
  error: unknown,
  text: string,
  command: string,
): Promise<Reply> {
  const context = createContext(workspace, caller);
  const question = questionOf(error, text, workspace.config.SLACK_COMMAND);
  if (question === undefined) await respondFailure(context, error, { command });
  else
    await respondPrivately(workspace, caller, question).catch((second: unknown) =>
      respondFailure(context, second, { command }),
    );
  return { kind: 'nothing' };
}

function questionOf(error: unknown, text: string, word: string): Message | undefined {
  if (error instanceof ProjectNeeded) return chooseProjectMessage(error.projects, text);
  if (error instanceof ServerNeeded) return chooseServerMessage(error.message, { ...error.place, run: text });
  if (error instanceof AccountNeeded) return connectFirstMessage(word, text);
  return undefined;
}
