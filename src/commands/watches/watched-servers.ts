import { closest, distance } from 'fastest-levenshtein';
import { UserError } from '../../core/errors.ts';
import { code, listFirst } from '../../core/mrkdwn.ts';
import { isNamed, isPattern } from '../../core/names.ts';
import { type ProjectRef, projectId } from '../../core/project-ref.ts';
import type { Account } from '../../records/accounts.ts';
import type { Watch, WatchedServer } from '../../records/schedules.ts';
import { ServerNeeded } from '../../workspace/project-list.ts';
import type { CommandContext } from '../context.ts';
import { listShownServers, resolveServer } from '../targets/targets.ts';

type Scope = Pick<Watch, 'project'> & { account: Account };

const MAX_SHOWN = 10;
const MAX_SERVERS = 20;
const NOT = /^(?:not|except|without|all but|!) ?/i;

/** `--server` and `--not` as one text, as the form shows it. @throws UserError for both */
export function joinServers(server: string | undefined, not: string | undefined): string | undefined {
  if (server !== undefined && not !== undefined)
    throw new UserError(
      'Say which servers with `--server`, or which not with `--not`, but not both.',
      'help watch',
    );
  return not === undefined ? server : `not ${not}`;
}

/**
 * Reads `web-1`, `web-1, web-2`, `web-*` and `not staging`.
 * @throws UserError or ServerNeeded for a name that neither the service, a deployment nor a test knows
 */
export async function readServers(
  context: CommandContext,
  scope: Scope,
  text: string,
): Promise<WatchedServer> {
  const isExcluded = NOT.test(text);
  const parts = text
    .replace(NOT, '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .slice(0, MAX_SERVERS);
  const servers = await Promise.all(parts.map((part) => readServer(context, scope, part)));
  const [only, ...others] = servers;
  if (only === undefined)
    throw new UserError('Which servers? Name them as `web-1, web-2` or `web-*`.', 'help watch');
  if (others.length === 0 && !isExcluded && !isPattern(only.name)) return only;
  const names = [...new Set(servers.flatMap(({ name, identifier }) => [name, identifier]))];
  const listed = `${isExcluded ? 'not ' : ''}${servers.map(({ name }) => name).join(', ')}`.slice(0, 200);
  return { identifier: listed.toLowerCase(), name: listed, names, ...(isExcluded && { isExcluded }) };
}

async function readServer(context: CommandContext, scope: Scope, text: string): Promise<WatchedServer> {
  const part = text.slice(0, 200);
  const asTyped = { identifier: part, name: part };
  if (isPattern(part)) return asTyped;
  const { account, project } = scope;
  const candidates = await listKnownNames(context, scope);
  const isKnown = candidates.some((name) => isNamed({ name }, part));
  if (project === undefined) {
    // The service lists servers by project, so every event is searched for the name.
    if (isKnown || candidates.length === 0) return asTyped;
    throw new UserError(
      `No deployment in ${code(account.name)} names a server ${code(part)}. ${describe(candidates, part)}`,
    );
  }
  try {
    const { identifier, name } = await resolveServer(context, account, project, part);
    const isGuess = identifier === part && name === part && context.server === undefined;
    if (!isGuess || isKnown || candidates.length === 0)
      return { identifier: identifier.slice(0, 200), name: name.slice(0, 200) };
  } catch (error) {
    if (isKnown && error instanceof ServerNeeded && error.isUnmatched) return asTyped;
    throw error;
  }
  const here = { account: account.name, project: project.permalink };
  const missing = `There is no server ${code(part)} in ${code(project.permalink)}. ${describe(candidates, part)}`;
  throw new ServerNeeded(missing, here, { isUnmatched: true });
}

function describe(candidates: readonly string[], text: string): string {
  const near = closest(text.toLowerCase(), [...candidates]);
  const hint = distance(text.toLowerCase(), near) <= 2 ? `Did you mean ${code(near)}? ` : '';
  return `${hint}It has ${listFirst(
    candidates.map((name) => code(name, 40)),
    MAX_SHOWN,
  )}.`;
}

/** Names of servers that deployments and tests named, of a project or of the whole account. */
async function listKnownNames({ workspace }: CommandContext, { account, project }: Scope): Promise<string[]> {
  const standings = (await workspace.ledger.standings.list(account.name)).filter((standing) =>
    belongsTo(standing, project),
  );
  const deployed = standings.flatMap(({ servers }) => servers.map(({ name }) => name));
  const servers = project === undefined ? [] : await listShownServers(workspace, account.name, project);
  return [...new Set([...deployed, ...servers.map(({ name }) => name)])]
    .filter((name) => name !== '')
    .toSorted();
}

function belongsTo(standing: { project: string }, project: ProjectRef | undefined): boolean {
  return project === undefined || standing.project === projectId(project);
}
