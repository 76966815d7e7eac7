import { distance } from 'fastest-levenshtein';
import type { z } from 'zod';
import { UnmatchedWords, UserError } from '../core/errors.ts';
import { capitalised, code } from '../core/mrkdwn.ts';
import { spellName } from '../core/names.ts';
import { type Addressed, readProjectAddress } from '../service/addresses.ts';
import { usageLine } from '../views/help/help-messages.ts';
import type { Command } from './command.ts';
import { splitWords, type Words } from './typed-words.ts';

export interface Matched {
  command: Command;
  /** Words after the command's name. */
  rest: Words;
  /** True if a synonym of the command was typed. */
  isSynonym: boolean;
}

/** Number of words; no command's name is longer. */
const MAX_NAME = 3;

/** The command with the longest name at the start of the words, if any. */
export function routeCommand(commands: readonly Command[], text: string): Matched | undefined {
  return routeWords(commands, splitLine(commands, text));
}

export function splitLine(commands: readonly Command[], text: string): Words {
  const { switches, options } = getIndex(commands);
  return splitWords(text, switches, options);
}

export function routeWords(
  commands: readonly Command[],
  { words, flags, unknown }: Words,
): Matched | undefined {
  const { byName, synonyms, alone: singles } = getIndex(commands);
  const lower = words.slice(0, MAX_NAME).map(spellName);
  for (let length = MAX_NAME; length > 0; length -= 1) {
    const typed = lower.slice(0, length).join(' ');
    const alone = words.length === length ? singles.get(typed) : undefined;
    const rest = words.slice(length);
    const command = byName.get(typed) ?? alone;
    if (command !== undefined) return { command, rest: { words: rest, flags, unknown }, isSynonym: false };
    const synonym = synonyms.get(typed);
    if (synonym === undefined) continue;
    const implied = synonym.implied === undefined ? [] : [synonym.implied];
    return {
      command: synonym.command,
      rest: { words: [...implied, ...rest], flags, unknown },
      isSynonym: true,
    };
  }
  return undefined;
}

/** True for the name of a command, or another word for it. */
export function isCommandName(commands: readonly Command[], name: string): boolean {
  const { byName, synonyms } = getIndex(commands);
  const spelled = spellName(name);
  return byName.has(spelled) || synonyms.has(spelled);
}

/** Caches the index of each list. */
const NAMES = new WeakMap<readonly Command[], ReturnType<typeof indexCommands>>();

function getIndex(commands: readonly Command[]) {
  const names = NAMES.get(commands) ?? indexCommands(commands);
  NAMES.set(commands, names);
  return names;
}

function indexCommands(commands: readonly Command[]) {
  const byName = new Map(commands.map((command) => [command.name, command]));
  const switches = commands.flatMap((command) => command.switches ?? []);
  const argumentNames = commands.flatMap(({ flags = [], positionals }) => [...flags, ...positionals]);
  const options = new Set(['account', ...switches, ...argumentNames]);
  const synonyms = new Map(
    commands.flatMap((command) =>
      listSynonyms(command).map(([typed, implied]) => [typed, { command, implied }] as const),
    ),
  );
  const alone = new Map(commands.flatMap((command) => (command.alone ? [[command.alone, command]] : [])));
  return { byName, synonyms, alone, switches, options };
}

/** Other words for a command, each with the first word after the command that it implies. */
export function listSynonyms({
  synonyms = [],
  shorthands = {},
}: Command): ReadonlyArray<readonly [typed: string, implied?: string]> {
  return [...synonyms.map((typed) => [typed] as const), ...Object.entries(shorthands)];
}

/** True if the command changes something. Deckhand then stores it before the ack. */
export function isDurable({ command, rest }: Matched): boolean {
  const { durable = false } = command;
  return typeof durable === 'function' ? durable(rest.words) : durable;
}

/** For words that match no command. Names the nearest one, or the words that may follow the first one. */
export function unknownCommand(commands: readonly Command[], text: string): UserError {
  const { words: all } = splitWords(text);
  const typed = all.slice(0, 2).map(spellName);
  const [first = ''] = typed;
  const names = commands.map(({ name }) => name);
  const following = names
    .filter((name) => name.startsWith(`${first} `))
    .map((name) => name.slice(first.length + 1));
  if (following.length > 0) return unknownSubWord(first, typed[1], following);
  const best = nearest(names, typed);
  const hint = best === undefined ? '' : ` Did you mean ${code(best)}?`;
  return new UnclearWords(`There is no command ${code(first, 40)}.${hint}`);
}

/** True if the words are a command's but for a typing mistake in the second one, as in `guard lst`. */
export function isMisspelt(commands: readonly Command[], text: string): boolean {
  const [first = '', word] = splitWords(text).words.map(spellName);
  const names = commands.flatMap((command) => [
    command.name,
    ...listSynonyms(command).map(([typed]) => typed),
  ]);
  const following = names
    .filter((name) => name.startsWith(`${first} `))
    .map((name) => name.slice(first.length + 1));
  return word !== undefined && !following.includes(word) && nearest(following, [word]) !== undefined;
}

/** Words after which a button's label adds "one". */
const VERBS: ReadonlySet<string> = new Set(['add', 'edit', 'preview', 'remove', 'show']);

/** Maximum number of words with buttons; more are only named. */
const MAX_OFFERS = 3;

/** Names the words that may follow a command's first word, with buttons for the likely ones. */
export function unknownSubWord(
  first: string,
  word: string | undefined,
  following: readonly string[],
): UserError {
  const near = word === undefined ? undefined : nearest(following, [word]);
  const likely = near === undefined ? following : [near];
  const offers = likely.map((word) => {
    const text = `${first} ${word}`;
    return { label: VERBS.has(word) ? `${capitalised(word)} one` : capitalised(text), text };
  });
  const fault =
    word === undefined ? `${code(first)} needs another word` : `There is no ${code(`${first} ${word}`, 80)}`;
  const either = new Intl.ListFormat('en-GB', { type: 'disjunction' });
  const hint = near === undefined ? '' : ` Did you mean ${code(`${first} ${near}`)}?`;
  const words = `Use ${either.format(following.map((word) => code(word)))}.`;
  return new UserError(`${fault}.${hint} ${words}`, undefined, {
    offers: offers.length > MAX_OFFERS ? [] : offers,
  });
}

/** The words match no command, or continue after one, as in a sentence. Buttons offer likely commands. */
export class UnclearWords extends UnmatchedWords {}

function nearest(names: readonly string[], words: readonly string[]): string | undefined {
  const ranked = names
    .map((name) => ({ name, far: mistakes(words.slice(0, name.split(' ').length).join(' '), name) }))
    .toSorted((one, other) => one.far - other.far);
  const best = ranked[0];
  const isNear = best !== undefined && best.far <= Math.max(1, Math.floor(best.name.length / 3));
  return isNear ? best.name : undefined;
}

const MAX_COMPARED = 40;

/** Number of typing mistakes. Two letters in the wrong order count as one, and so does a missing end. */
export function mistakes(word: string, name: string): number {
  const start = word.slice(0, MAX_COMPARED);
  if (start.length > 2 && start !== name && name.startsWith(start)) return 1;
  const swapped = Array.from({ length: Math.max(0, start.length - 1) }, (_, at) => {
    const [one = '', other = ''] = start.slice(at, at + 2);
    return start.slice(0, at) + other + one + start.slice(at + 2);
  });
  return Math.min(distance(start, name), ...swapped.map((text) => 1 + distance(text, name)));
}

/**
 * The command's own arguments.
 * @throws UserError with the usage line if a word or flag is missing, surplus or malformed
 */
export function parseArguments(command: Command, rest: Words): unknown {
  const { flags: own = [], switches = [], takesAccount } = command;
  const { account: _, ...flags } = rest.flags;
  // `--server web-1` fills the word of that name. Only commands with an account take `--account`.
  const positionals = command.positionals.filter((name) => flags[name] === undefined);
  const options = [...own, ...switches, ...command.positionals].filter((name) => name !== 'account');
  const flagNames = [...options, ...(takesAccount ? ['account'] : [])];
  const [unread] = takesNames(command) ? [] : (rest.unknown ?? []);
  const strange = Object.keys(rest.flags).find((flag) => !flagNames.includes(flag)) ?? unread;
  if (strange !== undefined)
    throw new UserError(
      `There is no option ${code(`--${strange}`, 40)} for this command.`,
      usageLine(command),
    );
  const { words } = rest;
  const tooMany = words[positionals.length];
  if (tooMany !== undefined && !command.rest)
    throw new UnclearWords(
      `${describeWords(command)}, so ${code(tooMany, 40)} is not clear.`,
      usageLine(command),
    );
  const entries = positionals.map((name, at): [string, string | undefined] => {
    const isLast = at === positionals.length - 1;
    return [name, command.rest && isLast ? words.slice(at).join(' ') || undefined : words[at]];
  });
  const parsed = command.args.safeParse({ ...Object.fromEntries(entries), ...flags });
  if (parsed.success) return parsed.data;
  throw new UserError(describeIssue(parsed.error, Object.fromEntries(entries), command), usageLine(command));
}

/** "`test` takes `[project] [server]`", "`whoami` takes no other words"; mrkdwn. */
export function describeWords({ name, usage }: Pick<Command, 'name' | 'usage'>): string {
  return `${code(name)} takes ${usage === '' ? 'no other words' : code(usage, 200)}`;
}

/** True if a name may look like an option, e.g. `--beta`. */
function takesNames({ positionals }: Command): boolean {
  return positionals.some((name) => NAMES_OF_THINGS.has(name));
}

const NAMES_OF_THINGS: ReadonlySet<string> = new Set(['name', 'project', 'server']);

function describeIssue(
  error: z.ZodError,
  typed: Readonly<Record<string, string | undefined>>,
  command: Command,
): string {
  const issue = error.issues[0];
  const name = String(issue?.path[0] ?? '');
  if (issue?.code === 'custom') return issue.message;
  if (name === '') return 'This command needs more words.';
  const value = typed[name];
  return value === undefined ? `Which ${name}?` : `${describeWords(command)}, not ${code(value, 40)}.`;
}

const ADDRESS = /^(--[a-z-]+=)?["']?((?:https?:\/\/|[\w.-]+(?::\d+)?\/)[^\s"']+)["']?$/i;

/**
 * Replaces pasted addresses of projects and servers in a command line by names. Adds `--account` for the account of an
 * address.
 * @throws UserError for an address elsewhere, or of another account than the named one
 */
export function replaceAddresses(line: string, command: Command, baseUrl: string): string {
  if (!/\b(?:project|server)\b/.test(command.usage)) return line;
  const words = line.split(' ');
  const accounts = new Set<string>();
  const projectWords = words.map((word, at) => {
    const [, option = '', address = ''] = ADDRESS.exec(word) ?? [];
    const link = readProjectAddress(address, baseUrl);
    if (link === undefined) return word;
    accounts.add(link.account);
    const flag = option || (words[at - 1]?.startsWith('--') ? words[at - 1] : undefined);
    return flag === undefined ? wordsFor(link, command) : `${option}${quote(nameFor(link, flag))}`;
  });
  const [account, other] = accounts;
  if (account === undefined) return line;
  const typed = /(?:^| )--account[ =](\S+)/i.exec(line)?.[1]?.toLowerCase();
  if (other !== undefined || (typed !== undefined && typed !== account))
    throw new UserError(
      `The address belongs to the account ${code(account)}, but the command names another one. Leave out ${code('--account')}, or paste another address.`,
    );
  const isNew = typed === undefined && command.takesAccount === true;
  return [...projectWords, ...(isNew ? ['--account', account] : [])].join(' ');
}

function wordsFor({ project, server }: Addressed, { positionals, flags = [] }: Command): string {
  if (server === undefined) return quote(project);
  if (positionals.includes('server')) {
    const isFirst = positionals.indexOf('server') < positionals.indexOf('project');
    const both = isFirst ? [server, project] : [project, server];
    return both.map(quote).join(' ');
  }
  return flags.includes('server') ? `${quote(project)} --server ${quote(server)}` : quote(project);
}

function nameFor({ project, server }: Addressed, flag: string): string {
  return flag.startsWith('--server') ? (server ?? project) : project;
}

function quote(name: string): string {
  return `"${name.replaceAll('"', '')}"`;
}
