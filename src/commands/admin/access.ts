import { z } from 'zod';
import { GIVEN_ROLES } from '../../core/choices.ts';
import type { Message, Reply } from '../../core/message.ts';
import { DAY_MS } from '../../core/time/clock.ts';
import { isSlackFailure } from '../../slack/failure.ts';
import type { Collection } from '../../store/store.ts';
import {
  accessAnswerMessage,
  accessAskedMessage,
  accessRequestMessage,
  answeredMessage,
  askedAlreadyMessage,
  askerLeftMessage,
  heldAlreadyMessage,
  noAdminMessage,
  requestOverMessage,
} from '../../views/admin/roles.ts';
import type { Roles } from '../../workspace/roles.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { type Action, type ActionContext, fromButton } from '../command.ts';

const AskValue = z.object({ role: z.enum(GIVEN_ROLES), command: z.string().max(80) });
const AnswerValue = z.object({ id: z.string() });
/** More would make one wish the business of many. */
const MAX_ASKED = 3;

/** "Ask for access" on a refusal. */
export const askAccessAction: Action = {
  actionId: 'access:ask',
  role: 'member',
  durable: true,
  run: askForAccess,
};

/** The answer of an admin. */
export const accessActions: Action[] = ['allow', 'deny'].map((verb) => ({
  actionId: `access:${verb}`,
  role: 'admin',
  durable: true,
  run: (value, context) => answer(value, context, verb === 'allow'),
}));

async function askForAccess(value: string | undefined, { caller, workspace }: ActionContext): Promise<Reply> {
  const wish: Wish = { user: caller.user, ...fromButton(AskValue, value) };
  const { role } = wish;
  const requests = requestsOf(workspace);
  if (await workspace.roles.holds(wish.user, role))
    return { kind: 'replace', message: heldAlreadyMessage(role) };
  const id = idOf(wish);
  if (!(await requests.create(id, { ...wish, asked: [] }, workspace.clock.now() + KEPT_MS)))
    return { kind: 'replace', message: askedAlreadyMessage(role, (await requests.get(id))?.outcome) };
  const asked = await askAdmins(workspace, { wish, id, team: caller.team }).catch(async (error: unknown) => {
    await requests.delete(id);
    throw error;
  });
  if (asked.length === 0) {
    await requests.delete(id);
    return { kind: 'replace', message: noAdminMessage(role, workspace.word) };
  }
  await requests.update(id, (request) => request && { ...request, asked });
  const admins = asked.map(({ admin }) => admin);
  const audit = { what: 'access ask', target: role };
  return { kind: 'replace', message: accessAskedMessage(role, admins), audit };
}

/** Those whom Slack let us write to. @throws SlackFailure where a scope is missing, for then it lets us write to nobody */
async function askAdmins(
  workspace: Workspace,
  { wish, id, team }: { wish: Wish; id: string; team: string | undefined },
) {
  const asked: Array<{ admin: string; channel: string; ts: string }> = [];
  for (const admin of await workspace.roles.admins(team)) {
    if (asked.length === MAX_ASKED) break;
    try {
      const sent = await workspace.slack.sendDirectMessage(admin, accessRequestMessage(wish, id));
      asked.push({ admin, ...sent });
    } catch (error) {
      if (!isSlackFailure(error) || error.reason === 'missing_scope') throw error;
      const { reason } = error;
      workspace.log.info({ event: 'admin_not_asked', user: admin, reason }, 'an admin could not be asked');
    }
  }
  return asked;
}

async function answer(
  value: string | undefined,
  { caller, workspace }: ActionContext,
  isAllowed: boolean,
): Promise<Reply> {
  const { id } = fromButton(AnswerValue, value);
  const { user: by, requestId } = caller;
  const { roles, slack, word } = workspace;
  const given: Outcome = { by, isAllowed, requestId };
  // The first answer counts.
  const first = (known?: AccessRequest) => known && { ...known, outcome: known.outcome ?? given };
  const request = await requestsOf(workspace).update(id, first);
  if (request?.outcome === undefined) return { kind: 'replace', message: requestOverMessage(word) };
  const { user, role, outcome } = request;
  // Another admin, or another click, was first; the same one goes on after a kill.
  if (outcome.requestId !== requestId)
    return { kind: 'replace', message: answeredMessage(request, outcome.by, outcome.isAllowed) };
  if (isAllowed && !(await canHold(roles, user))) {
    await showAll(workspace, request, askerLeftMessage(request));
    return { kind: 'replace', message: askerLeftMessage(request) };
  }
  if (isAllowed) await roles.give(user, role, by);
  await slack.sendDirectMessage(user, accessAnswerMessage(request, by, isAllowed, word)).catch(unreached);
  const message = answeredMessage(request, by, isAllowed);
  await showAll(workspace, request, message);
  const target = `${isAllowed ? '+' : 'not '}${role} ${user}`;
  return { kind: 'nothing', audit: { what: isAllowed ? 'access allow' : 'access deny', target } };

  function unreached(error: unknown): void {
    if (!isSlackFailure(error)) throw error;
    workspace.log.info({ event: 'asker_not_told', user, reason: error.reason }, 'a person could not be told');
  }
}

/** Asked of Slack anew, for days may lie between the wish and its answer. */
async function canHold(roles: Roles, user: string): Promise<boolean> {
  return (await roles.hasActive([user])) && (await roles.excluded(user)) === undefined;
}

/** Every admin who was asked sees the answer where they were asked. */
async function showAll({ slack, log }: Workspace, { asked }: AccessRequest, message: Message): Promise<void> {
  for (const messageRef of asked) {
    try {
      await slack.update(messageRef, message);
    } catch (error) {
      if (!isSlackFailure(error)) throw error;
      log.info({ event: 'redraw_failed', reason: error.reason }, 'a used button is still shown');
    }
  }
}

/** A person asks for a role once in so long, whatever the answer is. */
const KEPT_MS = DAY_MS;

const Outcome = z.object({ by: z.string(), isAllowed: z.boolean(), requestId: z.string() });
type Outcome = z.infer<typeof Outcome>;

const AccessRequest = z.object({
  user: z.string(),
  role: z.enum(GIVEN_ROLES),
  /** The command that was refused. */
  command: z.string(),
  /** The messages that admins were asked by. */
  asked: z.array(z.object({ channel: z.string(), ts: z.string() })),
  outcome: Outcome.optional(),
});
type AccessRequest = z.infer<typeof AccessRequest>;

type Wish = Pick<AccessRequest, 'user' | 'role' | 'command'>;

/** Who asked for a role today, and what an admin answered. */
function requestsOf({ store }: Pick<Workspace, 'store'>): Collection<AccessRequest> {
  return store.collection('access-requests', AccessRequest);
}

function idOf({ user, role }: Wish): string {
  return `${user} ${role}`;
}
