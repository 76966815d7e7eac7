import { distance } from 'fastest-levenshtein';
import type { Clock } from '../core/clock.ts';
import { UserError } from '../core/errors.ts';
import { code, normalizeName } from '../core/mrkdwn.ts';
import { TtlCache } from '../core/ttl-cache.ts';
import type { Account, Accounts } from '../records/accounts.ts';
import type { ListOptions } from '../service/call.ts';
import { listProjects, type Project } from '../service/projects.ts';

/** The account's projects. */
export type Projects = ReturnType<typeof createProjects>;

export function createProjects(parts: { accounts: Accounts; clock: Clock }) {
  const fresh = new TtlCache<Project[]>(parts.clock);
  // The sealed key is part of the cache's key, so that a new key never shows the answers to an old one.
  const keyOf = ({ name, sealedKey }: Account): string[] => [name, sealedKey];
  const load = (account: Account, options?: ListOptions) => (): Promise<Project[]> =>
    parts.accounts.use(account, (client) => listProjects(client, options));

  return {
    /** A few seconds old at most, for menus that search with every letter. @throws AccountFailure */
    list: (account: Account) => fresh.get(keyOf(account), load(account)),
    /** Read now. @throws AccountFailure */
    look: (account: Account, options?: ListOptions) => fresh.renew(keyOf(account), load(account, options)),
  };
}

/** For the length of one request, which asks the service once. */
export function lookOnce(projects: Projects): Projects {
  const seen = new Map<string, Promise<Project[]>>();
  return {
    list: projects.list,
    look(account, options) {
      // What could not be read is reported to each who asks for that.
      if (options !== undefined) return projects.look(account, options);
      const found = seen.get(account.sealedKey) ?? projects.look(account);
      seen.set(account.sealedKey, found);
      return found;
    },
  };
}

/**
 * For a command that names a project: the list of the last seconds where that has the name, else one that is read now.
 * Many who ask at once share it.
 */
export async function projectsWith(
  projects: Projects,
  account: Account,
  named: string | undefined,
): Promise<Project[]> {
  if (named === undefined) return projects.look(account);
  const known = await projects.list(account);
  return namedIn(known, named).length > 0 ? known : projects.look(account);
}

/** What a project or a server may be called; servers have no permalink. */
interface Named {
  name: string;
  identifier?: string | undefined;
  permalink?: string;
}

/** Whether a word is one of its names, in any letter case. */
export function isNamed(named: Named, word: string): boolean {
  return word !== '' && namesOf(named).includes(normalizeName(word));
}

function namesOf({ name, permalink, identifier = '' }: Named): string[] {
  return [name, permalink ?? '', identifier].map(normalizeName);
}

/** Those that a word names, in any letter case. */
export function namedIn(projects: readonly Project[], word: string): Project[] {
  return projects.filter((project) => isNamed(project, word));
}

/**
 * The project by permalink, identifier or unambiguous name, in any letter case and width; undefined where no name was given and the
 * account has several.
 * @throws UserError where the name matches none or several
 */
export function findProject(projects: readonly Project[], named: string | undefined): Project | undefined {
  if (projects.length === 0) throw new UserError('This account has no projects yet.');
  if (named === undefined) return projects.length === 1 ? projects[0] : undefined;
  const wanted = normalizeName(named);
  const found = namedIn(projects, wanted);
  const byKey = found.find(
    ({ permalink, identifier }) =>
      normalizeName(permalink) === wanted || normalizeName(identifier) === wanted,
  );
  if (byKey !== undefined || found.length === 1) return byKey ?? found[0];
  if (found.length > 1) {
    const keys = found.map((project) => code(project.permalink)).join(', ');
    throw new UserError(`Several projects have that name: ${keys}. Use one of these.`);
  }
  throw new UserError(`There is no project ${code(named)}.${nearest(projects, wanted)}`, 'projects');
}

/** The start of a name is as near as one typing mistake. */
function howFar(wanted: string, permalink: string): number {
  return wanted.length > 2 && permalink.startsWith(wanted) ? 1 : distance(wanted, permalink);
}

function nearest(projects: readonly Project[], wanted: string): string {
  const ranked = projects
    .map((project) => ({ project, far: howFar(wanted, project.permalink.toLowerCase()) }))
    .toSorted((one, other) => one.far - other.far);
  const best = ranked[0];
  if (best === undefined || best.far > Math.max(2, wanted.length / 2)) return '';
  return ` Did you mean ${code(best.project.permalink)}?`;
}

/** No project was named or implied: the person gets a menu, and the command runs again with the choice. */
export class ProjectNeeded extends Error {
  readonly code = 'project_needed';
  readonly projects: readonly Project[];

  constructor(projects: readonly Project[]) {
    super('a project must be chosen');
    this.name = 'ProjectNeeded';
    this.projects = projects;
  }
}

/** No server was given, or none has that name: the person gets a menu, and what they typed runs again. */
export class ServerNeeded extends Error {
  readonly code = 'server_needed';
  /** Where to look for the server. */
  readonly target: { account: string; project: string };

  /** @param message one sentence for the person; foreign text in it must be escaped already */
  constructor(message: string, target: { account: string; project: string }) {
    super(message);
    this.name = 'ServerNeeded';
    this.target = target;
  }
}
