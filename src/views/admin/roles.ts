import type { InputBlock } from '@slack/types';
import type { KnownBlock, Message, ModalView } from '../../core/message.ts';
import { code } from '../../core/mrkdwn.ts';
import { LIMITS } from '../blocks/limits.ts';
import { say, section } from '../blocks/message.ts';
import { modal, optionsOf } from '../blocks/modal.ts';

export const ROLES_MODAL = 'roles';

type Role = 'admin' | 'operator' | 'billing';
type Holders = Readonly<Record<Role, readonly string[]>>;

export interface ShownRoles {
  users: Holders;
  /** Ids of those who hold a role, and all that there are; absent where Slack does not let us see them. */
  groups?: { held: Holders; all: ReadonlyArray<{ id: string; name: string }> } | undefined;
  /** The commands of the channel that the form was opened in. */
  channel?: { id: string; commands: readonly string[]; all: readonly string[] } | undefined;
}

const FIELDS: Record<Role, { label: string; hint: string }> = {
  admin: {
    label: 'Admins',
    hint: 'May do everything: connect accounts, set roles, read the audit log. At least one person.',
  },
  operator: {
    label: 'Operators',
    hint: 'May change what stands at the service and what a channel is sent.',
  },
  billing: { label: 'Billing', hint: 'May see invoices.' },
};
const NAMES: readonly Role[] = ['admin', 'operator', 'billing'];

export function rolesModal({ users, groups, channel }: ShownRoles): ModalView {
  const blocks = NAMES.flatMap((role): KnownBlock[] => {
    const people = usersInput(role, users[role]);
    const inGroups = groups === undefined ? [] : groupsInput(role, groups.held[role], groups.all);
    return [people, ...inGroups];
  });
  return modal({
    callbackId: ROLES_MODAL,
    title: 'Roles',
    submit: 'Save',
    ...(channel === undefined ? {} : { metadata: { channel: channel.id } }),
    blocks: [
      section('Everybody else is a member: they see what there is and run tests.'),
      ...blocks,
      ...(channel === undefined ? [] : [commandsInput(channel)]),
    ],
  });
}

/** The field of a role's user groups. */
export function groupsField(role: Role): string {
  return `${role}_groups`;
}

export const COMMANDS_FIELD = 'commands';

/** All of them in as few words as say it; ids are Slack's own, so they show as names. */
export function rolesMessage(
  mentions: Readonly<Record<Role, readonly string[]>>,
  allowed?: readonly string[],
): Message {
  const lines = NAMES.map(
    (role) => `${FIELDS[role].label}: ${mentions[role].slice(0, 50).join(', ') || '—'}`,
  );
  if (allowed !== undefined)
    lines.push(
      allowed.length === 0
        ? 'In this channel: every command'
        : `In this channel: ${allowed.map((name) => code(name)).join(', ')}`,
    );
  return say(`:key: The roles are set.\n${lines.join('\n')}`);
}

function usersInput(role: Role, initial: readonly string[]): InputBlock {
  return {
    ...inputOf(role, FIELDS[role].label, FIELDS[role].hint),
    ...(role === 'admin' ? {} : { optional: true }),
    element: {
      type: 'multi_users_select',
      action_id: role,
      ...(initial.length === 0 ? {} : { initial_users: [...initial] }),
    },
  };
}

/** Nothing where there are no groups: Slack takes no menu without options. */
function groupsInput(
  role: Role,
  held: readonly string[],
  all: ReadonlyArray<{ id: string; name: string }>,
): InputBlock[] {
  const field = groupsField(role);
  const choices = all.map(({ id, name }) => ({ value: id, text: name }));
  return choices.length === 0
    ? []
    : [multiSelect(field, `${FIELDS[role].label}: user groups`, choices, held)];
}

function commandsInput({ commands, all }: NonNullable<ShownRoles['channel']>): InputBlock {
  const choices = all.map((name) => ({ value: name, text: name }));
  const hint = 'Choose none to allow every command. Help, start and roles always run.';
  return multiSelect(COMMANDS_FIELD, 'Commands allowed in this channel', choices, commands, hint);
}

function multiSelect(
  field: string,
  label: string,
  choices: ReadonlyArray<{ value: string; text: string }>,
  held: readonly string[],
  hint?: string,
): InputBlock {
  const options = optionsOf(choices);
  const initial = options.filter(({ value }) => held.includes(value));
  return {
    ...inputOf(field, label, hint),
    optional: true,
    element: {
      type: 'multi_static_select',
      action_id: field,
      options,
      ...(initial.length === 0 ? {} : { initial_options: initial }),
    },
  };
}

function inputOf(field: string, label: string, hint?: string): Omit<InputBlock, 'element'> {
  return {
    type: 'input',
    block_id: field,
    label: { type: 'plain_text', text: label.slice(0, LIMITS.inputLabel) },
    ...(hint === undefined ? {} : { hint: { type: 'plain_text', text: hint } }),
  };
}
