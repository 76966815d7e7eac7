import { z } from 'zod';
import { AccountFailure, UnmatchedWords, UserError } from '../../core/errors.ts';
import { code } from '../../core/mrkdwn.ts';
import { indexNames, isNamed } from '../../core/names.ts';
import { isSameProject, type ProjectRef, projectId, toProjectRef } from '../../core/project-ref.ts';
import type { Account, KeyUse } from '../../records/accounts.ts';
import type { Project } from '../../service/projects.ts';
import { getServer } from '../../service/servers.ts';
import { usageLine } from '../../views/help/help-messages.ts';
import { NoSuchProject, ProjectNeeded, ServerNeeded, suggestNearest } from '../../workspace/project-list.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import type { Command, Targets } from '../command.ts';
import { describeWords, UnclearWords } from '../command-router.ts';
import type { CommandContext } from '../context.ts';
import {
  findBoundProject,
  listServerNames,
  listShownServers,
  resolveAccount,
  resolveProject,
  searchOtherAccounts,
} from './targets.ts';

/** Names of a target command's arguments; each may have several words. */
const Names = z.object({ project: z.string().optional(), server: z.string().optional() });

/**
 * Resolves the target that a command declares.
 * @throws UserError, ProjectNeeded, AccountFailure
 */
export async function resolveTarget(
  command: Command,
  args: unknown,
  context: CommandContext,
): Promise<Targets[Command['target']]> {
  const keyUse = command.keyUse?.(context.invocation);
  switch (command.target) {
    case 'none':
      return {};
    case 'account':
      return { account: await resolveAccount(context, keyUse) };
    case 'project':
      return resolveProject(context, Names.parse(args).project, keyUse);
    case 'server': {
      const { projectName, server, account } = await splitNames(context, command, Names.parse(args));
      const here = account === undefined ? context : { ...context, account };
      return { ...(await resolveProject(here, projectName, keyUse)), server };
    }
  }
}

interface SplitNames {
  projectName: string | undefined;
  server: string | undefined;
  /** Another account than the one that was searched first. */
  account?: string;
}

/**
 * Splits words into the names of a project and a server: the longest name of a project counts. Words that name no project
 * are a server of the channel's project, or of the only project that has it.
 * @throws ProjectNeeded if several have it, UnclearWords for more than two words without a match, UserError or ServerNeeded
 * if one word matches nothing
 */
async function splitNames(
  context: CommandContext,
  command: Command,
  { project, server: text }: z.infer<typeof Names>,
): Promise<SplitNames> {
  const isProjectFirst = command.positionals[0] === 'project';
  const [one, other] = isProjectFirst ? [project, text] : [text, project];
  const [first, ...others] = [one, ...(other?.split(' ') ?? [])].filter((word) => word !== undefined);
  if (first === undefined) return { projectName: undefined, server: undefined };
  const words = [first, ...others];
  const account = await resolveAccount(context);
  const { projects } = context.workspace;
  const split =
    (await splitAtProject(await projects.list(account), words, isProjectFirst)) ??
    (await splitAtProject(await projects.look(account), words, isProjectFirst));
  if (split !== undefined) return split;
  const server = words.join(' ');
  // The menu replaces a server's name that did not match.
  if (context.server !== undefined) return { projectName: context.project, server };
  const having = await findProjectWithServer(context, account, server);
  if (having !== undefined) return { projectName: having.permalink, server };
  const elsewhere = await searchOtherAccounts(context, account, (all) =>
    splitAtProject(all, words, isProjectFirst),
  );
  if (elsewhere !== undefined) return { ...elsewhere.match, account: elsewhere.account.name };
  if (others[1] !== undefined)
    throw new UnclearWords(
      `${describeWords(command)}, so ${code(others[1], 40)} is not clear.`,
      usageLine(command),
    );
  if (others.length === 0) throw await explainNoMatch(context, account, server);
  const rest = others.join(' ') || undefined;
  return isProjectFirst ? { projectName: first, server: rest } : { projectName: rest, server: first };
}

/** Maximum number of words in a name. */
const MAX_WORDS = 12;

async function splitAtProject(
  projects: readonly Project[],
  words: readonly string[],
  isProjectFirst: boolean,
): Promise<SplitNames | undefined> {
  const index = await indexNames(projects);
  const lengths = Array.from({ length: Math.min(words.length, MAX_WORDS) }, (_, at) => at + 1).reverse();
  const beginnings = lengths.map((length) => [words.slice(0, length), words.slice(length)]);
  const ends = lengths
    .filter((length) => length < words.length)
    .map((length) => [words.slice(-length), words.slice(0, -length)]);
  const splits = isProjectFirst ? beginnings : [...ends, ...beginnings];
  for (const [project = [], server = []] of splits) {
    const projectName = project.join(' ');
    if (index.find(projectName).length > 0) return { projectName, server: server.join(' ') || undefined };
  }
  return undefined;
}

/** Splits words into a project and its server; undefined unless they name both. */
export async function splitProjectAndServer(
  context: CommandContext,
  account: Account,
  text: string,
): Promise<{ project: string; server: string } | undefined> {
  const words = text.split(' ');
  const split =
    (await splitAtProject(await context.workspace.projects.list(account), words, true)) ??
    (await searchOtherAccounts(context, account, (all) => splitAtProject(all, words, true)))?.match;
  const { projectName: project, server } = split ?? {};
  return project === undefined || server === undefined ? undefined : { project, server };
}

/**
 * Resolves words that name a project, or the server of one: then `server` holds the words.
 * @throws ProjectNeeded if several projects have the server, UserError or ServerNeeded if nothing matches
 */
export async function resolveProjectOrServer(
  context: CommandContext,
  words: string | undefined,
  keyUse?: KeyUse,
): Promise<{ account: Account; project: ProjectRef; server?: string }> {
  try {
    return await resolveProject(context, words, keyUse);
  } catch (error) {
    if (!(error instanceof NoSuchProject) || words === undefined) throw error;
    // A menu replaces a server's name that did not match.
    if (context.server !== undefined)
      return { ...(await resolveProject(context, undefined, keyUse)), server: words };
    const account = await resolveAccount(context, keyUse);
    const having = await findProjectWithServer(context, account, words);
    if (having === undefined) throw await explainNoMatch(context, account, words);
    return { account, project: toProjectRef(having), server: words };
  }
}

/** Maximum number of projects to search for a server. */
const MAX_SEARCHED = 20;

/**
 * The channel's project if it has the server, else the only project that has it; undefined if none has.
 * @throws ProjectNeeded if several have it
 */
async function findProjectWithServer(
  context: CommandContext,
  account: Account,
  serverName: string,
): Promise<Project | undefined> {
  const { workspace, project: picked } = context;
  const all = await workspace.projects.list(account);
  const bound = picked === undefined ? await findBoundProject(context, account) : undefined;
  const own = all.filter((project) => bound !== undefined && isSameProject(project, bound));
  const others = all.filter(
    (project) => !own.includes(project) && [undefined, project.permalink].includes(picked),
  );
  for (const projects of [own, others]) {
    if (projects.length > MAX_SEARCHED) return undefined;
    const [having, ...more] = await listProjectsWithServer(workspace, account, projects, serverName);
    if (having !== undefined && more.length > 0) throw new ProjectNeeded([having, ...more]);
    if (having !== undefined) return having;
  }
  return undefined;
}

async function listProjectsWithServer(
  workspace: Workspace,
  account: Account,
  projects: readonly Project[],
  serverName: string,
): Promise<Project[]> {
  const lists = await Promise.all(
    projects.map((project) => workspace.hosting.servers(account, projectId(project))),
  );
  const servers = await Promise.all(
    projects.map((project, at) => lists[at] ?? listShownServers(workspace, account.name, project)),
  );
  const having = projects.filter((_, at) => servers[at]?.some((server) => isNamed(server, serverName)));
  const [only, ...others] = projects;
  const isUnlisted = only !== undefined && others.length === 0 && lists[0] === undefined;
  if (having.length > 0 || !isUnlisted) return having;
  return (await isServer(workspace, account, only, serverName)) ? [only] : [];
}

/** If the service does not list servers, a typed word may be the identifier of one. */
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

/** The error for a word that names neither a project nor a server. In a bound channel it offers the project's servers. */
async function explainNoMatch(
  context: CommandContext,
  account: Account,
  word: string,
): Promise<UserError | ServerNeeded> {
  const { workspace } = context;
  const projects = await workspace.projects.list(account);
  if (projects.length === 0)
    return new UserError('This account has no projects yet. Create one at the service, then try again.');
  const bound = await findBoundProject(context, account);
  const missing = `There is no project or server ${code(word)}.${suggestNearest(projects, word)}`;
  if (bound !== undefined) {
    const listed = await workspace.hosting.servers(account, projectId(bound));
    const servers = listed ?? (await listShownServers(workspace, account.name, bound));
    const here = { account: account.name, project: bound.permalink };
    return new ServerNeeded(`${missing} ${code(bound.permalink)} has ${listServerNames(servers)}.`, here, {
      isUnmatched: true,
    });
  }
  const isUnsearched = projects.length > MAX_SEARCHED;
  if (!isUnsearched) return new UnmatchedWords(missing, 'projects');
  return new UnmatchedWords(
    `There is no project ${code(word)}.${suggestNearest(projects, word)} If it is a server, name its project too.`,
    'projects',
  );
}
