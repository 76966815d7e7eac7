import { withTimeout } from '../core/clock.ts';
import { UserError } from '../core/errors.ts';
import { code } from '../core/mrkdwn.ts';
import { indexNames, isNamed, pickNamed } from '../core/names.ts';
import { isSameProject, type ProjectRef, projectId, toProjectRef } from '../core/project-ref.ts';
import type { Caller } from '../core/reply.ts';
import type { Requester } from '../records/account-keys.ts';
import { type Account, AccountFailure } from '../records/accounts.ts';
import { projectOfChannel } from '../records/channels.ts';
import type { Target } from '../records/test-runs.ts';
import type { SkippedRows } from '../service/call.ts';
import type { Project } from '../service/projects.ts';
import { getServer, listServers } from '../service/servers.ts';
import { skippedWords } from '../views/blocks/lists.ts';
import {
  findCurrentProject,
  findProject,
  noLongerListed,
  ProjectNeeded,
  projectsWith,
  ServerNeeded,
} from '../workspace/projects.ts';
import type { Workspace } from '../workspace/workspace.ts';
import type { CommandContext } from './command.ts';

/**
 * The account that the words, the channel or the workspace mean, with the key of the person who asks.
 * @param requester another, where it is not the person that the service is asked for
 * @throws UserError where there is none
 */
export async function accountOf(
  context: CommandContext,
  requester: Requester = context.caller,
): Promise<Account> {
  const { caller, workspace } = context;
  const channel = await workspace.channels.get(caller.channel);
  return workspace.accounts.resolve(requester, context.account, channel.account);
}

/**
 * The project that the words mean, else the one picked from a menu, the channel's, or the account's only one: not in a
 * channel that is bound to an account which is not connected, because another one's was not meant.
 * @throws ProjectNeeded where the person must choose, UserError where the name fits none or several
 */
export async function projectOf(
  context: CommandContext,
  named: string | undefined,
  requester?: Requester,
): Promise<{ account: Account; project: ProjectRef }> {
  const { account: typed, caller } = context;
  const account = await accountOf(context, requester);
  const channel = await context.workspace.channels.get(caller.channel);
  const wanted = named ?? context.project;
  const bound = wanted === undefined ? await boundProject(context, account) : undefined;
  if (bound !== undefined) return { account, project: bound };
  const projects = await projectsWith(context.workspace.projects, account, wanted);
  const project = await findProject(projects, wanted);
  const isOther = typed === undefined && (channel.account ?? account.name) !== account.name;
  const isGuess = wanted === undefined && isOther;
  if (project === undefined || isGuess) throw new ProjectNeeded(projects);
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
  if (bound === undefined) return undefined;
  return currentProject({ workspace }, account, bound);
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

/** True for the word that means all projects, in a channel that is bound to one. */
export function isEverything(named: string): boolean {
  return named.toLowerCase() === 'all';
}

/** The channel that a root message is posted in. @throws UserError where there is none, e.g. on App Home */
export function channelOf(context: CommandContext): string {
  const { channel } = context.caller;
  if (channel === undefined) throw new UserError('Run this in a channel, where its thread can be posted.');
  return channel;
}

/**
 * By identifier or name where the service lists servers; otherwise what was typed is taken as the identifier. A server
 * that was picked from a menu counts instead.
 * @throws ServerNeeded where nothing was named, or the name fits none or several
 */
export async function serverOf(
  { workspace, server: picked }: CommandContext,
  account: Account,
  project: ProjectRef,
  typed: string | undefined,
): Promise<{ identifier: string; name: string }> {
  const here = { account: account.name, project: project.permalink };
  const named = picked ?? typed;
  if (named === undefined) throw new ServerNeeded('Which server do you mean?', here);
  // Not from the cache, because a server may have been added a moment ago.
  const skipped: SkippedRows[] = [];
  const servers = await workspace.accounts.use(account, (client) =>
    listServers(client, projectId(project), { skipped }),
  );
  if (servers === undefined) return { identifier: named, name: named };
  const fitting = (await indexNames(servers)).find(named);
  const match = pickNamed(fitting, named);
  if (match !== undefined) return { identifier: match.identifier, name: match.name };
  if (fitting.length > 1)
    throw new ServerNeeded(`Several servers are named ${code(named)}. Which do you mean?`, here);
  const known = servers.slice(0, 10).map((server) => code(server.name, 40));
  const missing = skipped.length === 0 ? '' : ` ${skippedWords(skipped)}`;
  throw new ServerNeeded(
    `There is no server ${code(named)} in ${code(project.permalink)}. It has ${known.join(', ') || 'none'}.${missing}`,
    here,
  );
}

/** What a test is of. @param typed its server, where it is of one alone @throws ServerNeeded */
export async function targetOf(
  context: CommandContext,
  account: Account,
  project: ProjectRef,
  typed: string | undefined,
): Promise<Target> {
  const target = { account: account.name, project };
  if (typed === undefined) return target;
  return { ...target, server: await serverOf(context, account, project, typed) };
}

type Said = Pick<CommandContext, 'account' | 'text' | 'project' | 'server'>;

/** The context that a handler is given; `said` is what the person typed or chose. */
export function createContext(
  workspace: Workspace,
  caller: Caller,
  said: Partial<Said> = {},
): CommandContext {
  const { user, channel } = caller;
  return {
    workspace,
    caller,
    account: undefined,
    text: '',
    ...said,
    explain(error, { newAccount, ...fields } = {}) {
      return workspace.report(error, { user: user || undefined, channel, ...fields }, newAccount);
    },
  };
}

/** Slack's handle for opening a form expires after 3 s; what is not known in time is asked for in the form. */
const LOOKUP_TIMEOUT_MS = 800;

/** The project of a record by its present name; the stored one if the service does not answer in time. */
export async function presentInForm(
  { accounts, clock, projects }: Workspace,
  named: string | undefined,
  stored: ProjectRef | undefined,
): Promise<ProjectRef | undefined> {
  const account = named === undefined ? undefined : await accounts.get(named);
  if (account === undefined || stored === undefined) return stored;
  return (
    (await withTimeout(clock, LOOKUP_TIMEOUT_MS, findCurrentProject(projects, account, stored))) ?? stored
  );
}

/**
 * The account and project for a form that must open at once. No project: the form asks for it, because there are
 * several, or because the service does not answer in time.
 * @throws UserError, AccountFailure as `projectOf` does
 */
export async function projectForForm(
  context: CommandContext,
  named: string | undefined,
): Promise<{ account: Account; project: ProjectRef | undefined }> {
  const { caller, workspace } = context;
  const account = await accountOf(context);
  const found = await withTimeout(workspace.clock, LOOKUP_TIMEOUT_MS, projectUnlessSeveral(context, named));
  if (found !== undefined || named !== undefined) return { account, project: found ?? undefined };
  return { account, project: projectOfChannel(await workspace.channels.get(caller.channel), account.name) };
}

/** Null where the person has to choose. */
async function projectUnlessSeveral(
  context: CommandContext,
  named: string | undefined,
): Promise<ProjectRef | null> {
  try {
    const { project } = await projectOf(context, named);
    return project;
  } catch (error) {
    if (error instanceof ProjectNeeded) return null;
    throw error;
  }
}

/**
 * The project that was chosen in a form, or typed where the menu had nothing to offer.
 * @throws UserError where it fits none, AccountFailure
 */
export async function chosenProject(
  { workspace }: CommandContext,
  account: Account,
  chosen: string | string[] | undefined,
): Promise<ProjectRef> {
  const projects = await workspace.projects.list(account);
  const project = typeof chosen === 'string' ? await findProject(projects, chosen) : undefined;
  if (project === undefined) throw new UserError('Choose the project.');
  return toProjectRef(project);
}

/**
 * A name of two words may be typed without quotes: as a project's name it goes before a server's. A single word that
 * names no project names a server of the channel's project, or of the only project that has such a server.
 * @throws ProjectNeeded where several have
 */
export async function splitName(
  context: CommandContext,
  named: string | undefined,
  server: string | undefined,
): Promise<{ named: string | undefined; server: string | undefined }> {
  if (named === undefined) return { named, server };
  const account = await accountOf(context);
  const whole = server === undefined ? named : `${named} ${server}`;
  const projects = await projectsWith(context.workspace.projects, account, whole);
  if ((await indexNames(projects)).find(whole).length > 0) return { named: whole, server: undefined };
  if (server !== undefined) return { named, server };
  const bound = context.project === undefined ? await boundProject(context, account) : undefined;
  const isMeant = (project: Project): boolean =>
    bound === undefined
      ? [undefined, project.permalink].includes(context.project)
      : isSameProject(project, bound);
  const within = projects.filter(isMeant);
  const having = await projectsWithServer(context, account, within, named);
  if (having.length > 1) throw new ProjectNeeded(having);
  return having[0] === undefined ? { named, server } : { named: having[0].permalink, server: named };
}

/** As many projects as are asked for their servers. */
const MAX_SEARCHED = 20;

async function projectsWithServer(
  { workspace }: CommandContext,
  account: Account,
  projects: readonly Project[],
  named: string,
): Promise<Project[]> {
  if (projects.length > MAX_SEARCHED) return [];
  const lists = await Promise.all(
    projects.map((project) => workspace.hosting.servers(account, projectId(project))),
  );
  const [only, ...others] = projects;
  if (only !== undefined && others.length === 0 && lists[0] === undefined)
    return (await isServer(workspace, account, only, named)) ? [only] : [];
  return projects.filter((_, at) => lists[at]?.some((server) => isNamed(server, named)));
}

/** Where the service lists no servers, what was typed may be the identifier of one. */
async function isServer(
  { accounts }: Pick<Workspace, 'accounts'>,
  account: Account,
  project: Project,
  identifier: string,
): Promise<boolean> {
  try {
    await accounts.use(account, (client) => getServer(client, projectId(project), identifier));
    return true;
  } catch (error) {
    if (error instanceof AccountFailure && NOT_THERE.has(error.cause.kind)) return false;
    throw error;
  }
}

const NOT_THERE: ReadonlySet<string> = new Set(['record_not_found', 'forbidden']);
