import { GIVEN_ROLES, type GivenRole, type Role } from '../core/choices.ts';
import { UserError } from '../core/errors.ts';
import type { Invocation } from '../core/message.ts';
import { code } from '../core/mrkdwn.ts';
import { allows } from '../records/channels.ts';
import { isSlackFailure, undefinedOnSlackError } from '../slack/failure.ts';
import { GROUPS_UNREAD } from '../views/admin/role-messages.ts';
import type { Workspace } from '../workspace/workspace.ts';
import type { Command } from './command.ts';
import type { CommandContext } from './context.ts';

/** Filters the commands that a person may run in a channel. */
export async function runnable(
  { roles, channels }: Pick<Workspace, 'roles' | 'channels'>,
  { user, channel }: Pick<Invocation, 'user' | 'channel'>,
  commands: readonly Command[],
): Promise<readonly Command[]> {
  const needed = [...new Set(commands.map(({ role }) => role))];
  const held = await Promise.all(needed.map(async (role) => ((await roles.holds(user, role)) ? [role] : [])));
  const settings = await channels.get(channel);
  return commands.filter(({ name, role }) => held.flat().includes(role) && allows(settings, name));
}

/** The roles beyond member that a person holds. */
export async function listRoles({ roles }: Pick<Workspace, 'roles'>, user: string): Promise<GivenRole[]> {
  const held = await Promise.all(GIVEN_ROLES.map((role) => roles.holds(user, role)));
  return GIVEN_ROLES.filter((_, at) => held[at]);
}

/** A person, the command, and the channels it would act or post in. */
export interface Wanted {
  user: string;
  command: string;
  /** Undefined without a person, e.g. in a workflow. */
  role: Role | undefined;
  channels: ReadonlyArray<string | undefined>;
  /** The refused act after "can", if it is not the use of the command. */
  act?: string;
}

type Rules = Pick<Workspace, 'roles' | 'channels' | 'word'>;

/** Checks that the person may in their own channel and in another one. @throws Refusal */
export async function expectAllowed(
  { invocation, workspace }: Pick<CommandContext, 'invocation' | 'workspace'>,
  place: string,
  requested: Omit<Wanted, 'user' | 'channels'>,
): Promise<void> {
  const { user, channel } = invocation;
  const refusal = await findRefusal(workspace, { ...requested, user, channels: [channel, place] });
  if (refusal !== undefined) throw refusal;
}

/** A missing permission; the message names the people who can give it. */
export class Refusal extends UserError {
  constructor(message: string, lacks?: { role: Role; command: string }) {
    super(message, undefined, { lacks });
    this.name = 'Refusal';
  }
}

/**
 * The reason why the command may not run; undefined if it may. A missing role comes before a channel's restriction.
 * @throws UserError if Slack cannot say who it is
 */
export async function findRefusal(rules: Rules, request: Wanted): Promise<Refusal | undefined> {
  const { user, command, role, channels, act } = request;
  const exclusion = role === undefined ? undefined : await findExclusion(rules, user);
  if (exclusion !== undefined) return exclusion;
  if (role !== undefined && !(await rules.roles.holds(user, role))) return lacking(rules, role, command, act);
  for (const channel of new Set(channels)) {
    if (allows(await rules.channels.get(channel), command)) continue;
    const here = channel === channels[0] ? 'this channel' : `<#${channel}>`;
    const roles = code(`${rules.word} roles`);
    return new Refusal(
      `${code(command)} is switched off in ${here}. Use another channel, or ask ${await nameAdmins(rules)} to allow it there with ${roles}.`,
    );
  }
  return undefined;
}

const ROLE_NAMES: Readonly<Record<Role, string>> = {
  admin: 'admins',
  operator: 'operators',
  billing: 'people with the billing role',
  member: 'members',
};

/** The refusal for a missing role. */
export async function lacking(
  rules: Pick<Rules, 'roles'>,
  role: Role,
  command: string,
  act = role === 'billing' ? 'see invoices' : `use ${code(command)}`,
): Promise<Refusal> {
  const who = (await nameAdmins(rules)).replace(/^an /, 'An ');
  const groups = (await rules.roles.lacksGroups()) ? ` ${GROUPS_UNREAD}` : '';
  return new Refusal(`Only ${ROLE_NAMES[role]} can ${act}.${groups} ${who} can give you access.`, {
    role,
    command,
  });
}

/**
 * The reason why a person may use nothing here; undefined for people of the workspace.
 * @throws UserError if Slack cannot say who it is
 */
async function findExclusion(
  rules: Pick<Workspace, 'roles' | 'word'>,
  user: string,
): Promise<Refusal | undefined> {
  const excluded = await rules.roles.excluded(user).catch((error: unknown) => {
    // Trying again does not help after the last two.
    if (!isSlackFailure(error) || isSlackFailure(error, 'revoked', 'forbidden')) throw error;
    throw new UserError(UNKNOWN, undefined, { cause: error });
  });
  switch (excluded) {
    case undefined:
      return undefined;
    case 'stranger':
      return new Refusal(
        'Only people of the workspace that installed Deckhand can use it here. Ask one of them to do this for you.',
      );
    case 'inactive':
      return new Refusal(
        'Only active people of this workspace can use Deckhand, not apps or people who left. Ask somebody else here to do this.',
      );
    case 'guest': {
      const roles = code(`${rules.word} roles`);
      return new Refusal(
        `Single-channel guests cannot use Deckhand. Ask ${await nameAdmins(rules)} to allow guests with ${roles}.`,
      );
    }
  }
}

const UNKNOWN =
  'Slack cannot tell Deckhand who you are right now, so nothing was done. Try again in a minute.';

/** Maximum number of admins to name. */
const MAX_NAMED = 3;

/** Names of the people who give roles: named admins, else Slack's own. */
export async function nameAdmins({ roles }: Pick<Rules, 'roles'>): Promise<string> {
  const admins = (await undefinedOnSlackError(roles.admins(undefined))) ?? [];
  const names = admins.slice(0, MAX_NAMED).map((admin) => `<@${admin}>`);
  return new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(names) || 'an admin';
}
