import { z } from 'zod';
import { GIVEN_ROLES } from '../../core/choices.ts';
import { hashJson } from '../../core/json.ts';
import type { Message, ModalView, Reply } from '../../core/message.ts';
import { DAY_MS, withTimeout } from '../../core/time/clock.ts';
import { isAlwaysAllowed } from '../../records/channels.ts';
import { accountsChanged } from '../../records/schedules.ts';
import { isSlackFailure, undefinedOnSlackError } from '../../slack/failure.ts';
import {
  accessAnswerMessage,
  accessAskedMessage,
  accessRequestMessage,
  answeredMessage,
  askedAlreadyMessage,
  COMMANDS_FIELD,
  changedWords,
  GUESTS_FIELD,
  groupsField,
  heldAlreadyMessage,
  lastWayInModal,
  noAdminMessage,
  personLeftMessage,
  ROLES_MODAL,
  requestOverMessage,
  rolesMessage,
  rolesModal,
} from '../../views/admin/roles.ts';
import { withBanner } from '../../views/blocks/modal.ts';
import type { Grants, Holders } from '../../workspace/roles.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import {
  type Action,
  type ActionContext,
  type Command,
  type CommandContext,
  closeWith,
  defineButton,
  defineCommand,
  FormFault,
  parseForm,
  replyInPlace,
  type Submitted,
  type ViewState,
} from '../command.ts';

const Initial = z.object({ roles: z.string(), commands: z.string() });
/** `initial`: digests of the form's first state. `confirmed`: digest of the roles in the question "Save again?" */
const Origin = z.object({
  channel: z.string().optional(),
  initial: Initial,
  confirmed: z.string().optional(),
});
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
    synonyms: ['permissions'],
    summary: 'Sets who is admin, operator and billing, and which commands may run in this channel',
    role: 'admin',
    run: async (_, context) => ({
      kind: 'modal',
      view: await drawRoles(context, context.invocation.channel, restrictable()),
    }),
    actions: [true, false].map((isAllowed) =>
      defineButton(z.object({ id: z.string() }), {
        actionId: isAllowed ? 'access:allow' : 'access:deny',
        role: 'admin',
        durable: true,
        run: ({ id }, context) => answerRequest(id, context, isAllowed),
      }),
    ),
    submissions: [
      { callbackId: ROLES_MODAL, submit: (state, context) => submitRoles(state, context, restrictable()) },
    ],
  });
}

async function drawRoles(
  { invocation, workspace }: CommandContext,
  channel: string | undefined,
  restrictable: readonly string[],
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
  return rolesModal({
    initial: { roles: hashGrants(grants), commands: hashCommands(settings.commands) },
    users: { ...(grants ?? NO_HOLDERS), admin: listAdmins(grants, admins, user) },
    groups: isUnread ? 'unread' : all && { held: grants?.groups ?? NO_HOLDERS, all },
    areGuestsAllowed: grants?.guests === true,
    channel:
      channel === undefined
        ? undefined
        : { id: channel, commands: settings.commands ?? [], all: restrictable },
  });
}

/** Named admins, else Slack's own, with the person who opens the form. */
function listAdmins(grants: Grants | undefined, admins: readonly string[], user: string): string[] {
  const { admin = [], groups = NO_HOLDERS } = grants ?? {};
  if (groups.admin.length > 0) return admin;
  return [...new Set([user, ...(admin.length === 0 ? admins : admin)])];
}

/** The roles or commands changed while the form was open. */
class ChangedMeanwhile extends Error {}

function hashGrants(grants: Grants | undefined): string {
  const { groups = NO_HOLDERS, guests = false }: Partial<Grants> = grants ?? {};
  const holders = [grants ?? NO_HOLDERS, groups].flatMap((held) => GIVEN_ROLES.map((role) => held[role]));
  return hashJson([grants !== undefined, holders.map((ids) => ids.toSorted()), guests]);
}

function hashCommands(commands: readonly string[] = []): string {
  return hashJson(commands.toSorted());
}

/** A state that equals the form's may come from this form, before a kill. */
function expectUnchanged(current: string, initial: string, kind: string): void {
  if (current !== initial && current !== kind) throw new ChangedMeanwhile();
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
    const { channel } = parseForm(Origin, state.metadata);
    const today = await drawRoles(context, channel, restrictable);
    const changedBy = (await context.workspace.roles.grants())?.changedBy;
    return { kind: 'view', view: withBanner(today, changedWords(changedBy)) };
  }
}

async function saveRoles(
  state: ViewState,
  context: CommandContext,
  restrictable: readonly string[],
): Promise<Submitted> {
  const { invocation, workspace } = context;
  const { user } = invocation;
  const before = await workspace.roles.grants();
  const users = Fields.parse(state.values);
  const groups = readGroups(state, before, invocation.team);
  const groupTeams = findTeams(groups, before, invocation.team);
  // Without an active admin, nobody could set roles any more.
  const hasAdmin = users.admin.includes(user) || (await workspace.roles.hasActive(users.admin));
  if (!hasAdmin) throw new FormFault({ admin: 'Name at least one person who can act.' });
  const guests = readGuests(state, before);
  const grants: Grants = {
    ...users,
    groups,
    groupTeams,
    guests,
    changedBy: user,
    changedAt: workspace.clock.now(),
  };
  const origin = parseForm(Origin, state.metadata);
  const { channel, initial } = origin;
  const confirmed = hashGrants(grants);
  if (origin.confirmed !== confirmed && (await workspace.roles.takesLastWayIn(grants, user, invocation.team)))
    return { kind: 'view', view: lastWayInModal(state.view, { ...origin, confirmed }) };
  const allowed = channel === undefined ? undefined : readCommands(state, restrictable);
  const expectCommands = (commands: readonly string[] | undefined): void =>
    expectUnchanged(hashCommands(commands), initial.commands, hashCommands(allowed));
  if (channel !== undefined) expectCommands((await workspace.channels.get(channel)).commands);
  await workspace.roles.setAfter(
    (current) => expectUnchanged(hashGrants(current), initial.roles, confirmed),
    grants,
  );
  if (channel !== undefined && allowed !== undefined) {
    await workspace.channels.change(channel, ({ commands, ...rest }) => {
      expectCommands(commands);
      return allowed.length === 0 ? rest : { ...rest, commands: allowed };
    });
    // Pauses or resumes the channel's schedules.
    await accountsChanged(workspace);
  }
  const mentions = byRole((role) => [
    ...groups[role].map((group) => `<!subteam^${group}>`),
    ...users[role].map((user) => `<@${user}>`),
  ]);
  return closeWith(rolesMessage(mentions, { guests, allowed }), { target: describeChanges(before, grants) });
}

function byRole(list: (role: keyof Holders) => string[]): Holders {
  return { admin: list('admin'), operator: list('operator'), billing: list('billing') };
}

/** User groups by role. Groups that the form did not show remain: all, or those of other teams of an organisation. */
function readGroups(
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
    return [...Ids.parse(values[field]), ...held[role].filter(isOfOtherTeam)];
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

/** A form of an earlier version lacks the field, and changes nothing. */
function readGuests({ values, view }: ViewState, before: Grants | undefined): boolean {
  if (!view.blocks.some((block) => block.block_id === GUESTS_FIELD)) return before?.guests === true;
  return Ids.parse(values[GUESTS_FIELD]).length > 0;
}

/** Commands that the channel allows; an empty list allows all. */
function readCommands({ values }: ViewState, restrictable: readonly string[]): string[] {
  return Ids.parse(values[COMMANDS_FIELD]).filter((name) => restrictable.includes(name));
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

export const AccessRequest = z.object({
  user: z.string(),
  role: z.enum(GIVEN_ROLES),
  /** The command that was refused. */
  command: z.string(),
  /** Messages to admins. */
  questions: z.array(z.object({ channel: z.string(), ts: z.string() })),
  outcome: z.object({ admin: z.string(), isAllowed: z.boolean(), requestId: z.string() }).optional(),
});
type AccessRequest = z.infer<typeof AccessRequest>;

/** Requests of the last day: a person asks for a role once a day, whatever the answer is. */
function openRequests({ store }: Pick<Workspace, 'store'>) {
  return store.collection('access-requests', AccessRequest);
}

/** "Ask for access" on a refusal. */
export const askAccessAction: Action = defineButton(
  z.object({ role: z.enum(GIVEN_ROLES), command: z.string().max(80) }),
  {
    actionId: 'access:ask',
    role: 'member',
    durable: true,
    async run({ role, command }, { invocation, workspace }) {
      const { user } = invocation;
      const requests = openRequests(workspace);
      if (await workspace.roles.holds(user, role)) return replyInPlace(heldAlreadyMessage(role));
      const id = `${user} ${role}`;
      const request = { user, role, command, questions: [] };
      if (!(await requests.create(id, request, workspace.clock.now() + DAY_MS)))
        return replyInPlace(askedAlreadyMessage(role, (await requests.get(id))?.outcome));
      const questions = await askAdmins(workspace, accessRequestMessage(request, id), invocation.team).catch(
        async (error: unknown) => {
          await requests.delete(id);
          throw error;
        },
      );
      if (questions.length === 0) {
        await requests.delete(id);
        return replyInPlace(noAdminMessage(role, workspace.word));
      }
      await requests.update(id, (current) => current && { ...current, questions });
      const admins = questions.map(({ admin }) => admin);
      return replyInPlace(accessAskedMessage(role, admins), { what: 'access ask', target: role });
    },
  },
);

/** Ask at most three admins, to keep the request quiet. */
const MAX_ASKED = 3;

/** Returns the sent messages. @throws SlackFailure if a scope is missing, so that no admin can be reached */
async function askAdmins(workspace: Workspace, message: Message, team: string | undefined) {
  const questions: Array<{ admin: string; channel: string; ts: string }> = [];
  for (const admin of await workspace.roles.admins(team)) {
    if (questions.length === MAX_ASKED) break;
    try {
      questions.push({ admin, ...(await workspace.slack.sendDirectMessage(admin, message)) });
    } catch (error) {
      if (!isSlackFailure(error) || error.reason === 'missing_scope') throw error;
      const { reason } = error;
      workspace.log.info({ event: 'admin_not_asked', user: admin, reason }, 'Message to an admin failed');
    }
  }
  return questions;
}

/** Stores an admin's answer, gives the role, and tells the person. The first answer counts. */
async function answerRequest(
  id: string,
  { invocation, workspace }: ActionContext,
  isAllowed: boolean,
): Promise<Reply> {
  const { user: admin, requestId } = invocation;
  const { roles, slack, log, word } = workspace;
  const answer = { admin, isAllowed, requestId };
  const request = await openRequests(workspace).update(
    id,
    (current) => current && { ...current, outcome: current.outcome ?? answer },
  );
  if (request?.outcome === undefined) return replyInPlace(requestOverMessage(word));
  const { user, role, outcome } = request;
  // Another admin or click came first. After a kill, the same click continues.
  if (outcome.requestId !== requestId)
    return replyInPlace(answeredMessage(request, outcome.admin, outcome.isAllowed));
  // Days may pass between request and answer, so Deckhand asks Slack again.
  const isActive = async () => (await roles.hasActive([user])) && (await roles.excluded(user)) === undefined;
  if (isAllowed && !(await isActive())) {
    await updateAll(workspace, request, personLeftMessage(request));
    return replyInPlace(personLeftMessage(request));
  }
  if (isAllowed) await roles.give(user, role, admin);
  try {
    await slack.sendDirectMessage(user, accessAnswerMessage(request, admin, isAllowed, word));
  } catch (error) {
    if (!isSlackFailure(error)) throw error;
    log.info({ event: 'asker_not_told', user, reason: error.reason }, 'Answer to a person failed');
  }
  await updateAll(workspace, request, answeredMessage(request, admin, isAllowed));
  const target = `${isAllowed ? '+' : 'not '}${role} ${user}`;
  return { kind: 'nothing', audit: { what: isAllowed ? 'access allow' : 'access deny', target } };
}

/** Updates the message of every admin who was asked. */
async function updateAll(
  { slack, log }: Workspace,
  { questions }: AccessRequest,
  message: Message,
): Promise<void> {
  for (const messageRef of questions) {
    try {
      await slack.update(messageRef, message);
    } catch (error) {
      if (!isSlackFailure(error)) throw error;
      log.info({ event: 'redraw_failed', reason: error.reason }, 'Update of a used button failed');
    }
  }
}
