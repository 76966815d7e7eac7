import { distance } from 'fastest-levenshtein';
import { AccountFailure, UnmatchedWords, UserError } from '../core/errors.ts';
import { hashJson } from '../core/json.ts';
import { bold, code, listFirst } from '../core/mrkdwn.ts';
import { indexNames, pickNamed, spellName } from '../core/names.ts';
import { isSameProject, type ProjectRef, toProjectRef } from '../core/project-ref.ts';
import type { Clock } from '../core/time/clock.ts';
import { TtlCache } from '../core/ttl-cache.ts';
import type { Account, Accounts } from '../records/accounts.ts';
import type { ListOptions, SkippedRows } from '../service/call.ts';
import { listProjects, type Project } from '../service/projects.ts';
import { type NamingRecords, storePresentNames } from './present-names.ts';

export type Projects = ReturnType<typeof createProjects>;

export function createProjects(parts: NamingRecords & { accounts: Accounts; clock: Clock }) {
  const fresh = new TtlCache<Project[]>(parts.clock);
  /** Hash of the names that the last list of each account had. */
  const stored = new Map<string, string>();
  // The cache's key holds the sealed key, so that a new key never shows answers to an old one.
  const makeKey = ({ name, sealedKey }: Account): string[] => [name, sealedKey];
  const load = (account: Account, options?: ListOptions) => async (): Promise<Project[]> => {
    const projects = await parts.accounts.use(account, (client) => listProjects(client, options));
    const names = hashJson(projects.map(({ identifier, permalink, name }) => [identifier, permalink, name]));
    if (stored.get(account.name) !== names) await storePresentNames(parts, account.name, projects);
    stored.set(account.name, names);
    return projects;
  };

  return {
    /** At most a few seconds old, for menus that search with each letter. @throws AccountFailure */
    list: (account: Account) => fresh.get(makeKey(account), load(account)),
    /** Reads the list now. @throws AccountFailure */
    look: (account: Account, options?: ListOptions) => fresh.renew(makeKey(account), load(account, options)),
  };
}

/** For one request, which reads the list once. */
export function rememberProjects(projects: Projects): Projects {
  const lists = new Map<string, Promise<Project[]>>();
  return {
    list: projects.list,
    look(account, options) {
      // The options collect the entries that could not be read, separately for each call.
      if (options !== undefined) return projects.look(account, options);
      const list = lists.get(account.sealedKey) ?? projects.look(account);
      lists.set(account.sealedKey, list);
      return list;
    },
  };
}

/**
 * The project of a record, as the service lists it now; undefined if it is no longer listed. Returns the
 * record's own if the service does not answer, or gives a list that is not whole.
 */
export async function findCurrentProject(
  projects: Projects,
  account: Account,
  project: ProjectRef,
): Promise<ProjectRef | undefined> {
  try {
    const find = (all: readonly Project[]) => all.find((candidate) => isSameProject(candidate, project));
    const skipped: SkippedRows[] = [];
    const match = find(await projects.look(account)) ?? find(await projects.look(account, { skipped }));
    if (match === undefined) return skipped.length > 0 ? project : undefined;
    return toProjectRef(match);
  } catch (error) {
    if (error instanceof AccountFailure) return project;
    throw error;
  }
}

/**
 * The projects for a command that names one: the cached list if it has the name, else a new one. Simultaneous
 * requests share it.
 */
export async function listProjectsWith(
  projects: Projects,
  account: Account,
  projectName: string | undefined,
): Promise<Project[]> {
  if (projectName === undefined) return projects.look(account);
  const cached = await projects.list(account);
  return (await indexNames(cached)).find(projectName).length > 0 ? cached : projects.look(account);
}

/** A longer list of names would not be read. */
const MAX_SHOWN = 10;

/**
 * The project by permalink, identifier or unambiguous name; undefined if no name was given and the account has several.
 * @throws UserError if the name matches none or several
 */
export async function findProject(
  projects: readonly Project[],
  projectName: string | undefined,
): Promise<Project | undefined> {
  if (projects.length === 0)
    throw new UserError('This account has no projects yet. Create one at the service, then try again.');
  if (projectName === undefined) return projects.length === 1 ? projects[0] : undefined;
  const fitting = (await indexNames(projects)).find(projectName);
  const match = pickNamed(fitting, projectName);
  if (match !== undefined) return match;
  if (fitting.length > 1) {
    const keys = listFirst(
      fitting.map((project) => code(project.permalink)),
      MAX_SHOWN,
    );
    throw new UserError(`Several projects have that name: ${keys}. Use one of these.`);
  }
  throw new NoSuchProject(
    `There is no project ${code(projectName)}.${suggestNearest(projects, projectName)}`,
    'projects',
  );
}

/** No project has the name. It may be that of a server. */
export class NoSuchProject extends UnmatchedWords {}

/** Maximum length of a permalink in the search for the nearest name. */
const MAX_MISSPELT = 40;

/** "Did you mean `storefront`?" after a space; empty if no permalink is similar. */
export function suggestNearest(projects: readonly Project[], projectName: string): string {
  const spelling = spellName(projectName).slice(0, MAX_MISSPELT);
  let best = { permalink: '', mistakes: Number.POSITIVE_INFINITY };
  for (const { permalink } of projects) {
    const mistakes = countMistakes(spelling, permalink.slice(0, MAX_MISSPELT).toLowerCase());
    if (mistakes < best.mistakes) best = { permalink, mistakes };
  }
  return best.mistakes > Math.max(2, spelling.length / 2) ? '' : ` Did you mean ${code(best.permalink)}?`;
}

/** Number of typing mistakes. The start of a name counts as one. */
function countMistakes(spelling: string, permalink: string): number {
  return spelling.length > 2 && permalink.startsWith(spelling) ? 1 : distance(spelling, permalink);
}

/**
 * Error for a record's project that is no longer listed: it was removed, or renamed at a service without
 * identifiers.
 */
export function createNoLongerListed(account: string, { name }: ProjectRef): UserError {
  return new UserError(`${bold(name)} is no longer listed in ${code(account)}.`, 'projects');
}

/** No project was named or implied. The person gets a menu, and the command runs again with the choice. */
export class ProjectNeeded extends Error {
  readonly code = 'project_needed';
  readonly projects: readonly Project[];

  constructor(projects: readonly Project[]) {
    super('a project must be chosen');
    this.name = 'ProjectNeeded';
    this.projects = projects;
  }
}

/** No server was given, or none has that name. The person gets a menu, and the command runs again with the choice. */
export class ServerNeeded extends Error {
  readonly code = 'server_needed';
  /** The project to search for the server. */
  readonly target: { account: string; project: string };
  /** True if a server was named, and the project has none of that name. */
  readonly isUnmatched: boolean;

  /** @param message one sentence for the person; foreign text in it must be escaped */
  constructor(
    message: string,
    target: { account: string; project: string },
    { isUnmatched = false }: { isUnmatched?: boolean } = {},
  ) {
    super(message);
    this.name = 'ServerNeeded';
    this.target = target;
    this.isUnmatched = isUnmatched;
  }
}
