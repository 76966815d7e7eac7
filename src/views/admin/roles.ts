import type { InputBlock } from '@slack/types';
import { GIVEN_ROLES, type GivenRole } from '../../core/choices.ts';
import type { KnownBlock, Message, ModalView } from '../../core/message.ts';
import { bold, code } from '../../core/mrkdwn.ts';
import { checkboxesInput, input, multiSelectInput } from '../blocks/inputs.ts';
import { button, buttons, say, section } from '../blocks/message.ts';
import { modal, resendable, withBanner } from '../blocks/modal.ts';

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
  /** Hash of the roles that the form shows, to detect a change in the meantime. */
  initial: { roles: string; commands: string };
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

export function rolesModal({ users, groups, areGuestsAllowed, channel, initial }: ShownRoles): ModalView {
  const blocks = GIVEN_ROLES.flatMap((role): KnownBlock[] => {
    return [usersInput(role, users[role]), ...(typeof groups === 'object' ? groupsInput(role, groups) : [])];
  });
  return modal(ROLES_MODAL, 'Roles', { submit: 'Save', metadata: { channel: channel?.id, initial } }, [
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

/** @param changedBy the person who changed them last */
export function changedWords(changedBy: string | undefined): string {
  const who = changedBy ? `<@${changedBy}>` : 'Somebody';
  return `${who} changed this while the form was open, so nothing was saved. Below is how it is now.`;
}

/**
 * The same form with a question. To save it again confirms the change.
 * @param metadata new metadata of the form
 */
export function lastWayInModal(view: ModalView, metadata: unknown): ModalView {
  const words =
    'No admin or owner of this Slack workspace would be an admin of Deckhand any more, so none of them could change this back. Nothing was saved yet. Save again if you mean it, or add one of them.';
  return withBanner({ ...resendable(view), private_metadata: JSON.stringify(metadata) }, words);
}

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
    choices: [{ value: 'single', text: 'Single-channel guests are members too' }],
    initial: areAllowed ? ['single'] : [],
  });
}

function commandsInput({ commands: initial, all }: NonNullable<ShownRoles['channel']>): InputBlock {
  const choices = all.map((name) => ({ value: name, text: name }));
  const hint = 'Choose none to allow every command. Help, start and roles always run.';
  return multiSelectInput(COMMANDS_FIELD, 'Commands allowed in this channel', { hint, choices, initial });
}

interface ShownRequest {
  user: string;
  role: string;
  command: string;
}

/** The direct message to an admin. */
export function accessRequestMessage({ user, role, command }: ShownRequest, id: string): Message {
  return say(
    `:raised_hand: <@${user}> asks for the role ${bold(role)}, to use ${code(command)}. With it they ${CAN[role] ?? 'can do more'}.`,
    ...buttons(
      button('Allow', 'access:allow', { style: 'primary', value: { id } }),
      button('Deny', 'access:deny', { style: 'danger', value: { id } }),
    ),
  );
}

const CAN: Readonly<Record<string, string>> = {
  admin: 'can do everything',
  operator: 'can change things at the service and in channels',
  billing: 'can see invoices',
};

/** Replaces the refusal; `admins` are ids. */
export function accessAskedMessage(role: string, admins: readonly string[]): Message {
  const who = admins.map((admin) => `<@${admin}>`).join(', ');
  return say(`:raised_hand: Asked ${who} for the role ${bold(role)}. The answer comes by direct message.`);
}

export function noAdminMessage(role: string, word: string): Message {
  return say(
    `No admin could be asked for the role ${bold(role)}. Ask an admin of this Slack workspace to run ${code(`${word} roles`)}.`,
  );
}

export function askedAlreadyMessage(role: string, outcome: { admin: string } | undefined): Message {
  const answer = outcome === undefined ? 'No admin has answered yet.' : `<@${outcome.admin}> said no.`;
  return say(`You asked for the role ${bold(role)} already today. ${answer}`);
}

export function heldAlreadyMessage(role: string): Message {
  return say(`You hold the role ${bold(role)} now. Run the command again.`);
}

/** Replaces the message to each admin. */
export function answeredMessage({ user, role }: ShownRequest, admin: string, isAllowed: boolean): Message {
  if (!isAllowed) return say(`:no_entry_sign: <@${admin}> did not give <@${user}> the role ${bold(role)}.`);
  return say(
    `:white_check_mark: <@${admin}> gave <@${user}> the role ${bold(role)}. They ${CAN[role] ?? 'hold it'} until an admin removes them in Roles.`,
  );
}

export function personLeftMessage({ user, role }: ShownRequest): Message {
  return say(`<@${user}> can no longer use Deckhand here, so the role ${bold(role)} was not given.`);
}

export function requestOverMessage(word: string): Message {
  return say(`This request is more than a day old. ${code(`${word} roles`)} gives roles.`);
}

export function accessAnswerMessage(
  { role, command }: ShownRequest,
  admin: string,
  isAllowed: boolean,
  word: string,
): Message {
  if (!isAllowed) return say(`<@${admin}> did not give you the role ${bold(role)}. Ask them why.`);
  return say(
    `:white_check_mark: <@${admin}> gave you the role ${bold(role)}. ${code(`${word} ${command}`)} works for you now.`,
  );
}
