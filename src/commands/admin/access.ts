import { z } from 'zod';
import { showCard } from '../../cards/card.ts';
import { GIVEN_ROLES } from '../../core/choices.ts';
import type { Message, Reply } from '../../core/message.ts';
import { DAY_MS } from '../../core/time/clock.ts';
import { isSlackFailure } from '../../slack/failure.ts';
import {
  accessAnswerMessage,
  accessAskedMessage,
  accessRequestMessage,
  answeredMessage,
  askedAlreadyMessage,
  heldAlreadyMessage,
  heldByNowMessage,
  noAdminMessage,
  personLeftMessage,
  requestOverMessage,
} from '../../views/admin/access-messages.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { type Action, type ActionContext, defineButton } from '../action.ts';
import { replyInPlace } from '../replies.ts';

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
    async handle({ role, command }, { invocation, workspace }) {
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

/** "Allow" and "Deny" on the question to an admin. */
export const answerAccessActions: readonly Action[] = [true, false].map((isAllowed) =>
  defineButton(z.object({ id: z.string() }), {
    actionId: isAllowed ? 'access:allow' : 'access:deny',
    role: 'admin',
    durable: true,
    handle: ({ id }, context) => answerRequest(id, context, isAllowed),
  }),
);

/** Stores an admin's answer, gives the role, and tells the person. The first answer counts. */
async function answerRequest(
  id: string,
  { invocation, workspace }: ActionContext,
  isAllowed: boolean,
): Promise<Reply> {
  const { user: admin, requestId } = invocation;
  const { roles, word } = workspace;
  const requests = openRequests(workspace);
  const open = await requests.get(id);
  if (open === undefined) return replyInPlace(requestOverMessage(word));
  const isHeld = await roles.holds(open.user, open.role);
  if (isHeld && open.outcome === undefined) return endHeldRequest(workspace, id, open, isAllowed);
  const answer = { admin, isAllowed, requestId };
  const request = await requests.update(
    id,
    (current) => current && { ...current, outcome: current.outcome ?? answer },
  );
  if (request?.outcome === undefined) return replyInPlace(requestOverMessage(word));
  const { user, role, outcome } = request;
  // Another admin or click came first. After a kill, the same click continues.
  if (outcome.requestId !== requestId)
    return replyInPlace(answeredMessage(request, outcome, await roles.holds(user, role)));
  // Days may pass between request and answer, so Deckhand asks Slack again.
  const isActive = async () => (await roles.hasActive([user])) && (await roles.excluded(user)) === undefined;
  if (isAllowed && !(await isActive())) {
    await updateAll(workspace, request, personLeftMessage(request));
    return replyInPlace(personLeftMessage(request));
  }
  if (isAllowed) await roles.give(user, role, admin);
  await tellPerson(workspace, request, accessAnswerMessage(request, admin, isAllowed, word));
  await updateAll(workspace, request, answeredMessage(request, outcome, isAllowed));
  const target = `${isAllowed ? '+' : 'not '}${role} ${user}`;
  return { kind: 'nothing', audit: { what: isAllowed ? 'access allow' : 'access deny', target } };
}

/** Ends a request for a role that the person got in another way, e.g. by `roles`. They may ask again once it is lost. */
async function endHeldRequest(
  workspace: Workspace,
  id: string,
  request: AccessRequest,
  isAllowed: boolean,
): Promise<Reply> {
  if (isAllowed) await tellPerson(workspace, request, heldAlreadyMessage(request.role));
  const message = heldByNowMessage(request, workspace.word);
  await updateAll(workspace, request, message);
  await openRequests(workspace).delete(id);
  return replyInPlace(message);
}

async function tellPerson(
  { slack, log }: Workspace,
  { user }: AccessRequest,
  message: Message,
): Promise<void> {
  try {
    await slack.sendDirectMessage(user, message);
  } catch (error) {
    if (!isSlackFailure(error)) throw error;
    log.info({ event: 'asker_not_told', user, reason: error.reason }, 'Answer to a person failed');
  }
}

/** Updates the message of every admin who was asked. */
async function updateAll(workspace: Workspace, { questions }: AccessRequest, root: Message): Promise<void> {
  for (const { channel, ts } of questions) {
    const ref = { channel, ts };
    const card = { id: `question ${ts}`, channel, ref, root, cause: 'answer', ifRefused: 'leave' } as const;
    await showCard(workspace, card);
  }
}
