import { type Account, AccountFailure } from '../records/accounts.ts';
import type { Project } from '../service/projects.ts';
import { getServer } from '../service/servers.ts';
import { isNamed, namedIn, ProjectNeeded, projectsWith } from '../workspace/projects.ts';
import type { Workspace } from '../workspace/workspace.ts';
import type { CommandContext } from './command.ts';
import { accountOf, boundProject } from './resolve-target.ts';

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
  const whole = server === undefined ? named.toLowerCase() : `${named} ${server}`.toLowerCase();
  const projects = await projectsWith(context.workspace.projects, account, whole);
  if (namedIn(projects, whole).length > 0) return { named: whole, server: undefined };
  if (server !== undefined) return { named, server };
  const permalink = context.project ?? (await boundProject(context, account))?.permalink;
  const within = projects.filter((project) => permalink === undefined || project.permalink === permalink);
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
    projects.map(({ permalink }) => workspace.hosting.servers(account, permalink)),
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
  { permalink }: Project,
  identifier: string,
): Promise<boolean> {
  try {
    await accounts.use(account, (client) => getServer(client, permalink, identifier));
    return true;
  } catch (error) {
    if (error instanceof AccountFailure && NOT_THERE.has(error.cause.kind)) return false;
    throw error;
  }
}

const NOT_THERE: ReadonlySet<string> = new Set(['record_not_found', 'forbidden']);
