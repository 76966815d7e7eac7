import { UserError } from '../core/errors.ts';
import type { Deckhand } from '../deckhand.ts';
import { code } from '../views/blocks/text.ts';
import type { Role } from '../workspace/roles.ts';
import type { Caller } from './command.ts';

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
  deckhand: Deckhand,
  caller: Caller,
  role: Role,
  command: string,
): Promise<void> {
  const refusal =
    (await refusalByRole(deckhand, caller, role)) ?? (await refusalByChannel(deckhand, caller, command));
  if (refusal === undefined) return;
  await deckhand.audit.record(caller.workspace, {
    who: caller.user,
    what: command,
    result: 'refused',
    ...(caller.channel === undefined ? {} : { where: caller.channel }),
  });
  throw refusal;
}

async function refusalByRole(deckhand: Deckhand, caller: Caller, role: Role): Promise<UserError | undefined> {
  if (await deckhand.roles.holds(caller.workspace, caller.user, role)) return undefined;
  return new UserError(`This needs the role *${role}*. Ask ${await whoCan(deckhand, caller, role)}.`);
}

/** Members are told first of the role that they lack, if they lack one. */
async function refusalByChannel(
  deckhand: Deckhand,
  caller: Caller,
  command: string,
): Promise<UserError | undefined> {
  const { commands } = await deckhand.channels.get(caller.workspace, caller.channel);
  if (commands === undefined || commands.includes(command) || isAlwaysAllowed(command)) return undefined;
  const who = await whoCan(deckhand, caller, 'admin');
  return new UserError(
    `${code(command)} is switched off in this channel. Use another channel, or ask ${who} to allow it here with ${code(`${deckhand.config.SLACK_COMMAND} roles`)}.`,
  );
}

async function whoCan(deckhand: Deckhand, { workspace }: Caller, role: Role): Promise<string> {
  const holders = await deckhand.roles.holders(workspace, role);
  return holders.slice(0, 5).join(', ') || 'an admin of this Slack workspace';
}
