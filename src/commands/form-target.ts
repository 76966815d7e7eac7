import type { z } from 'zod';
import { withTimeout } from '../core/clock.ts';
import { UserError } from '../core/errors.ts';
import type { ModalView } from '../core/message.ts';
import { plain } from '../core/mrkdwn.ts';
import type { Account } from '../workspace/accounts.ts';
import type { Channel } from '../workspace/channels.ts';
import { projectOfChannel } from '../workspace/channels.ts';
import { findProject, ProjectNeeded } from '../workspace/projects.ts';
import type { CommandContext } from './command.ts';
import { accountOf, projectOf } from './resolve-target.ts';

/** Slack's handle for opening a form expires after 3 s; what is not known in time is asked for in the form. */
const LOOKUP_TIMEOUT_MS = 800;

/** A project as a form's metadata carries it. */
export type FormProject = NonNullable<Channel['project']>;

/**
 * The account and project for a form that must open at once. No project: the form asks for it, because there are
 * several, or because the service does not answer in time.
 * @throws UserError, AccountFailure as `projectOf` does
 */
export async function projectForForm(
  context: CommandContext,
  named: string | undefined,
): Promise<{ account: Account; project: FormProject | undefined }> {
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
): Promise<FormProject | null> {
  try {
    const { project } = await projectOf(context, named);
    return asFormProject(project);
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
): Promise<FormProject> {
  const projects = await workspace.projects.list(account);
  const project = typeof chosen === 'string' ? findProject(projects, chosen) : undefined;
  if (project === undefined) throw new UserError('Choose the project.');
  return asFormProject(project);
}

/** Foreign names may be long; a form carries a few thousand characters in all. */
function asFormProject({ permalink, name }: FormProject): FormProject {
  return { permalink, name: plain(name, 100) };
}

/** Each message under the field that it is about. */
export function messagesByField(error: z.ZodError): Record<string, string> {
  return Object.fromEntries(error.issues.toReversed().map((issue) => [issue.path.join('.'), issue.message]));
}

/** True where an error is about a field that the form does not show yet: then the form is drawn with it first. */
export function isAnyHidden(errors: Record<string, string>, { blocks }: ModalView): boolean {
  const shown = new Set(blocks.map((block) => block.block_id));
  return Object.keys(errors).some((field) => !shown.has(field));
}
