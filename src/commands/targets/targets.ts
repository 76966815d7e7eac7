import { AccountFailure, AccountKeyUnreadable, UserError } from '../../core/errors.ts';
import { code } from '../../core/mrkdwn.ts';
import { indexNames, isNamed, pickNamed, spellName, unwrapSlackText } from '../../core/names.ts';
import { type ProjectRef, projectId, toProjectRef } from '../../core/project-ref.ts';
import { withTimeout } from '../../core/time/clock.ts';
import type { Account, KeyUse } from '../../records/accounts.ts';
import { readChannelProject } from '../../records/channels.ts';
import { listKnownServers, mergeServers, type ServerRef } from '../../records/known-servers.ts';
import type { Target } from '../../records/test-runs.ts';
import { type Addressed, parseAccountName, readProjectAddress } from '../../service/addresses.ts';
import type { SkippedRows } from '../../service/call.ts';
import type { Project } from '../../service/projects.ts';
import { listServers } from '../../service/servers.ts';
import { skippedWords } from '../../views/blocks/lists.ts';
import {
  createNoLongerListed,
  findCurrentProject,
  findProject,
  listProjectsWith,
  ProjectNeeded,
  ServerNeeded,
} from '../../workspace/project-list.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import type { CommandContext } from '../context.ts';

/**
 * The project that was typed or picked from a menu, else the channel's, else the account's only one. If the channel is bound
 * to an account that is not connected, the person must choose: it means no other account's project.
 * @throws ProjectNeeded if the person must choose, UserError if the name fits none or several
 */
export async function resolveProject(
  context: CommandContext,
  projectName: string | undefined,
  keyUse?: KeyUse,
): Promise<{ account: Account; project: ProjectRef }> {
  const { account: text, invocation, workspace } = context;
  const link = projectName === undefined ? undefined : readLink(context, projectName);
  if (link !== undefined) return resolveProject({ ...context, account: link.account }, link.project, keyUse);
  const account = await resolveAccount(context, keyUse);
  const requested = projectName ?? context.project;
  const bound = requested === undefined ? await findBoundProject(context, account) : undefined;
  if (bound !== undefined) return { account, project: bound };
  const projects = await listProjectsWith(workspace.projects, account, requested);
  const elsewhere = await findElsewhere(context, account, projects, requested, keyUse);
  if (elsewhere !== undefined)
    return resolveProject({ ...context, account: elsewhere.name }, projectName, keyUse);
  const project = await findProject(projects, requested);
  const channel = await workspace.channels.get(invocation.channel);
  const isGuess = requested === undefined && text === undefined && channel.account !== undefined;
  if (project === undefined || (isGuess && channel.account !== account.name))
    throw new ProjectNeeded(projects);
  return { account, project: toProjectRef(project) };
}

/** Another account with a project that the first one lacks. @throws UserError if several have it */
async function findElsewhere(
  context: CommandContext,
  first: Account,
  projects: readonly Project[],
  name: string | undefined,
  keyUse: KeyUse | undefined,
): Promise<Account | undefined> {
  if (name === undefined || (await indexNames(projects)).find(name).length > 0) return undefined;
  const find = async (all: readonly Project[]): Promise<true | undefined> =>
    (await indexNames(all)).find(name).length > 0 || undefined;
  return (await searchOtherAccounts(context, first, find, keyUse))?.account;
}

/**
 * Searches the projects of the other accounts that the person may use, unless an account was named. The default one comes
 * first.
 * @throws UserError if several others have a match
 */
export async function searchOtherAccounts<T>(
  { account: text, invocation, workspace }: CommandContext,
  first: Account,
  find: (projects: readonly Project[]) => Promise<T | undefined>,
  keyUse: KeyUse = invocation,
): Promise<{ account: Account; match: T } | undefined> {
  if (text !== undefined) return undefined;
  const { accounts, projects } = workspace;
  const others = (await accounts.list(keyUse)).filter(({ name }) => name !== first.name);
  const search = async (account: Account): Promise<Array<{ account: Account; match: T }>> => {
    try {
      const match = (await find(await projects.list(account))) ?? (await find(await projects.look(account)));
      return match === undefined ? [] : [{ account, match }];
    } catch (error) {
      if (error instanceof AccountFailure || error instanceof AccountKeyUnreadable) return [];
      throw error;
    }
  };
  const matches = (await Promise.all(others.map(search))).flat();
  const preferred = await accounts.defaultName(keyUse);
  const best = matches.find(({ account }) => account.name === preferred);
  if (best !== undefined || matches.length < 2) return best ?? matches[0];
  const names = matches.map(({ account }) => account.name);
  throw new UserError(
    `Several accounts have that project: ${names.map((name) => code(name)).join(', ')}. Name one with ${code('--account')}.`,
    undefined,
    { choices: names.map((name) => ({ value: `--account ${name}`, text: name })) },
  );
}

/**
 * The project of the account that the channel is bound to with `use`, by its present name.
 * @throws UserError if it is no longer listed
 */
export async function findBoundProject(
  { invocation, workspace }: CommandContext,
  account: Account,
): Promise<ProjectRef | undefined> {
  const bound = readChannelProject(await workspace.channels.get(invocation.channel), account.name);
  return bound && expectCurrentProject({ workspace }, account, bound);
}

/** The project of a record by its present name. @throws UserError if it is no longer listed */
export async function expectCurrentProject(
  { workspace }: Pick<CommandContext, 'workspace'>,
  account: Account,
  project: ProjectRef,
): Promise<ProjectRef> {
  const current = await findCurrentProject(workspace.projects, account, project);
  if (current === undefined) throw createNoLongerListed(account.name, project);
  return current;
}

/** Reads the address of a project. @throws UserError if it belongs to another account than the named one */
function readLink({ account, workspace }: CommandContext, text: string): Addressed | undefined {
  const link = readProjectAddress(text, workspace.config.SERVICE_BASE_URL);
  if (link === undefined || account === undefined || account.toLowerCase() === link.account) return link;
  throw new UserError(
    `That is an address of the account ${code(link.account)}, not of ${code(account)}. Leave out ${code('--account')}, or paste another address.`,
  );
}

/** True for a word that means all projects. A project may be called `all`, but none is called `*`. */
export function isEverything(word: string): boolean {
  return word === '*' || word.toLowerCase() === 'all';
}

/** True if a schedule or a deployment is of a project that is called so. The service is not asked, because it may be away. */
export async function isKnownProject(
  { workspace: { ledger, schedules } }: Pick<CommandContext, 'workspace'>,
  word: string,
): Promise<boolean> {
  const standings = await ledger.standings.list();
  const read = standings.map(({ name, project, permalink }) => ({ name, identifier: project, permalink }));
  const followed = (await schedules.all()).flatMap((one) =>
    'project' in one && one.project !== undefined ? [one.project] : [],
  );
  return [...read, ...followed].some((project) => isNamed(project, word));
}

/** True if a project is called so. A word such as `all` or `none` then means it. False if the service does not tell. */
export async function namesProject(
  { workspace: { projects } }: Pick<CommandContext, 'workspace'>,
  account: Account,
  word: string,
): Promise<boolean> {
  try {
    return (await indexNames(await projects.list(account))).find(word).length > 0;
  } catch (error) {
    if (error instanceof AccountFailure) return false;
    throw error;
  }
}

/** Slack's handle for opening a form expires after 3 s. A list does not wait longer either. */
const LOOKUP_TIMEOUT_MS = 800;

/** The present name of a record's project; undefined if the service does not answer in time. */
export async function lookUpProject(
  { accounts, clock, projects }: Workspace,
  { account: accountName, project }: { account?: string | undefined; project?: ProjectRef | undefined },
): Promise<ProjectRef | 'gone' | undefined> {
  const account = accountName === undefined ? undefined : await accounts.get(accountName);
  if (account === undefined || project === undefined) return undefined;
  const reading = findCurrentProject(projects, account, project).then(
    (current) => current ?? ('gone' as const),
  );
  return withTimeout(clock, LOOKUP_TIMEOUT_MS, reading);
}

/** Like `lookUpProject`, for a form: the stored project if the service no longer lists it or does not answer in time. */
export async function findProjectForForm(
  workspace: Workspace,
  account: string | undefined,
  project: ProjectRef | undefined,
): Promise<ProjectRef | undefined> {
  const current = await lookUpProject(workspace, { account, project: project });
  return current === undefined || current === 'gone' ? project : current;
}

/**
 * The account and project for a form that must open at once. Without a project the form asks for it: there are several,
 * or the service did not answer in time.
 * @throws UserError, AccountFailure as `resolveProject` does
 */
export async function resolveForForm(
  context: CommandContext,
  projectName: string | undefined,
): Promise<{ account: Account; project: ProjectRef | undefined }> {
  const { invocation, workspace } = context;
  const account = await resolveAccount(context);
  const search = resolveProject(context, projectName).catch((error: unknown) => {
    if (error instanceof ProjectNeeded) return { project: undefined };
    throw error;
  });
  const result = await withTimeout(workspace.clock, LOOKUP_TIMEOUT_MS, search);
  if (result !== undefined || projectName !== undefined) return { account, project: undefined, ...result };
  return {
    account,
    project: readChannelProject(await workspace.channels.get(invocation.channel), account.name),
  };
}

/** Resolves the target of a form: what it was opened for, else the chosen project. @throws UserError, AccountFailure */
export async function resolveFormTarget(
  context: CommandContext,
  { account: accountName, project }: { account: string | undefined; project?: ProjectRef | undefined },
  chosen: string | string[] | undefined,
): Promise<{ account: Account; project: ProjectRef }> {
  const account = await context.workspace.accounts.resolve(context.invocation, accountName);
  return { account, project: project ?? (await findChosenProject(context, account, chosen)) };
}

/**
 * The project that was chosen in a form, or typed because the menu had nothing to offer.
 * @throws UserError if it fits none, AccountFailure
 */
export async function findChosenProject(
  context: CommandContext,
  account: Account,
  chosen: string | string[] | undefined,
): Promise<ProjectRef> {
  const text = typeof chosen === 'string' ? chosen : '';
  const requested = readLink({ ...context, account: account.name }, text)?.project ?? text;
  const projects = await listProjectsWith(context.workspace.projects, account, requested);
  const project = requested === '' ? undefined : await findProject(projects, requested);
  if (project === undefined) throw new UserError('Choose the project.');
  return toProjectRef(project);
}

/**
 * The account that the person named, else the channel's, else the workspace's default.
 * @param keyUse decides which key is used; by default the person's
 * @throws UserError if no such account is connected
 */
export async function resolveAccount(
  { account, invocation, workspace }: CommandContext,
  keyUse: KeyUse = invocation,
): Promise<Account> {
  const channel = await workspace.channels.get(invocation.channel);
  return workspace.accounts.resolve(keyUse, account, channel.account);
}

/** The name of an account that was typed as a name or as an address. */
export function readAccountName({ config }: Pick<Workspace, 'config'>, text: string): string {
  const name = spellName(unwrapSlackText(text));
  return parseAccountName(name, config.SERVICE_BASE_URL) ?? name;
}

/**
 * The server that was picked from a menu, else the one with the typed identifier or name. If the service does not list
 * servers, the typed word is taken as the identifier.
 * @throws ServerNeeded if nothing was named, or the name fits none or several
 */
export async function resolveServer(
  { workspace, server: picked }: CommandContext,
  account: Account,
  project: ProjectRef,
  serverText: string | undefined,
): Promise<{ identifier: string; name: string }> {
  const here = { account: account.name, project: project.permalink };
  const serverName = picked ?? serverText;
  if (serverName === undefined) throw new ServerNeeded('Which server do you mean?', here);
  // Not from the cache, because a server may have been added a moment ago.
  const skipped: SkippedRows[] = [];
  const servers = await workspace.accounts.use(account, (client) =>
    listServers(client, projectId(project), { skipped }),
  );
  const candidates = servers ?? (await listShownServers(workspace, account.name, project));
  const fitting = (await indexNames<ServerRef>(candidates)).find(serverName);
  const match = pickNamed(fitting, serverName);
  if (match !== undefined) return { identifier: match.identifier, name: match.name };
  if (servers === undefined && fitting.length === 0) return { identifier: serverName, name: serverName };
  if (fitting.length > 1)
    throw new ServerNeeded(`Several servers are named ${code(serverName)}. Which do you mean?`, here);
  const missing = ` ${skippedWords(skipped)}`.trimEnd();
  throw new ServerNeeded(
    `There is no server ${code(serverName)} in ${code(project.permalink)}. It has ${listServerNames(candidates)}.${missing}`,
    here,
    { isUnmatched: true },
  );
}

/** The servers of a project that Deckhand has shown, for a service that does not list them. */
export async function listShownServers(
  workspace: Pick<Workspace, 'store' | 'runs'>,
  account: string,
  project: ProjectRef,
): Promise<ServerRef[]> {
  const [projectServers, run] = await Promise.all([
    listKnownServers(workspace.store, account, project),
    workspace.runs.latest({ account, project }),
  ]);
  return mergeServers(projectServers, run?.servers ?? []);
}

/** "`web-1`, `web-2`", or "no servers"; mrkdwn. */
export function listServerNames(servers: readonly { name: string }[]): string {
  return (
    servers
      .slice(0, 10)
      .map((server) => code(server.name, 40))
      .join(', ') || 'none'
  );
}

/** The target of a test. @param serverText its server, if one alone is tested @throws ServerNeeded */
export async function resolveTestTarget(
  context: CommandContext,
  account: Account,
  project: ProjectRef,
  serverText: string | undefined,
): Promise<Target> {
  const target = { account: account.name, project };
  if (serverText === undefined) return target;
  return { ...target, server: await resolveServer(context, account, project, serverText) };
}
