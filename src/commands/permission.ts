import { UserError } from '../core/errors.ts';
import { code } from '../core/mrkdwn.ts';
import type { Caller } from '../core/reply.ts';
import type { Role } from '../workspace/roles.ts';
import type { Workspace } from '../workspace/workspace.ts';

/** What a channel cannot be restricted from, so that nobody is left without a way. */
const ALWAYS_ALLOWED: readonly string[] = ['help', 'start', 'roles'];

export function isAlwaysAllowed(command: string): boolean {
  return ALWAYS_ALLOWED.includes(command);
}

/**
 * Checked on every command, click and submission, so that a role or permission taken away works at once. A refusal is
 * written down.
 * @throws UserError that names who can do it
 */
export async function requirePermission(
  workspace: Workspace,
  caller: Caller,
  role: Role,
  command: string,
): Promise<void> {
  const refusal =
    (await refusalByRole(workspace, caller, role)) ?? (await refusalByChannel(workspace, caller, command));
  if (refusal === undefined) return;
  await workspace.audit.record({
    who: caller.user,
    what: command,
    result: 'refused',
    ...(caller.channel === undefined ? {} : { where: caller.channel }),
  });
  throw refusal;
}

async function refusalByRole(
  workspace: Workspace,
  caller: Caller,
  role: Role,
): Promise<UserError | undefined> {
  if (await workspace.roles.holds(caller.user, role)) return undefined;
  return new UserError(`This needs the role *${role}*. Ask ${await whoCan(workspace, role)}.`);
}

/** Members are told first of the role that they lack, if they lack one. */
async function refusalByChannel(
  workspace: Workspace,
  caller: Caller,
  command: string,
): Promise<UserError | undefined> {
  const { commands } = await workspace.channels.get(caller.channel);
  if (commands === undefined || commands.includes(command) || isAlwaysAllowed(command)) return undefined;
  const who = await whoCan(workspace, 'admin');
  return new UserError(
    `${code(command)} is switched off in this channel. Use another channel, or ask ${who} to allow it here with ${code(`${workspace.config.SLACK_COMMAND} roles`)}.`,
  );
}

async function whoCan(workspace: Workspace, role: Role): Promise<string> {
  const holders = await workspace.roles.holders(role);
  return holders.slice(0, 5).join(', ') || 'an admin of this Slack workspace';
}
