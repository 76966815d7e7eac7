import { UserError } from '../../core/errors.ts';
import { code } from '../../core/mrkdwn.ts';
import { spellName, unwrapSlackText } from '../../core/names.ts';
import { type ProjectRef, toProjectRef } from '../../core/project-ref.ts';
import { withTimeout } from '../../core/time/clock.ts';
import type { Account, Requester } from '../../records/accounts.ts';
import { projectOfChannel } from '../../records/channels.ts';
import { type Addressed, parseAccountName, readAddress } from '../../service/addresses.ts';
import {
  findCurrentProject,
  findProject,
  noLongerListed,
  ProjectNeeded,
  projectsWith,
} from '../../workspace/projects.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import type { Command, CommandContext } from '../command.ts';

/**
 * The project that was typed or picked from a menu, else the channel's, else the account's only one. If the channel is bound
 * to an account that is not connected, the person must choose: it means no other account's project.
 * @throws ProjectNeeded if the person must choose, UserError if the name fits none or several
 */
export async function projectOf(
  context: CommandContext,
  named: string | undefined,
  requester?: Requester,
): Promise<{ account: Account; project: ProjectRef }> {
  const { account: typed, caller, workspace } = context;
  const link = named === undefined ? undefined : readLink(context, named);
  if (link !== undefined) return projectOf({ ...context, account: link.account }, link.project, requester);
  const account = await accountOf(context, requester);
  const wanted = named ?? context.project;
  const bound = wanted === undefined ? await boundProject(context, account) : undefined;
  if (bound !== undefined) return { account, project: bound };
  const projects = await projectsWith(workspace.projects, account, wanted);
  const project = await findProject(projects, wanted);
  const channel = await workspace.channels.get(caller.channel);
  const isGuess = wanted === undefined && typed === undefined && channel.account !== undefined;
  if (project === undefined || (isGuess && channel.account !== account.name))
    throw new ProjectNeeded(projects);
  return { account, project: toProjectRef(project) };
}

/**
 * The project of the account that the channel is bound to with `use`, by its present name.
 * @throws UserError if it is no longer listed
 */
export async function boundProject(
  { caller, workspace }: CommandContext,
  account: Account,
): Promise<ProjectRef | undefined> {
  const bound = projectOfChannel(await workspace.channels.get(caller.channel), account.name);
  return bound && currentProject({ workspace }, account, bound);
}

/** The project of a record by its present name. @throws UserError if it is no longer listed */
export async function currentProject(
  { workspace }: Pick<CommandContext, 'workspace'>,
  account: Account,
  stored: ProjectRef,
): Promise<ProjectRef> {
  const current = await findCurrentProject(workspace.projects, account, stored);
  if (current === undefined) throw noLongerListed(account.name, stored);
  return current;
}

/** Reads the address of a project. @throws UserError if it belongs to another account than the named one */
function readLink({ account, workspace }: CommandContext, typed: string): Addressed | undefined {
  const link = readProjectAddress(typed, workspace.config.SERVICE_BASE_URL);
  if (link === undefined || account === undefined || account.toLowerCase() === link.account) return link;
  throw new UserError(`That is an address of the account ${code(link.account)}, not of ${code(account)}.`);
}

/** True for the word that means all projects in a channel that is bound to one. */
export function isEverything(named: string): boolean {
  return named.toLowerCase() === 'all';
}

/** Slack's handle for opening a form expires after 3 s. A list does not wait longer either. */
const LOOKUP_TIMEOUT_MS = 800;

/** The present name of a record's project; undefined if the service does not answer in time. */
export async function lookUpProject(
  { accounts, clock, projects }: Workspace,
  { account: named, project }: { account?: string | undefined; project?: ProjectRef | undefined },
): Promise<ProjectRef | 'gone' | undefined> {
  const account = named === undefined ? undefined : await accounts.get(named);
  if (account === undefined || project === undefined) return undefined;
  const reading = findCurrentProject(projects, account, project).then(
    (current) => current ?? ('gone' as const),
  );
  return withTimeout(clock, LOOKUP_TIMEOUT_MS, reading);
}

/** As `lookUpProject`, for a form: the stored project if it is gone, or there is no answer in time. */
export async function presentInForm(
  workspace: Workspace,
  account: string | undefined,
  stored: ProjectRef | undefined,
): Promise<ProjectRef | undefined> {
  const current = await lookUpProject(workspace, { account, project: stored });
  return current === undefined || current === 'gone' ? stored : current;
}

/**
 * The account and project for a form that must open at once. Without a project the form asks for it: there are several,
 * or the service did not answer in time.
 * @throws UserError, AccountFailure as `projectOf` does
 */
export async function projectForForm(
  context: CommandContext,
  named: string | undefined,
): Promise<{ account: Account; project: ProjectRef | undefined }> {
  const { caller, workspace } = context;
  const account = await accountOf(context);
  const search = projectOf(context, named).catch((error: unknown) => {
    if (error instanceof ProjectNeeded) return { project: undefined };
    throw error;
  });
  const found = await withTimeout(workspace.clock, LOOKUP_TIMEOUT_MS, search);
  if (found !== undefined || named !== undefined) return { account, project: found?.project };
  return { account, project: projectOfChannel(await workspace.channels.get(caller.channel), account.name) };
}

/** Resolves the target of a form: what it was opened for, else the chosen project. @throws UserError, AccountFailure */
export async function resolveFormTarget(
  context: CommandContext,
  { account: named, project }: { account: string | undefined; project?: ProjectRef | undefined },
  chosen: string | string[] | undefined,
): Promise<{ account: Account; project: ProjectRef }> {
  const account = await context.workspace.accounts.resolve(context.caller, named);
  return { account, project: project ?? (await chosenProject(context, account, chosen)) };
}

/**
 * The project that was chosen in a form, or typed because the menu had nothing to offer.
 * @throws UserError if it fits none, AccountFailure
 */
export async function chosenProject(
  context: CommandContext,
  account: Account,
  chosen: string | string[] | undefined,
): Promise<ProjectRef> {
  const typed = typeof chosen === 'string' ? chosen : '';
  const wanted = readLink({ ...context, account: account.name }, typed)?.project ?? typed;
  const projects = await projectsWith(context.workspace.projects, account, wanted);
  const project = wanted === '' ? undefined : await findProject(projects, wanted);
  if (project === undefined) throw new UserError('Choose the project.');
  return toProjectRef(project);
}

/**
 * The account that the person named, else the channel's, else the workspace's default.
 * @param requester decides which key is used; left out, the person
 * @throws UserError if no such account is connected
 */
export async function accountOf(
  { account, caller, workspace }: CommandContext,
  requester: Requester = caller,
): Promise<Account> {
  const channel = await workspace.channels.get(caller.channel);
  return workspace.accounts.resolve(requester, account, channel.account);
}

/** The name of an account that was typed as a name or as an address. */
export function readAccountName({ config }: Pick<Workspace, 'config'>, typed: string): string {
  const name = spellName(unwrapSlackText(typed));
  return parseAccountName(name, config.SERVICE_BASE_URL) ?? name;
}

const ADDRESS = /^(--[a-z-]+=)?["']?((?:https?:\/\/|[\w.-]+(?::\d+)?\/)[^\s"']+)["']?$/i;

/**
 * Replaces each pasted address of a project or server in a command line by their names, and adds `--account` for the account
 * of the address.
 * @throws UserError for an address elsewhere, or of another account than the named one
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
 * The project, and perhaps the server, of a pasted address; undefined for any other text. Slack adds `http` to an address
 * without a scheme.
 * @throws UserError for the address of a project at another service
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
