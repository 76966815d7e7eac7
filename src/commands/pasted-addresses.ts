import { UserError } from '../core/errors.ts';
import { code } from '../core/mrkdwn.ts';
import { type Addressed, readAddress } from '../service/addresses.ts';
import type { Command } from './command.ts';

const ADDRESS = /^(--[a-z-]+=)?["']?((?:https?:\/\/|[\w.-]+(?::\d+)?\/)[^\s"']+)["']?$/i;

/**
 * A command line in which each pasted address of a project or server is replaced by their names, with `--account` for the
 * account that the address is of.
 * @throws UserError for an address of a project elsewhere, or of another account than the one that is named
 */
export function namePastedAddresses(line: string, command: Command, baseUrl: string): string {
  if (!/\b(?:project|server)\b/.test(command.usage)) return line;
  const words = line.split(' ');
  const accounts = new Set<string>();
  const named = words.map((word, at) => {
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
    throw new UserError(`The address is of the account ${code(account)}, and the words name another one.`);
  const isNew = typed === undefined && command.takesAccount === true;
  return [...named, ...(isNew ? ['--account', account] : [])].join(' ');
}

/**
 * The project, and perhaps the server, of a pasted address; undefined for any other text. Slack makes `http` of an address
 * that was typed without its scheme.
 * @throws UserError for the address of a project that is not at this service
 */
export function readProjectAddress(text: string, baseUrl: string): Addressed | undefined {
  const [, scheme = '', rest = ''] = /^(https?:\/\/)?(\S+)$/i.exec(text.trim()) ?? [];
  if (!/\/projects\/[^/]/.test(rest)) return undefined;
  const address = scheme + rest;
  const link = readAddress(`${baseUrl.replace(/:.*/, '')}://${rest}`, baseUrl);
  if (link === undefined && scheme !== '')
    throw new UserError(`${code(address, 100)} is not the address of a project at this service.`, 'projects');
  return link;
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
