import { distance } from 'fastest-levenshtein';
import type { Account, Accounts } from './accounts.ts';
import type { Clock } from './clock.ts';
import { UserError } from './errors.ts';
import { listProjects, type Project } from './service/projects.ts';
import { code } from './views/text.ts';

const FRESH_MS = 10_000;
const MOST_CACHED = 500;

/** The account's projects, a few seconds old at most, and the one that a person means. */
export interface Projects {
  /** @throws AccountFailure */
  list(workspace: string, account: Account): Promise<Project[]>;
}

export function createProjects(parts: { accounts: Accounts; clock: Clock }): Projects {
  // Keyed by the sealed key as well, so that a new key never sees what an old one was shown.
  const cache = new Map<string, { at: number; projects: Promise<Project[]> }>();

  return {
    list(workspace, account) {
      const key = JSON.stringify([workspace, account.name, account.sealedKey]);
      const known = cache.get(key);
      if (known !== undefined && parts.clock.now() - known.at < FRESH_MS) return known.projects;
      if (cache.size >= MOST_CACHED) cache.clear();
      const projects = parts.accounts.use(workspace, account, (client) => listProjects(client));
      cache.set(key, { at: parts.clock.now(), projects });
      projects.catch(() => cache.delete(key));
      return projects;
    },
  };
}

/**
 * The project by permalink, identifier or unambiguous name, in any letter case; undefined where nothing was named
 * and the account has several.
 * @throws UserError where the name fits none or several
 */
export function findProject(projects: readonly Project[], named: string | undefined): Project | undefined {
  if (projects.length === 0) throw new UserError('This account has no projects yet.');
  if (named === undefined) return projects.length === 1 ? projects[0] : undefined;
  const wanted = named.toLowerCase();
  const byKey = projects.find(
    (project) => project.permalink.toLowerCase() === wanted || project.identifier.toLowerCase() === wanted,
  );
  if (byKey !== undefined) return byKey;
  const byName = projects.filter((project) => project.name.toLowerCase() === wanted);
  if (byName.length === 1) return byName[0];
  if (byName.length > 1) {
    const keys = byName.map((project) => code(project.permalink)).join(', ');
    throw new UserError(`Several projects have that name: ${keys}. Use one of these.`);
  }
  throw new UserError(`There is no project ${code(named)}.${nearest(projects, wanted)}`, 'projects');
}

function nearest(projects: readonly Project[], wanted: string): string {
  const ranked = projects
    .map((project) => ({ project, far: distance(wanted, project.permalink.toLowerCase()) }))
    .toSorted((one, other) => one.far - other.far);
  const best = ranked[0];
  if (best === undefined || best.far > Math.max(2, wanted.length / 2)) return '';
  return ` Did you mean ${code(best.project.permalink)}?`;
}

/** Nothing was named and nothing is implied: the person is shown a menu, and what they typed runs again. */
export class ProjectNeeded extends Error {
  readonly code = 'project_needed';
  readonly projects: readonly Project[];

  constructor(projects: readonly Project[]) {
    super('a project must be chosen');
    this.name = 'ProjectNeeded';
    this.projects = projects;
  }
}
