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
import { askAccessAction } from '../admin/roles.ts';
import {
  type Command,
  type CommandContext,
  type CommandGroup,
  defineCommand,
  fromButton,
  menuAction,
} from '../command.ts';
import { routeCommand, unknownCommand } from '../command-router.ts';
import { drawFailing, ownerActions, readFailing } from '../episodes/failing.ts';
import { runnable } from '../permission.ts';

const Chosen = z.object({ group: z.string() });

/** Takes the groups that it explains, because it stands in one of them. */
export function createHelp(groups: () => readonly CommandGroup[]): Command {
  return defineCommand({
    name: 'help',
    summary: 'Shows what Deckhand can do, or how one command is used',
    usage: '[command|all]',
    role: 'member',
    rest: true,
    args: z.object({ command: z.string().optional() }),
    async run(args, context) {
      const { word } = context.workspace;
      const wanted = args.command?.toLowerCase();
      if (wanted === 'all') return { kind: 'private', message: helpAllMessage(groups(), word) };
      const own = await ownGroups(groups(), context);
      if (wanted === undefined) return { kind: 'private', message: helpMessage(own, word) };
      const all = groups().flatMap(({ commands }) => commands);
      const begun = all.filter(
        ({ name }) => [wanted, `un${wanted}`].includes(name) || name.startsWith(`${wanted} `),
      );
      const meant = routeCommand(all, wanted)?.command;
      const found = begun.length === 0 && meant !== undefined ? [meant] : begun;
      if (found.length > 0) return { kind: 'private', message: helpCommandMessage(found, word) };
      const group = own.find(({ title, id }) => [title.toLowerCase(), id.replace('-', '')].includes(wanted));
      if (group === undefined) throw new UserError(unknownCommand(all, wanted).message, 'help');
      return { kind: 'private', message: helpGroupMessage(group, own, word) };
    },
    actions: [
      {
        actionId: 'help:group',
        async run(value, context) {
          const chosen = fromButton(Chosen, value);
          const own = await ownGroups(groups(), context);
          const group = own.find(({ id }) => id === chosen.group);
          if (group === undefined) throw new UserError('There is no such group of commands.', 'help');
          return { kind: 'replace', message: helpGroupMessage(group, own, context.workspace.word) };
        },
      },
    ],
  });
}

/** The groups, each with what the asker may run here. */
async function ownGroups(
  groups: readonly CommandGroup[],
  { workspace, caller }: CommandContext,
): Promise<readonly CommandGroup[]> {
  const all = groups.flatMap(({ commands }) => commands);
  const own = new Set(await runnable(workspace, caller, all));
  return groups.map((group) => ({
    ...group,
    commands: group.commands.filter((command) => own.has(command)),
  }));
}

/** @see suggestionsMessage for the thread, that of the mention which the button answers. */
const Typed = z.object({ text: z.string(), thread: z.string().optional() });

/** What a bare slash word means: what to do next in this channel. */
export const start = defineCommand({
  name: 'start',
  summary: 'Shows what to do next in this channel; so does the slash word alone',
  role: 'member',
  run: async (_, context) => ({ kind: 'private', message: await drawStart(context) }),
  actions: [
    // Stands on refusals of every command, in every channel.
    askAccessAction,
    // Stand under watches and guards alike, and are allowed where those are.
    ...ownerActions((list, context) => (list === 'start' ? drawStart : drawFailing)(context)),
    { actionId: 'start:run', durable: true, run: runTyped },
    menuAction('start:choose', (chosen, typed) => ({ text: `${typed} ${chosen}` })),
    // For commands that open a form, which cannot wait until they are stored, and for those that only read.
    { actionId: 'start:at-once', run: runTyped },
  ],
});

/** The next step in this channel, after what fails there. */
async function drawStart({ caller, workspace }: CommandContext): Promise<Message> {
  const { user } = caller;
  const channel = await workspace.channels.get(caller.channel);
  const isShown = caller.channel !== undefined && allows(channel, 'failing');
  const { word, config } = workspace;
  return startMessage({
    word,
    channel,
    accounts: await workspace.accounts.list(caller),
    failures: isShown ? await readFailing(workspace, user, caller.channel) : [],
    isAdmin: await workspace.roles.holds(user, 'admin'),
    isOperator: await workspace.roles.holds(user, 'operator'),
    canSignUp: config.SERVICE_SIGNUP_URL !== undefined,
  });
}

/** Only what a person could type: the command's own role is checked when it runs. */
async function runTyped(value: string | undefined): Promise<Reply> {
  return { kind: 'run', ...fromButton(Typed, value) };
}
