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

/** What each command does, in at most eight words; those that belong together share a line. */
const PHRASES: ReadonlyArray<[phrase: string, ...commands: string[]]> = [
  ['checks that repository and servers are reachable', 'test'],
  ['lists projects, each with a test button', 'projects'],
  ['shows a server, or a build configuration', 'server show', 'build'],
  ['creates a managed server', 'server add'],
  ['shows what happened, with figures and a chart', 'activity'],
  ['posts a summary on a schedule', 'digest'],
  ['posts deployments as they happen', 'watch', 'watch mine', 'unwatch'],
  ['tests on a schedule, silent while all works', 'guard'],
  ['for accounts of the service', 'connect', 'disconnect', 'accounts', 'signup'],
  ['says who you are at the service', 'whoami', 'me', 'link', 'unlink'],
  ['sets this channel’s project and threads', 'use', 'settings'],
  ['shows managed servers, enrols for them', 'hosting', 'beta'],
  ['sends deployments to your other tools', 'integration'],
  ['lists invoices, sends PDFs, posts new ones', 'invoices'],
  ['says who may do what', 'roles'],
  ['shows who did what', 'audit'],
  ['checks that everything works', 'doctor'],
];

/** In at most 20 lines as people see them: a line for commands that belong together, and a button for each group. @param groups only what the asker may run */
export function helpMessage(groups: readonly HelpGroup[], word: string): Message {
  const filled = groups.filter(({ commands }) => phrasesOf(commands).length > 0);
  const parts = filled.map(({ title, commands }) => section(`*${title}*  ${phrasesOf(commands).join('\n')}`));
  const more = `${code(`${word} help test`)} explains one, ${code(`${word} help all`)} lists all.`;
  return headed(TITLE, ...parts, ...groupButtons(filled), context(more));
}

function phrasesOf(commands: readonly HelpEntry[]): string[] {
  const isOne = (word: string): boolean => commands.some(({ name }) => `${name} `.startsWith(`${word} `));
  return PHRASES.flatMap(([phrase, ...names]) => {
    const own = names.filter(isOne).map((name) => code(name));
    return own.length === 0 ? [] : [`${own.join(' ')} ${phrase}`];
  });
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
