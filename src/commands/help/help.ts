import { z } from 'zod';
import { UserError } from '../../core/errors.ts';
import type { Message } from '../../core/message.ts';
import { code, linesWithin } from '../../core/mrkdwn.ts';
import { LIMITS } from '../../views/blocks/limits.ts';
import { context, header, section } from '../../views/blocks/message.ts';
import type { Command } from '../command.ts';
import { defineCommand } from '../command.ts';
import { usageLine } from '../command-router.ts';

/** Takes the list that it explains, because it is one of them. */
export function createHelp(commands: () => readonly Command[]): Command {
  return defineCommand({
    name: 'help',
    summary: 'Shows what Deckhand can do, or how one command is used',
    usage: '[command]',
    role: 'member',
    positionals: ['command'],
    rest: true,
    args: z.object({ command: z.string().optional() }),
    async run(args, { workspace }) {
      const word = workspace.config.SLACK_COMMAND;
      const wanted = args.command?.toLowerCase();
      if (wanted === undefined) return { kind: 'private', message: overview(commands(), word) };
      const found = commands().filter(({ name }) => name === wanted || name.startsWith(`${wanted} `));
      if (found.length === 0) throw new UserError(`There is no command ${code(wanted, 40)}.`, 'help');
      return { kind: 'private', message: details(found, word) };
    },
  });
}

function overview(commands: readonly Command[], word: string): Message {
  const lines = commands.map(
    (command) => `${code(`${word} ${usageLine(command)}`, 120)}  ${command.summary}`,
  );
  const blocks = chunk(lines).map((text) => section(text));
  const rest = context(
    `${code(`${word} help <command>`)} explains one command.`,
    `${code('--account <name>')} picks an account where you have several.`,
  );
  return { text: 'What Deckhand can do', blocks: [header('What Deckhand can do'), ...blocks, rest] };
}

function details(commands: readonly Command[], word: string): Message {
  const blocks = commands.map((command) => {
    const who = command.role === 'member' ? 'everyone' : `the role *${command.role}*`;
    const examples = (command.examples ?? []).map((example) => `e.g. ${code(`${word} ${example}`)}`);
    const lines = [
      `*${code(`${word} ${usageLine(command)}`, 200)}*`,
      command.summary,
      `For ${who}.`,
      ...examples,
    ];
    return section(lines.join('\n'));
  });
  return { text: `How to use ${commands.map((command) => command.name).join(', ')}`, blocks };
}

/** Lines in as few sections as their limit allows. */
function chunk(lines: readonly string[]): string[] {
  const chunks: string[][] = [];
  let room = 0;
  for (const line of lines) {
    room -= line.length + 1;
    if (room >= 0) {
      chunks.at(-1)?.push(line);
      continue;
    }
    chunks.push([line]);
    room = LIMITS.sectionText - 100 - line.length;
  }
  return chunks.map((some) => linesWithin(some, LIMITS.sectionText));
}
