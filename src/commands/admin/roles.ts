import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { GIVEN_ROLES } from '../../core/choices.ts';
import { hashJson } from '../../core/json.ts';
import type { ModalView } from '../../core/message.ts';
import { withTimeout } from '../../core/time/clock.ts';
import { type Channel, isAlwaysAllowed } from '../../records/channels.ts';
import { undefinedOnSlackError } from '../../slack/failure.ts';
import {
  COMMANDS_FIELD,
  GUESTS_ALLOWED,
  GUESTS_FIELD,
  groupsField,
  LAST_WAY_IN,
  ROLES_MODAL,
  rolesMessage,
  rolesModal,
} from '../../views/admin/role-messages.ts';
import type { Values } from '../../views/blocks/modal.ts';
import { comeBack, type Merged, mergeSubmitted, withOpened } from '../../views/blocks/shared-form.ts';
import type { Grants, Holders } from '../../workspace/role-holders.ts';
import { type Command, defineCommand } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { askAboutConflicts, ChangedMeanwhile, saveUnchanged } from '../save-unchanged.ts';
import { closeWith, FormFault, type Submitted, type ViewState } from '../submission.ts';
import { parseForm } from '../values.ts';
import { answerAccessActions } from './access.ts';

/** `confirmed`: digest of the roles in the question "Save again?" */
const Origin = z.object({ channel: z.string().optional(), confirmed: z.string().optional() });
/** Slack shows no form later than 3 s after the command. */
const ADMINS_TIMEOUT_MS = 1_000;
const Ids = z.array(z.string()).default([]);
const Fields = z.object({ admin: Ids, operator: Ids, billing: Ids });
const NO_HOLDERS: Holders = { admin: [], operator: [], billing: [] };

/** @param commands a function, because the list contains this command */
export function createRolesCommand(commands: () => readonly Command[]): Command {
  const restrictable = (): string[] =>
    commands()
      .map(({ name }) => name)
      .filter((name) => !isAlwaysAllowed(name));
  return defineCommand({
    name: 'roles',
    phrase: 'says who may do what',
    synonyms: ['permissions', 'permission'],
    phrases: {
      'role|admins|admin|operators|operator|rights|access|users|members|privileges': '',
      'who is|are admin|admins|operator|operators|billing|allowed|an|the *': '',
      'who can|may|has *': '',
      'add|invite|remove|new admin|admins|operator|operators|user|users|member|members|person|people|colleague *':
        '',
      'who has access|rights|permission|permissions|roles *': '',
      'make|add|remove|set|give|grant|promote + admin|operator|billing|access|rights|role|permission|permissions *':
        '',
      'grant|promote|demote|allow|permit *': '',
      'list|show|edit|change|set admins|operators|roles|permissions|users *': '',
      'ask|request|need for? access|permission|role|rights *': '',
    },
    summary: 'Sets who is admin, operator and billing, and which commands may run in this channel',
    role: 'admin',
    handle: async (_, context) => ({
      kind: 'modal',
      view: await drawRoles(context, context.invocation.channel, restrictable()),
    }),
    actions: answerAccessActions,
    submissions: [
      {
        callbackId: ROLES_MODAL,
        submit: (state, context) => saveUnchanged(() => submitRoles(state, context, restrictable())),
      },
    ],
  });
}

async function drawRoles(
  { invocation, workspace }: CommandContext,
  channel: string | undefined,
  restrictable: readonly string[],
  confirmed?: string,
): Promise<ModalView> {
  const { user } = invocation;
  const { roles, clock } = workspace;
  const listed = undefinedOnSlackError(roles.admins(invocation.team));
  const [grants, admins = [], all, isUnread, settings] = await Promise.all([
    roles.grants(),
    withTimeout(clock, ADMINS_TIMEOUT_MS, listed),
    workspace.roles.userGroups(invocation.team),
    workspace.roles.lacksGroups(),
    workspace.channels.get(channel),
  ]);
  const view = rolesModal({
    confirmed,
    users: { ...(grants ?? NO_HOLDERS), admin: listAdmins(grants, admins, user) },
    groups: isUnread ? 'unread' : all && { held: grants?.groups ?? NO_HOLDERS, all },
    areGuestsAllowed: grants?.guests === true,
    channel:
      channel === undefined
        ? undefined
        : { id: channel, commands: settings.commands ?? [], all: restrictable },
  });
  return withOpened(view, rolesValues(grants, settings));
}

/** Named admins, else Slack's own, with the person who opens the form. */
function listAdmins(grants: Grants | undefined, admins: readonly string[], user: string): string[] {
  const { admin = [], groups = NO_HOLDERS } = grants ?? {};
  if (groups.admin.length > 0) return admin;
  return [...new Set([user, ...(admin.length === 0 ? admins : admin)])];
}

/** The stored roles and commands as fields of the form. Without named admins, the form shows Slack's own. */
function rolesValues(grants: Grants | undefined, { commands }: Channel): Values {
  const { groups = NO_HOLDERS, guests = false }: Partial<Grants> = grants ?? {};
  const holders = GIVEN_ROLES.flatMap((role) => [
    [role, [...(grants ?? NO_HOLDERS)[role]]],
    [groupsField(role), [...groups[role]]],
  ]);
  return {
    ...Object.fromEntries(holders),
    [GUESTS_FIELD]: guests ? [GUESTS_ALLOWED] : [],
    [COMMANDS_FIELD]: commands,
  };
}

/** Tells grants apart, whoever set them and when. */
function hashGrants(grants: Grants | undefined): string {
  const lists = Object.values(rolesValues(grants, {})).map((list = []) => [...list].toSorted());
  return hashJson([grants !== undefined, lists]);
}

/** Saves only what the person changed: somebody else may have changed other roles since the form was opened. */
async function submitRoles(
  state: ViewState,
  context: CommandContext,
  restrictable: readonly string[],
): Promise<Submitted> {
  const { invocation, workspace } = context;
  const { user, team } = invocation;
  const { channel, confirmed } = parseForm(Origin, state.metadata);
  const before = await workspace.roles.grants();
  const settings = await workspace.channels.get(channel);
  const merged = mergeSubmitted(state, rolesValues(before, settings));
  if (merged.conflicts.length > 0)
    return askAboutConflicts(
      await drawRoles(context, channel, restrictable),
      state,
      merged,
      before?.changedBy,
    );
  const grants = await readGrants(merged, context, before);
  const hash = hashGrants(grants);
  if (confirmed !== hash && (await workspace.roles.takesLastWayIn(grants, user, team))) {
    const today = await drawRoles(context, channel, restrictable, hash);
    return { kind: 'view', view: comeBack(today, state, merged, LAST_WAY_IN) };
  }
  await workspace.roles.setAfter((current) => {
    // A state that equals the form's may come from this form, before a kill.
    if (![hashGrants(before), hash].includes(hashGrants(current))) throw new ChangedMeanwhile();
  }, grants);
  const allowed = await saveCommands(context, { channel, settings, merged, restrictable });
  const mentions = byRole((role) => [
    ...(grants.groups?.[role] ?? []).map((group) => `<!subteam^${group}>`),
    ...grants[role].map((holder) => `<@${holder}>`),
  ]);
  const message = rolesMessage(mentions, { guests: grants.guests === true, allowed });
  return closeWith(message, { target: describeChanges(before, grants) });
}

/** @throws FormFault without an active admin, because nobody could set roles any more */
async function readGrants(
  merged: Merged,
  { invocation, workspace }: CommandContext,
  before: Grants | undefined,
): Promise<Grants> {
  const { user, team } = invocation;
  const users = Fields.parse(merged.values);
  const hasAdmin = users.admin.includes(user) || (await workspace.roles.hasActive(users.admin));
  if (!hasAdmin) throw new FormFault({ admin: 'Name at least one person who can act.' });
  const groups = readGroups(merged, before, team);
  return {
    ...users,
    groups,
    groupTeams: findTeams(groups, before, team),
    guests: Ids.parse(merged.values[GUESTS_FIELD]).length > 0,
    changedBy: user,
    changedAt: workspace.clock.now(),
  };
}

/** @returns the commands that the channel allows; an empty list allows all */
async function saveCommands(
  { workspace }: CommandContext,
  {
    channel,
    settings,
    merged,
    restrictable,
  }: { channel: string | undefined; settings: Channel; merged: Merged; restrictable: readonly string[] },
): Promise<readonly string[] | undefined> {
  if (channel === undefined) return undefined;
  if (!merged.mine.has(COMMANDS_FIELD)) return settings.commands ?? [];
  const allowed = Ids.parse(merged.values[COMMANDS_FIELD]).filter((name) => restrictable.includes(name));
  const isSame = (one: readonly string[] = [], other: readonly string[] = []): boolean =>
    isDeepStrictEqual(one.toSorted(), other.toSorted());
  await workspace.channels.change(channel, ({ commands, ...rest }) => {
    if (!isSame(commands, settings.commands) && !isSame(commands, allowed)) throw new ChangedMeanwhile();
    return allowed.length === 0 ? rest : { ...rest, commands: allowed };
  });
  // Pauses or resumes the channel's schedules.
  await workspace.accountsChanged();
  return allowed;
}

function byRole(list: (role: keyof Holders) => string[]): Holders {
  return { admin: list('admin'), operator: list('operator'), billing: list('billing') };
}

/** User groups by role. Those that the person did not change remain, and those of other teams of an organisation. */
function readGroups({ values, mine }: Merged, before: Grants | undefined, team: string | undefined): Holders {
  const { groups: held = NO_HOLDERS, groupTeams = {} } = before ?? {};
  const isOfOtherTeam = (group: string): boolean => (groupTeams[group] ?? team) !== team;
  return byRole((role) => {
    const field = groupsField(role);
    if (!mine.has(field)) return held[role];
    return [...new Set([...Ids.parse(values[field]), ...held[role].filter(isOfOtherTeam)])];
  });
}

/** Teams by group. A new group belongs to the team of the person who chose it. */
function findTeams(
  groups: Holders,
  before: Grants | undefined,
  team: string | undefined,
): Record<string, string> {
  const ids = new Set(Object.values(groups).flat());
  return Object.fromEntries(
    [...ids].flatMap((id) => {
      const groupTeam = before?.groupTeams?.[id] ?? team;
      return groupTeam === undefined ? [] : [[id, groupTeam]];
    }),
  );
}

/** Changes for the audit log, e.g. `+operator U1, -billing U2`. Ids are not secret. */
function describeChanges(before: Grants | undefined, after: Grants): string {
  const listHolders = (grants: Grants | undefined, role: keyof Holders): string[] => [
    ...(grants?.[role] ?? []),
    ...(grants?.groups?.[role] ?? []),
  ];
  const changes = GIVEN_ROLES.flatMap((role) => {
    const [old, now] = [listHolders(before, role), listHolders(after, role)];
    const added = now.filter((id) => !old.includes(id)).map((id) => `+${role} ${id}`);
    return [...added, ...old.filter((id) => !now.includes(id)).map((id) => `-${role} ${id}`)];
  });
  if ((before?.guests === true) !== (after.guests === true))
    changes.push(`${after.guests ? '+' : '-'}guests`);
  return changes.join(', ').slice(0, 500) || 'unchanged';
}
