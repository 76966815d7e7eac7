import type { CommandContext } from '../../commands/context.ts';
import { nameAdmins } from '../../commands/permission.ts';
import { AccountFailure, InstallationEnded, StoreUnavailable } from '../../core/errors.ts';
import type { Invocation, Message, ModalView, Reply } from '../../core/message.ts';
import { code } from '../../core/mrkdwn.ts';
import { newReference } from '../../observability/log.ts';
import { showChange } from '../../scheduler/setup/show-channel-card.ts';
import { isPlaceGone, isSlackFailure, isThreadGone, mayHavePosted } from '../../slack/failure.ts';
import { notifyUser } from '../../slack/slack.ts';
import { type Explained, failureMessage } from '../../views/blocks/failures.ts';
import { splitAnswer } from '../../views/blocks/lists.ts';
import { context, workingMessage, workingWords } from '../../views/blocks/make-blocks.ts';
import { notice } from '../../views/blocks/modal.ts';
import type { Workspace } from '../../workspace/workspace.ts';

/** A reply that is sent as it is; the others need more work first. */
type Spoken = Exclude<Reply, { kind: 'command' | 'several' | 'card' }>;

/**
 * Shows the change of a reply in the card of its channel.
 * @returns the reply that remains
 * @throws SlackFailure after taking the change back
 */
export async function showReplyCard(
  { workspace }: CommandContext,
  reply: Reply,
): Promise<Exclude<Reply, { kind: 'card' }>> {
  if (reply.kind !== 'card') return reply;
  const { channel, line, isDone, undo, answer, audit } = reply;
  try {
    await showChange(workspace, channel, line);
  } catch (error) {
    if (isSlackFailure(error) && !mayHavePosted(error)) await undo?.();
    if (!isDone || !isSlackFailure(error, 'gone', 'forbidden', 'revoked')) throw error;
  }
  return { ...answer, audit };
}

/** Sends a handler's reply to the place of the request. */
export async function say(context: CommandContext, reply: Spoken): Promise<void> {
  const { workspace, invocation } = context;
  switch (reply.kind) {
    case 'nothing':
      return;
    case 'private':
      return respondPrivately(workspace, invocation, reply.message);
    case 'channel':
      return postInChannel(workspace, invocation, reply);
    case 'replace':
      return replaceMessage(workspace, invocation, reply.message);
    case 'modal':
      return openModal(context, reply);
  }
}

/** Answers by the response URL if there is one, else by an ephemeral message, else by direct message. */
export async function respondPrivately(
  workspace: Pick<Workspace, 'slack'>,
  invocation: Invocation,
  message: Message,
): Promise<void> {
  for (const part of splitAnswer(message)) await respondPart(workspace, invocation, part);
}

async function respondPart(
  { slack }: Pick<Workspace, 'slack'>,
  invocation: Invocation,
  message: Message,
): Promise<void> {
  const { responseUrl, isWorkingShown } = invocation;
  const mode = isWorkingShown ? 'replace' : 'ephemeral';
  invocation.isWorkingShown = false;
  const threadTs = findThread(invocation);
  if (responseUrl !== undefined && (await slack.respond(responseUrl, message, mode, threadTs))) return;
  // Slack shows no ephemeral message in a thread that has not begun, such as that of a mention whose form this answers.
  await notifyUser(slack, { ...invocation, threadTs: threadTs && invocation.threadTs }, message);
}

/** Thread of a private answer. A mention may begin its own thread, in which Slack shows no ephemeral message yet. */
function findThread(invocation: Invocation): string | undefined {
  if (invocation.isThreadGone) return undefined;
  return invocation.threadTs ?? (isMention(invocation) ? undefined : invocation.answerTs);
}

/**
 * Asks in the channel that will get the answer, because a response URL works even if Deckhand may not post.
 * @throws SlackFailure if Deckhand may not post there
 */
export async function askInChannel(
  workspace: Pick<Workspace, 'slack'>,
  invocation: Invocation,
  question: Message,
): Promise<void> {
  const { channel, user } = invocation;
  if (channel === undefined) return respondPrivately(workspace, invocation, question);
  try {
    await workspace.slack.postEphemeral({ channel, user, threadTs: findThread(invocation) }, question);
  } catch (error) {
    if (isPlaceGone(error)) throw error;
    await respondPrivately(workspace, invocation, question);
  }
}

/** Returns a function that tells the person that their command or click is still running. */
export function respondWorking(
  workspace: Workspace,
  invocation: Invocation,
  command: string | undefined,
): (elapsedMs: number) => Promise<void> {
  const line = command === undefined ? undefined : `${workspace.word} ${command}`;
  // A command's response URL can replace and delete this line; a click's would replace the clicked message.
  const isFleeting = invocation.responseUrl !== undefined && invocation.messageTs === undefined;
  return async (elapsedMs) => {
    if (!isFleeting && elapsedMs !== MARKS_MS[0]) return;
    await respondPrivately(workspace, invocation, workingMessage(elapsedMs, line));
    invocation.isWorkingShown = isFleeting;
  };
}

/**
 * Deletes the line that the work continues, if the answer came another way.
 * @param isAnswered true if the message at the response URL asked a question, which is answered now
 */
export async function removeWorking(
  { slack }: Pick<Workspace, 'slack'>,
  invocation: Invocation,
  isAnswered = false,
): Promise<void> {
  const { responseUrl, isWorkingShown = false } = invocation;
  if (!(isWorkingShown || isAnswered) || responseUrl === undefined) return;
  invocation.isWorkingShown = false;
  await slack.respond(responseUrl, { text: '', blocks: [] }, 'delete');
}

/**
 * Answers a failure at the place of the request, and logs it.
 * @param retry the typed command, offered again if that may help
 * @throws StoreUnavailable if that was the failure of a stored request, which its job retries
 */
export async function respondFailure(
  { workspace, invocation, explain }: CommandContext,
  error: unknown,
  fields: { command?: string | undefined; action?: string; view?: string } = {},
  retry?: { text: string; isDurable: boolean },
): Promise<void> {
  if (invocation.isStored && error instanceof StoreUnavailable) throw error;
  const explained = { ...explain(error, fields), ...(await explainReconnect(workspace, invocation, error)) };
  if (isThreadGone(error)) invocation.isThreadGone = true;
  try {
    const { answerTs, isThreadGone: isGone } = invocation;
    const offer = retry && { ...retry, thread: isGone ? undefined : answerTs };
    await respondPrivately(workspace, invocation, failureMessage(explained, offer));
  } catch (err) {
    // Slack does not accept the answer either.
    workspace.log.warn({ event: 'answer_failed', err, ...fields }, 'Answer not sent');
  }
}

/** Returns the next step if the service refuses the shared key, which only admins replace. */
async function explainReconnect(
  workspace: Workspace,
  { user }: Invocation,
  error: unknown,
): Promise<Pick<Explained, 'next'> | undefined> {
  if (!(error instanceof AccountFailure) || error.cause.kind !== 'unauthorized') return undefined;
  const { name, purpose, state } = error.account;
  if (purpose !== 'shared' || state === 'unverified') return undefined;
  const isAdmin = await workspace.roles.holds(user, 'admin').catch(() => true);
  const connect = code(`${workspace.word} connect ${name}`);
  const next = isAdmin
    ? `Connect again with ${connect}`
    : `Ask ${await nameAdmins(workspace)} to run ${connect}`;
  return { next: `${next}.` };
}

/** Explains why a request was not stored, and so not run. */
export function explainNotStored({ log }: Pick<Workspace, 'log'>, error: unknown): Explained {
  if (error instanceof InstallationEnded)
    return { text: 'Deckhand was taken out of this workspace, so nothing was done.' };
  const reference = newReference();
  log.error({ event: 'request_not_stored', reference, err: error }, 'Request not stored');
  return {
    text: 'Deckhand cannot store anything at the moment, so nothing was done.',
    next: 'Try again in a minute.',
    reference,
  };
}

async function postInChannel(
  workspace: Pick<Workspace, 'slack'>,
  invocation: Invocation,
  { message, thread, isDone }: Extract<Reply, { kind: 'channel' }>,
): Promise<void> {
  const { channel, answerTs } = invocation;
  if (channel === undefined || invocation.isThreadGone)
    return respondPrivately(workspace, invocation, message);
  try {
    await workspace.slack.post({ channel, message, threadTs: thread ?? answerTs });
  } catch (error) {
    invocation.isThreadGone = isThreadGone(error);
    if (!isDone || !isSlackFailure(error, 'gone', 'forbidden')) throw error;
    await respondPrivately(workspace, invocation, message);
  }
}

/** Replaces the clicked message, or answers privately: an ephemeral one needs its response URL, which a restart loses. */
export async function replaceMessage(
  workspace: Pick<Workspace, 'slack'>,
  invocation: Invocation,
  message: Message,
): Promise<void> {
  const { channel, messageTs, responseUrl } = invocation;
  const { slack } = workspace;
  if (responseUrl !== undefined && (await slack.respond(responseUrl, message, 'replace'))) return;
  if (channel === undefined || messageTs === undefined)
    return respondPrivately(workspace, invocation, message);
  try {
    await slack.update({ channel, ts: messageTs }, message);
  } catch (error) {
    if (!isSlackFailure(error, 'gone')) throw error;
    await respondPrivately(workspace, invocation, message);
  }
}

async function openModal(
  { workspace, invocation, explain }: CommandContext,
  reply: Extract<Reply, { kind: 'modal' }>,
): Promise<void> {
  const { slack } = workspace;
  const { fill } = reply;
  const view = storeAnswerThread(reply.view, invocation.answerTs);
  const modal = await slack.openModal(invocation.triggerId ?? '', view);
  if (fill === undefined) return;
  // Each version has its own hash; the first counts until it is replaced.
  let hash: string | undefined = modal.hash;
  const showWorking = async (ms: number): Promise<void> => {
    await slack.updateModal(modal.id, { ...view, blocks: [...view.blocks, context(workingWords(ms))] }, hash);
    hash = undefined;
  };
  const endProgress = showProgress(workspace, showWorking, MARKS_MS.slice(1));
  try {
    const filled = await fill().finally(endProgress);
    await slack.updateModal(modal.id, storeAnswerThread(filled, invocation.answerTs), hash);
  } catch (error) {
    if (isSlackFailure(error, 'expired')) return;
    const { text } = failureMessage(explain(error, { view: view.callback_id }));
    await slack.updateModal(modal.id, notice(view.title.text, text));
  }
}

/** Times at which Deckhand tells a person that the work continues. From the second on, it tells the duration too. */
export const MARKS_MS: readonly number[] = [2_000, 10_000, 30_000];

/**
 * Shows at each mark that the work continues. A failure to show it is logged, and the work continues.
 * @returns a function that ends this; it resolves once nothing more can be shown
 */
export function showProgress(
  { clock, log }: Pick<Workspace, 'clock' | 'log'>,
  show: (elapsedMs: number) => Promise<void>,
  marksMs = MARKS_MS,
): () => Promise<void> {
  const done = new AbortController();
  const progress = showMarks();

  async function showMarks(): Promise<void> {
    let elapsed = 0;
    try {
      for (const mark of marksMs) {
        await clock.sleep(mark - elapsed, done.signal);
        elapsed = mark;
        await show(mark);
      }
    } catch (error) {
      if (!done.signal.aborted) log.warn({ event: 'answer_failed', err: error }, 'Progress not shown');
    }
  }

  return () => {
    // Creating the default reason, with its stack, costs more than the rest of this function.
    done.abort('over');
    return progress;
  };
}

/** True for a mention, which is an event: it has a thread for the answer, and no handle that opens a form. */
export function isMention({ answerTs, triggerId }: Invocation): boolean {
  return answerTs !== undefined && triggerId === undefined;
}

/** Stores the thread of a mention's answer in the form, so that it survives redraws. */
export function storeAnswerThread(view: ModalView, thread: string | undefined): ModalView {
  if (thread === undefined) return view;
  const metadata: object = JSON.parse(view.private_metadata || '{}');
  return { ...view, private_metadata: JSON.stringify({ ...metadata, answer: thread }) };
}
