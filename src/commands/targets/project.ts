import { withTimeout } from '../../core/clock.ts';
import { UserError } from '../../core/errors.ts';
import { code } from '../../core/mrkdwn.ts';
import { type ProjectRef, toProjectRef } from '../../core/project-ref.ts';
import type { Requester } from '../../records/account-keys.ts';
import type { Account } from '../../records/accounts.ts';
import { projectOfChannel } from '../../records/channels.ts';
import type { Addressed } from '../../service/addresses.ts';
import {
  findCurrentProject,
  findProject,
  noLongerListed,
  ProjectNeeded,
  projectsWith,
} from '../../workspace/projects.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import type { CommandContext } from '../command.ts';
import { readProjectAddress } from '../pasted-addresses.ts';
import { accountOf } from './account.ts';

/**
 * The project that was typed or picked from a menu, else the channel's, else the account's only one. A channel that is
 * bound to an account that is not connected means no other account's project, so there the person must choose.
 * @throws ProjectNeeded if the person must choose, UserError if the name fits none or several
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

/** The project of a pasted address. @throws UserError if it belongs to another account than the named one */
function linkTo({ account, workspace }: CommandContext, typed: string): Addressed | undefined {
  const link = readProjectAddress(typed, workspace.config.SERVICE_BASE_URL);
  if (link === undefined || account === undefined || account.toLowerCase() === link.account) return link;
  throw new UserError(`That is an address of the account ${code(link.account)}, not of ${code(account)}.`);
}

/** True for the word that means all projects in a channel that is bound to one. */
export function isEverything(named: string): boolean {
  return named.toLowerCase() === 'all';
}

/** Slack's handle for opening a form expires after 3 s; the form asks for what was not found in time. */
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
  const found = await withTimeout(workspace.clock, LOOKUP_TIMEOUT_MS, projectUnlessSeveral(context, named));
  if (found !== undefined || named !== undefined) return { account, project: found ?? undefined };
  return { account, project: projectOfChannel(await workspace.channels.get(caller.channel), account.name) };
}

/** Null if the person has to choose. */
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
 * The project that was chosen in a form, or typed because the menu had nothing to offer.
 * @throws UserError if it fits none, AccountFailure
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
