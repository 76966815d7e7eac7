import { hash } from 'node:crypto';
import { z } from 'zod';
import { GIVEN_ROLES } from '../../core/choices.ts';
import type { ModalView } from '../../core/message.ts';
import { withTimeout } from '../../core/time/clock.ts';
import { isAlwaysAllowed } from '../../records/channels.ts';
import { accountsChanged } from '../../records/schedules.ts';
import { undefinedOnSlackError } from '../../slack/failure.ts';
import {
  COMMANDS_FIELD,
  changedWords,
  GUESTS_FIELD,
  groupsField,
  lastWayInModal,
  ROLES_MODAL,
  rolesMessage,
  rolesModal,
} from '../../views/admin/roles.ts';
import { withBanner } from '../../views/blocks/modal.ts';
import type { Grants, Holders } from '../../workspace/roles.ts';
import {
  type Command,
  type CommandContext,
  closeWith,
  defineCommand,
  FormFault,
  fromForm,
  type Submitted,
  type ViewState,
} from '../command.ts';
import { accessActions } from './access.ts';

const Initial = z.object({ roles: z.string(), commands: z.string() });
/** `initial`: digests of the form's first state; `confirmed`: of the roles that the person was asked about. */
const Origin = z.object({
  channel: z.string().optional(),
  initial: Initial,
  confirmed: z.string().optional(),
});
/** Slack shows no form later than 3 s after the command. */
const ADMINS_TIMEOUT_MS = 1_000;
const Chosen = z.array(z.string()).default([]);
const Fields = z.object({ admin: Chosen, operator: Chosen, billing: Chosen });
const NO_HOLDERS: Holders = { admin: [], operator: [], billing: [] };
const NO_GRANTS: Pick<Grants, keyof Holders | 'groups' | 'guests'> = NO_HOLDERS;

/** Takes the list that it restricts, because it is one of them. */
export function createRolesCommand(commands: () => readonly Command[]): Command {
  const restrictable = (): string[] =>
    commands()
      .map(({ name }) => name)
      .filter((name) => !isAlwaysAllowed(name));
  return defineCommand({
    name: 'roles',
    summary: 'Sets who is admin, operator and billing, and which commands may run in this channel',
    role: 'admin',
    run: async (_, context) => ({
      kind: 'modal',
      view: await rolesForm(context, context.caller.channel, restrictable()),
    }),
    actions: accessActions,
    submissions: [
      {
        callbackId: ROLES_MODAL,
        submit: (state, context) => submitRoles(state, context, restrictable()),
      },
    ],
  });
}

async function rolesForm(
  { caller, workspace }: CommandContext,
  channel: string | undefined,
  restrictable: readonly string[],
): Promise<ModalView> {
  const { user } = caller;
  const { roles, clock } = workspace;
  const listed = undefinedOnSlackError(roles.admins(caller.team));
  const [grants, admins = [], all, isUnread, settings] = await Promise.all([
    roles.grants(),
    withTimeout(clock, ADMINS_TIMEOUT_MS, listed),
    workspace.roles.userGroups(caller.team),
    workspace.roles.lacksGroups(),
    workspace.channels.get(channel),
  ]);
  return rolesModal({
    initial: { roles: digestOf(grants), commands: digestOfCommands(settings.commands) },
    users: { ...(grants ?? NO_HOLDERS), admin: shownAdmins(grants, admins, user) },
    groups: isUnread ? 'unread' : all && { held: grants?.groups ?? NO_HOLDERS, all },
    areGuestsAllowed: grants?.guests === true,
    channel:
      channel === undefined
        ? undefined
        : { id: channel, commands: settings.commands ?? [], all: restrictable },
  });
}

/** The admins there are: those who are named, else Slack's own; whoever opens the form is one of them. */
function shownAdmins(grants: Grants | undefined, admins: readonly string[], user: string): string[] {
  const { admin = [], groups = NO_HOLDERS } = grants ?? {};
  if (groups.admin.length > 0) return admin;
  return [...new Set([user, ...(admin.length === 0 ? admins : admin)])];
}

/** What a form showed is no longer what stands. */
class ChangedMeanwhile extends Error {}

/** Of the roles that the form sets, however they came about. */
function digestOf(grants: Grants | undefined): string {
  const { admin, operator, billing, groups = NO_HOLDERS, guests = false } = grants ?? NO_GRANTS;
  const held = [admin, operator, billing, groups.admin, groups.operator, groups.billing];
  return digest([grants !== undefined, held.map((ids) => ids.toSorted()), guests]);
}

function digestOfCommands(commands: readonly string[] = []): string {
  return digest(commands.toSorted());
}

function digest(state: unknown): string {
  return hash('sha256', JSON.stringify(state), 'base64url');
}

/** What is as this form makes it may have been made by this form, before a kill. */
function expectUnchanged(current: string, initial: string, made: string): void {
  if (current !== initial && current !== made) throw new ChangedMeanwhile();
}

async function submitRoles(
  state: ViewState,
  context: CommandContext,
  restrictable: readonly string[],
): Promise<Submitted> {
  try {
    return await saveRoles(state, context, restrictable);
  } catch (error) {
    if (!(error instanceof ChangedMeanwhile)) throw error;
    const { channel } = fromForm(Origin, state.metadata);
    const today = await rolesForm(context, channel, restrictable);
    const setBy = (await context.workspace.roles.grants())?.setBy;
    return { kind: 'view', view: withBanner(today, changedWords(setBy)) };
  }
}

async function saveRoles(
  state: ViewState,
  context: CommandContext,
  restrictable: readonly string[],
): Promise<Submitted> {
  const { caller, workspace } = context;
  const { user } = caller;
  const before = await workspace.roles.grants();
  const users = Fields.parse(state.values);
  const groups = groupsOf(state, before, caller.team);
  const groupTeams = teamsOf(groups, before, caller.team);
  // The person who sets the roles can act; otherwise one of the others must, or the roles could never be set again.
  const isKept = users.admin.includes(user) || (await workspace.roles.hasActive(users.admin));
  if (!isKept) throw new FormFault({ admin: 'Name at least one person who can act.' });
  const guests = guestsOf(state, before);
  const grants: Grants = { ...users, groups, groupTeams, guests, setBy: user, setAt: workspace.clock.now() };
  const origin = fromForm(Origin, state.metadata);
  const { channel, initial } = origin;
  const confirmed = digestOf(grants);
  if (origin.confirmed !== confirmed && (await workspace.roles.takesLastWayIn(grants, user, caller.team)))
    return { kind: 'view', view: lastWayInModal(state.view, { ...origin, confirmed }) };
  const allowed = channel === undefined ? undefined : commandsOf(state, restrictable);
  const expectCommands = (commands: readonly string[] | undefined): void =>
    expectUnchanged(digestOfCommands(commands), initial.commands, digestOfCommands(allowed));
  if (channel !== undefined) expectCommands((await workspace.channels.get(channel)).commands);
  await workspace.roles.setAfter(
    (current) => expectUnchanged(digestOf(current), initial.roles, digestOf(grants)),
    grants,
  );
  if (channel !== undefined && allowed !== undefined) {
    await workspace.channels.change(channel, ({ commands, ...rest }) => {
      expectCommands(commands);
      return allowed.length === 0 ? rest : { ...rest, commands: allowed };
    });
    // What posts there by itself follows.
    await accountsChanged(workspace);
  }
  const mentions = byRole((role) => [
    ...groups[role].map((group) => `<!subteam^${group}>`),
    ...users[role].map((user) => `<@${user}>`),
  ]);
  return closeWith(rolesMessage(mentions, { guests, allowed }), { target: changesOf(before, grants) });
}

function byRole(of: (role: keyof Holders) => string[]): Holders {
  return { admin: of('admin'), operator: of('operator'), billing: of('billing') };
}

/** A form leaves groups that it did not show as they are: all, or those of other teams of an organisation. */
function groupsOf(
  { values, view }: ViewState,
  before: Grants | undefined,
  team: string | undefined,
): Holders {
  const { groups: held = NO_HOLDERS, groupTeams = {} } = before ?? {};
  const isOfOtherTeam = (group: string): boolean => (groupTeams[group] ?? team) !== team;
  const initial = new Set(view.blocks.map((block) => block.block_id));
  return byRole((role) => {
    const field = groupsField(role);
    if (!initial.has(field)) return held[role];
    return [...Chosen.parse(values[field]), ...held[role].filter(isOfOtherTeam)];
  });
}

/** A group that was just chosen is of the team of the person who chose it. */
function teamsOf(
  groups: Holders,
  before: Grants | undefined,
  team: string | undefined,
): Record<string, string> {
  const ids = new Set(Object.values(groups).flat());
  return Object.fromEntries(
    [...ids].flatMap((id) => {
      const of = before?.groupTeams?.[id] ?? team;
      return of === undefined ? [] : [[id, of]];
    }),
  );
}

/** A form that was opened before there was such a field leaves it as it is. */
function guestsOf({ values, view }: ViewState, before: Grants | undefined): boolean {
  if (!view.blocks.some((block) => block.block_id === GUESTS_FIELD)) return before?.guests === true;
  return Chosen.parse(values[GUESTS_FIELD]).length > 0;
}

/** What may run in the channel from now on; everything where it is empty. */
function commandsOf({ values }: ViewState, restrictable: readonly string[]): string[] {
  return Chosen.parse(values[COMMANDS_FIELD]).filter((name) => restrictable.includes(name));
}

/** E.g. `+operator U1, -billing U2`: ids, which are no secret. */
function changesOf(before: Grants | undefined, after: Grants): string {
  const heldBy = (grants: Grants | undefined, role: keyof Holders): string[] => [
    ...(grants?.[role] ?? []),
    ...(grants?.groups?.[role] ?? []),
  ];
  const changes = GIVEN_ROLES.flatMap((role) => {
    const [old, now] = [heldBy(before, role), heldBy(after, role)];
    const given = now.filter((id) => !old.includes(id)).map((id) => `+${role} ${id}`);
    return [...given, ...old.filter((id) => !now.includes(id)).map((id) => `-${role} ${id}`)];
  });
  if ((before?.guests === true) !== (after.guests === true))
    changes.push(`${after.guests ? '+' : '-'}guests`);
  return changes.join(', ').slice(0, 500) || 'unchanged';
}
