import type { KnownBlock, Message } from '../../core/message.ts';
import { code } from '../../core/mrkdwn.ts';
import { LIMITS } from '../blocks/limits.ts';
import { packed } from '../blocks/lists.ts';
import { button, buttons, context, headed, section } from '../blocks/message.ts';

/** What the help says of a command. */
export interface HelpEntry {
  name: string;
  usage: string;
  summary: string;
  role: string;
  examples?: readonly string[];
}

export interface HelpGroup {
  id: string;
  title: string;
  summary: string;
  commands: readonly HelpEntry[];
}

const TITLE = 'What Deckhand can do';

/** Left out of the short help: what it says itself, and what Deckhand does not do. */
const UNLISTED: ReadonlySet<string> = new Set(['help', 'start', 'deploy']);

/** In at most 15 lines as people see them: what there is, a line for each group; its page says what for. @param groups only what the asker may run */
export function helpMessage(groups: readonly HelpGroup[], word: string): Message {
  const listed = groups.map((group) => ({
    ...group,
    commands: group.commands.filter(({ name }) => !UNLISTED.has(name)),
  }));
  const filled = listed.filter(({ commands }) => commands.length > 0);
  const parts = filled.map(({ title, commands }) => {
    const names = firstWords(commands).map((name) => code(name));
    return `*${title}*  ${names.join(' ')}`;
  });
  return headed(
    TITLE,
    ...(parts.length === 0 ? [] : [section(parts.join('\n'))]),
    ...groupButtons(filled),
    context(
      `${code(`${word} help <command>`)} explains one command, ${code(`${word} help all`)} lists them all.`,
    ),
  );
}

/** Each command of one group, with its usage. @param all the groups that the asker may choose from */
export function helpGroupMessage(group: HelpGroup, all: readonly HelpGroup[], word: string): Message {
  const title = `${group.title} ${group.summary}`;
  const filled = all.filter(({ commands }) => commands.length > 0);
  return headed(title, ...table(group.commands, word), ...groupButtons(filled));
}

/** Every command, also those that the asker may not run. */
export function helpAllMessage(groups: readonly HelpGroup[], word: string): Message {
  const tables = groups.flatMap(({ title, commands }) => [section(`*${title}*`), ...table(commands, word)]);
  const account = `${code('--account <name>')} picks an account where you have several.`;
  return headed(TITLE, ...tables, context(account));
}

/** How commands are used, and by whom. */
export function helpCommandMessage(commands: readonly HelpEntry[], word: string): Message {
  const blocks = commands.map((command) => {
    const who = command.role === 'member' ? 'everyone' : `the role *${command.role}*`;
    const examples = (command.examples ?? []).map((example) => `e.g. ${code(`${word} ${example}`)}`);
    const usage = `*${code(`${word} ${usageLine(command)}`, 200)}*`;
    return section([usage, command.summary, `For ${who}.`, ...examples].join('\n'));
  });
  return { text: `How to use ${commands.map(({ name }) => name).join(', ')}`, blocks };
}

/** The command's name and its arguments. */
export function usageLine({ name, usage }: Pick<HelpEntry, 'name' | 'usage'>): string {
  return usage === '' ? name : `${name} ${usage}`;
}

/** Several commands that begin alike are one entry: `digest` stands for `digest add`, `digest list` and so on. */
function firstWords(commands: readonly HelpEntry[]): string[] {
  const byWord = Map.groupBy(commands, ({ name }) => name.split(' ')[0] ?? name);
  return [...byWord].map(([word, [only, ...others]]) =>
    others.length === 0 && only !== undefined ? only.name : word,
  );
}

function groupButtons(groups: readonly HelpGroup[]): KnownBlock[] {
  return buttons(
    ...groups.map(({ id, title }) => button(title, `help:group#${id}`, { value: { group: id } })),
  );
}

function table(commands: readonly HelpEntry[], word: string): KnownBlock[] {
  const lines = commands.map(
    (command) => `${code(`${word} ${usageLine(command)}`, 120)}  ${command.summary}`,
  );
  return packed(lines, LIMITS.sectionText - 100).map((text) => section(text));
}
