import type { InputBlock } from '@slack/types';
import { GIVEN_ROLES, type GivenRole } from '../../core/choices.ts';
import type { KnownBlock, Message, ModalView } from '../../core/message.ts';
import { code } from '../../core/mrkdwn.ts';
import { checkboxesInput, input, multiSelectInput } from '../blocks/inputs.ts';
import { say, section } from '../blocks/make-blocks.ts';
import { modal } from '../blocks/modal.ts';

export const ROLES_MODAL = 'roles';

type Held = Readonly<Record<GivenRole, readonly string[]>>;

export interface ShownRoles {
  users: Held;
  /**
   * Ids of the groups that hold a role, and all groups. Absent if Slack hides groups; `unread` then tells if
   * some hold a role.
   */
  groups?: { held: Held; all: ReadonlyArray<{ id: string; name: string }> } | 'unread' | undefined;
  areGuestsAllowed: boolean;
  /** Hash of the roles that the form asks to confirm. */
  confirmed?: string | undefined;
  /** The commands of the channel in which the form was opened. */
  channel?: { id: string; commands: readonly string[]; all: readonly string[] } | undefined;
}

/** Fixed text, because a view cannot know the granted scopes. */
export const GROUPS_UNREAD =
  'Slack has not given Deckhand the scope `usergroups:read`, so roles that user groups hold do not count.';

const FIELDS: Record<GivenRole, { label: string; hint: string }> = {
  admin: {
    label: 'Admins',
    hint: 'Can do everything. Name at least one person. Until then, Slack’s own admins and owners are admins.',
  },
  operator: {
    label: 'Operators',
    hint: 'Can change things at the service, and what is posted in channels.',
  },
  billing: { label: 'Billing', hint: 'Can see invoices.' },
};

export function rolesModal({ users, groups, areGuestsAllowed, channel, confirmed }: ShownRoles): ModalView {
  const blocks = GIVEN_ROLES.flatMap((role): KnownBlock[] => {
    return [usersInput(role, users[role]), ...(typeof groups === 'object' ? groupsInput(role, groups) : [])];
  });
  return modal(ROLES_MODAL, 'Roles', { submit: 'Save', metadata: { channel: channel?.id, confirmed } }, [
    section(
      'Everyone else in this workspace is a member: they can see projects, servers and activity, and run tests. People from other workspaces in shared channels can do nothing.',
    ),
    ...(groups === 'unread' ? [section(GROUPS_UNREAD)] : []),
    ...blocks,
    guestsInput(areGuestsAllowed),
    ...(channel === undefined ? [] : [commandsInput(channel)]),
  ]);
}

export function groupsField(role: GivenRole): string {
  return `${role}_groups`;
}

export const COMMANDS_FIELD = 'commands';
export const GUESTS_FIELD = 'guests';
export const GUESTS_ALLOWED = 'single';

/** Asks before the roles take away the last way in. */
export const LAST_WAY_IN =
  'No admin or owner of this Slack workspace would be an admin of Deckhand any more, so none of them could change this back. Nothing was saved yet. Save again if you mean it, or add one of them.';

/** A short list of all roles. Slack shows the ids as names. */
export function rolesMessage(
  mentions: Held,
  { guests, allowed }: { guests: boolean; allowed: readonly string[] | undefined },
): Message {
  const lines = GIVEN_ROLES.map(
    (role) => `${FIELDS[role].label}: ${mentions[role].slice(0, 50).join(', ') || '—'}`,
  );
  if (guests) lines.push('Single-channel guests: allowed');
  const names = allowed?.map((name) => code(name)).join(', ');
  if (names !== undefined) lines.push(`In this channel: ${names || 'every command'}`);
  return say(`:key: The roles are set.\n${lines.join('\n')}`);
}

function usersInput(role: GivenRole, held: readonly string[]): InputBlock {
  const { label, hint } = FIELDS[role];
  const spec = { hint, optional: role !== 'admin' };
  return input(role, label, spec, {
    type: 'multi_users_select',
    ...(held.length === 0 ? {} : { initial_users: [...held] }),
  });
}

/** Omits the menu if there are no groups, because Slack rejects a menu without options. */
function groupsInput(role: GivenRole, { held, all }: Extract<ShownRoles['groups'], object>): InputBlock[] {
  if (all.length === 0) return [];
  const choices = all.map(({ id, name }) => ({ value: id, text: name }));
  const spec = { choices, initial: held[role] };
  return [multiSelectInput(groupsField(role), `${FIELDS[role].label}: user groups`, spec)];
}

function guestsInput(areAllowed: boolean): InputBlock {
  return checkboxesInput(GUESTS_FIELD, 'Guests', {
    optional: true,
    choices: [{ value: GUESTS_ALLOWED, text: 'Single-channel guests are members too' }],
    initial: areAllowed ? [GUESTS_ALLOWED] : [],
  });
}

function commandsInput({ commands: initial, all }: NonNullable<ShownRoles['channel']>): InputBlock {
  const choices = all.map((name) => ({ value: name, text: name }));
  const hint = 'Choose none to allow every command. Help, start and roles always run.';
  return multiSelectInput(COMMANDS_FIELD, 'Commands allowed in this channel', { hint, choices, initial });
}
