import { UserError } from '../core/errors.ts';
import { code } from '../core/mrkdwn.ts';
import type { Role } from '../workspace/roles.ts';
import type { Workspace } from '../workspace/workspace.ts';

/** Cannot be switched off in a channel, so that the people there can always find out what to do. */
const ALWAYS_ALLOWED: readonly string[] = ['help', 'start', 'roles'];

export function isAlwaysAllowed(command: string): boolean {
  return ALWAYS_ALLOWED.includes(command);
}

/** Who wants to run which command, and where it would act or post. */
export interface Wanted {
  user: string;
  command: string;
  /** Undefined where no person asks, e.g. in a workflow. */
  role: Role | undefined;
  channels: ReadonlyArray<string | undefined>;
}

type Rules = Pick<Workspace, 'roles' | 'channels' | 'config'>;

/** The permission is not given; the message names who can give it. */
export class Refusal extends UserError {
  constructor(message: string) {
    super(message);
    this.name = 'Refusal';
  }
}

/** Why the command may not run; undefined where it may. A missing role is named before a channel's restriction. */
export async function refusalOf(rules: Rules, wanted: Wanted): Promise<Refusal | undefined> {
  const { user, command, role, channels } = wanted;
  if (role !== undefined && !(await rules.roles.holds(user, role)))
    return new Refusal(`This needs the role *${role}*. Ask ${await whoCan(rules, role)}.`);
  for (const channel of new Set(channels)) {
    const { commands } = await rules.channels.get(channel);
    if (commands === undefined || commands.includes(command) || isAlwaysAllowed(command)) continue;
    const here = channel === channels[0] ? 'this channel' : `<#${channel}>`;
    const roles = code(`${rules.config.SLACK_COMMAND} roles`);
    return new Refusal(
      `${code(command)} is switched off in ${here}. Use another channel, or ask ${await whoCan(rules, 'admin')} to allow it there with ${roles}.`,
    );
  }
  return undefined;
}

async function whoCan({ roles }: Rules, role: Role): Promise<string> {
  const holders = await roles.holders(role);
  return holders.slice(0, 5).join(', ') || 'an admin of this Slack workspace';
}
