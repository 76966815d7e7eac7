import type { Account } from '../accounts.ts';
import { findProject, ProjectNeeded } from '../projects.ts';
import type { Project } from '../service/projects.ts';
import type { CommandContext } from './command.ts';

/** The account that the words, the channel or the workspace mean. @throws UserError where there is none */
export async function accountOf(context: CommandContext): Promise<Account> {
  const { caller, deckhand } = context;
  const channel = await deckhand.channels.get(caller.workspace, caller.channel);
  return deckhand.accounts.resolve(caller.workspace, context.account, channel.account);
}

/**
 * The project that the words mean, else the one picked from a menu, the channel's, or the account's only one.
 * @throws ProjectNeeded where the person must choose, UserError where the name fits none or several
 */
export async function projectOf(
  context: CommandContext,
  named: string | undefined,
): Promise<{ account: Account; project: Project }> {
  const { caller, deckhand } = context;
  const account = await accountOf(context);
  const channel = await deckhand.channels.get(caller.workspace, caller.channel);
  const isChannels = (channel.account ?? account.name) === account.name;
  const implied = isChannels ? channel.project?.permalink : undefined;
  const projects = await deckhand.projects.list(caller.workspace, account);
  const project = findProject(projects, named ?? context.project ?? implied);
  if (project === undefined) throw new ProjectNeeded(projects);
  return { account, project };
}
