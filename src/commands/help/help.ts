import { z } from 'zod';
import { UserError } from '../../core/errors.ts';
import type { Message, Reply } from '../../core/message.ts';
import { allows } from '../../records/channels.ts';
import {
  helpAllMessage,
  helpCommandMessage,
  helpGroupMessage,
  helpMessage,
  startMessage,
} from '../../views/help/help.ts';
import { defineButton, defineMenu } from '../action.ts';
import { askAccessAction } from '../admin/access.ts';
import { type Command, type CommandGroup, defineCommand } from '../command.ts';
import { routeCommand, unknownCommand } from '../command-router.ts';
import type { CommandContext } from '../context.ts';
import { drawFailing, ownerActions } from '../episodes/failing.ts';
import { readFailing } from '../episodes/read-failing.ts';
import { runnable } from '../permission.ts';
import { replyInPlace, replyPrivately } from '../replies.ts';

/** @param groups a function, because a group contains this command */
export function createHelp(groups: () => readonly CommandGroup[]): Command {
  return defineCommand({
    name: 'help',
    phrase: undefined,
    synonyms: ['commands'],
    summary: 'Shows what Deckhand can do, or how one command is used',
    usage: '[command|all]',
    role: 'member',
    rest: true,
    args: z.object({ command: z.string().optional() }),
    async run(args, context) {
      const { word } = context.workspace;
      const topic = args.command?.toLowerCase();
      if (topic === 'all') return replyPrivately(helpAllMessage(groups(), word));
      const own = await listRunnable(groups(), context);
      if (topic === undefined) return replyPrivately(helpMessage(own, word));
      const all = groups().flatMap(({ commands }) => commands);
      const matches = all.filter(
        ({ name }) => [topic, `un${topic}`].includes(name) || name.startsWith(`${topic} `),
      );
      const synonym = routeCommand(all, topic)?.command;
      const described = matches.length === 0 && synonym !== undefined ? [synonym] : matches;
      if (described.length > 0) return replyPrivately(helpCommandMessage(described, word));
      const group = own.find(({ title, id }) => [title.toLowerCase(), id.replace('-', '')].includes(topic));
      if (group === undefined) throw new UserError(unknownCommand(all, topic).message, 'help');
      return replyPrivately(helpGroupMessage(group, own, word));
    },
    actions: [
      defineButton(z.object({ group: z.string() }), {
        actionId: 'help:group',
        async run({ group: topic }, context) {
          const own = await listRunnable(groups(), context);
          const group = own.find(({ id }) => id === topic);
          if (group === undefined) throw new UserError('There is no such group of commands.', 'help');
          return replyInPlace(helpGroupMessage(group, own, context.workspace.word));
        },
      }),
    ],
  });
}

/** Groups with the commands that the person may run here. */
async function listRunnable(
  groups: readonly CommandGroup[],
  { workspace, invocation }: CommandContext,
): Promise<readonly CommandGroup[]> {
  const all = groups.flatMap(({ commands }) => commands);
  const own = new Set(await runnable(workspace, invocation, all));
  return groups.map((group) => ({
    ...group,
    commands: group.commands.filter((command) => own.has(command)),
  }));
}

/** `thread`: the thread of the mention that the button answers. */
const Typed = z.object({ text: z.string(), thread: z.string().optional() });

/** The command of a bare slash word: the next steps in this channel. */
export const start = defineCommand({
  name: 'start',
  phrase: undefined,
  summary: 'Shows what to do next in this channel; so does the slash word alone',
  role: 'member',
  run: async (_, context) => ({ kind: 'private', message: await drawStart(context) }),
  actions: [
    // Refusals of every command have this button, in every channel.
    askAccessAction,
    // Under watches and guards, and allowed in the same channels.
    ...ownerActions((list, context) => (list === 'start' ? drawStart : drawFailing)(context)),
    defineButton(Typed, { actionId: 'start:run', durable: true, run: runTyped }),
    defineMenu('start:choose', (chosen, typed) => ({ text: `${typed} ${chosen}` })),
    // For commands that open a form, and cannot be stored first, and for commands that only read.
    defineButton(Typed, { actionId: 'start:at-once', run: runTyped }),
  ],
});

/** The next step in this channel, below its failures. */
async function drawStart({ invocation, workspace }: CommandContext): Promise<Message> {
  const { user } = invocation;
  const channel = await workspace.channels.get(invocation.channel);
  const isShown = invocation.channel !== undefined && allows(channel, 'failing');
  const { word, config } = workspace;
  return startMessage({
    word,
    channel,
    accounts: await workspace.accounts.list(invocation),
    failing: isShown ? await readFailing(workspace, user, invocation.channel) : undefined,
    isAdmin: await workspace.roles.holds(user, 'admin'),
    isOperator: await workspace.roles.holds(user, 'operator'),
    canSignUp: config.SERVICE_SIGNUP_URL !== undefined,
  });
}

/** Runs a command line as if a person had typed it. Deckhand then checks the command's own role. */
async function runTyped(typed: z.infer<typeof Typed>): Promise<Reply> {
  return { kind: 'run', ...typed };
}
