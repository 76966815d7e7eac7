import { withTimeout } from '../core/clock.ts';
import { UserError } from '../core/errors.ts';
import { code } from '../core/mrkdwn.ts';
import { indexNames, isNamed, pickNamed, spellName, unwrapSlackText } from '../core/names.ts';
import { isSameProject, type ProjectRef, projectId, toProjectRef } from '../core/project-ref.ts';
import type { Caller } from '../core/reply.ts';
import type { Requester } from '../records/account-keys.ts';
import { type Account, AccountFailure } from '../records/accounts.ts';
import { projectOfChannel } from '../records/channels.ts';
import { listKnownServers, mergeServers, type ServerRef } from '../records/known-servers.ts';
import type { Target } from '../records/test-runs.ts';
import { type Addressed, parseAccountName } from '../service/addresses.ts';
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
import { UnclearWords } from './command-router.ts';
import { readProjectAddress } from './pasted-addresses.ts';

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
  const link = named === undefined ? undefined : linkTo(context, named);
  if (link !== undefined) return projectOf({ ...context, account: link.account }, link.project, requester);
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

/** The project of a pasted address. @throws UserError if it is of another account than the one that is named */
function linkTo({ account, workspace }: CommandContext, typed: string): Addressed | undefined {
  const link = readProjectAddress(typed, workspace.config.SERVICE_BASE_URL);
  if (link === undefined || account === undefined || account.toLowerCase() === link.account) return link;
  throw new UserError(`That is an address of the account ${code(link.account)}, not of ${code(account)}.`);
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
  const known = servers ?? (await knownServers(workspace, account.name, project));
  const fitting = (await indexNames<ServerRef>(known)).find(named);
  const match = pickNamed(fitting, named);
  if (match !== undefined) return { identifier: match.identifier, name: match.name };
  if (servers === undefined && fitting.length === 0) return { identifier: named, name: named };
  if (fitting.length > 1)
    throw new ServerNeeded(`Several servers are named ${code(named)}. Which do you mean?`, here);
  const names = known.slice(0, 10).map((server) => code(server.name, 40));
  const missing = skipped.length === 0 ? '' : ` ${skippedWords(skipped)}`;
  throw new ServerNeeded(
    `There is no server ${code(named)} in ${code(project.permalink)}. It has ${names.join(', ') || 'none'}.${missing}`,
    here,
  );
}

/** The servers that Deckhand has shown of a project, for a service that lists none. */
async function knownServers(
  workspace: Pick<Workspace, 'store' | 'runs'>,
  account: string,
  project: ProjectRef,
): Promise<ServerRef[]> {
  const [shown, run] = await Promise.all([
    listKnownServers(workspace.store, account, project),
    workspace.runs.latest({ account, project }),
  ]);
  return mergeServers(shown, run?.servers ?? []);
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

/** An account by its name or its address, however it was typed. */
export function readAccountName({ config }: Pick<Workspace, 'config'>, typed: string): string {
  const name = spellName(unwrapSlackText(typed));
  return parseAccountName(name, config.SERVICE_BASE_URL) ?? name;
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
    text: '',
    ...said,
    account: said.account === undefined ? undefined : readAccountName(workspace, said.account),
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
  context: CommandContext,
  account: Account,
  chosen: string | string[] | undefined,
): Promise<ProjectRef> {
  const typed = typeof chosen === 'string' ? chosen : '';
  const wanted = linkTo({ ...context, account: account.name }, typed)?.project ?? typed;
  const projects = await projectsWith(context.workspace.projects, account, wanted);
  const project = wanted === '' ? undefined : await findProject(projects, wanted);
  if (project === undefined) throw new UserError('Choose the project.');
  return toProjectRef(project);
}

/** Which of the names of a project and its server comes first in the words of a command. */
type Order = 'project first' | 'server first';

/**
 * Names of several words may be typed without quotes: the longest name of a project counts, and the other words are the
 * server's. Words that name no project name a server of the channel's project, or of the only project that has it.
 * @throws ProjectNeeded if several have it, UnclearWords for more than two words that name nothing
 */
export async function splitNames(
  context: CommandContext,
  words: readonly string[],
  order: Order,
): Promise<{ named: string | undefined; server: string | undefined }> {
  const [first, ...others] = words;
  if (first === undefined) return { named: undefined, server: undefined };
  const account = await accountOf(context);
  const { projects } = context.workspace;
  const split =
    (await splitAtProject(await projects.list(account), words, order)) ??
    (await splitAtProject(await projects.look(account), words, order));
  if (split !== undefined) return split;
  const server = words.join(' ');
  const [having, ...more] = await projectsWithServer(context, account, server);
  if (having !== undefined && more.length > 0) throw new ProjectNeeded([having, ...more]);
  if (having !== undefined) return { named: having.permalink, server };
  if (others[1] !== undefined)
    throw new UnclearWords(`${code(others[1], 40)} is one word too many.`, USAGE[order]);
  const rest = others.join(' ') || undefined;
  return order === 'project first' ? { named: first, server: rest } : { named: rest, server: first };
}

const USAGE = {
  'project first': 'test [project] [server]',
  'server first': 'server show [server] [project]',
} satisfies Record<Order, string>;

/** More words than a name has. */
const MAX_WORDS = 12;

async function splitAtProject(
  projects: readonly Project[],
  words: readonly string[],
  order: Order,
): Promise<{ named: string; server: string | undefined } | undefined> {
  const index = await indexNames(projects);
  const lengths = Array.from({ length: Math.min(words.length, MAX_WORDS) }, (_, at) => at + 1).reverse();
  const beginnings = lengths.map((length) => [words.slice(0, length), words.slice(length)]);
  const ends = lengths
    .filter((length) => length < words.length)
    .map((length) => [words.slice(-length), words.slice(0, -length)]);
  const splits = order === 'project first' ? beginnings : [...ends, ...beginnings];
  for (const [project = [], server = []] of splits) {
    const named = project.join(' ');
    if (index.find(named).length > 0) return { named, server: server.join(' ') || undefined };
  }
  return undefined;
}

/** As many projects as are asked for their servers. */
const MAX_SEARCHED = 20;

async function projectsWithServer(
  context: CommandContext,
  account: Account,
  named: string,
): Promise<Project[]> {
  const { workspace } = context;
  const bound = context.project === undefined ? await boundProject(context, account) : undefined;
  const isMeant = (project: Project): boolean =>
    bound === undefined
      ? [undefined, project.permalink].includes(context.project)
      : isSameProject(project, bound);
  const projects = (await workspace.projects.list(account)).filter(isMeant);
  if (projects.length > MAX_SEARCHED) return [];
  const lists = await Promise.all(
    projects.map((project) => workspace.hosting.servers(account, projectId(project))),
  );
  const known = await Promise.all(
    projects.map((project, at) => lists[at] ?? knownServers(workspace, account.name, project)),
  );
  const having = projects.filter((_, at) => known[at]?.some((server) => isNamed(server, named)));
  const [only, ...others] = projects;
  const isUnlisted = only !== undefined && others.length === 0 && lists[0] === undefined;
  if (having.length > 0 || !isUnlisted) return having;
  return (await isServer(workspace, account, only, named)) ? [only] : [];
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
