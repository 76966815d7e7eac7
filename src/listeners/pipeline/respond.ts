import type { Caller, Reply } from '../../commands/command.ts';
import type { Deckhand } from '../../deckhand.ts';
import { explainAndLog } from '../../scheduler/explain.ts';
import { isSlackFailure } from '../../slack/failure.ts';
import { notifyUser } from '../../slack/notify-user.ts';
import { failureMessage } from '../../views/blocks/failures.ts';
import { context, type Message } from '../../views/blocks/message.ts';
import { notice } from '../../views/blocks/modal.ts';
import { workingWords } from '../../views/blocks/working.ts';
import { MARKS_MS, showProgress } from './progress.ts';

/** Says what a handler returned, where the caller is. The only place that speaks for commands and clicks. */
export async function respond(deckhand: Deckhand, caller: Caller, reply: Reply): Promise<void> {
  switch (reply.kind) {
    case 'nothing':
      return;
    case 'private':
      return respondPrivately(deckhand, caller, reply.message);
    case 'channel':
      return speakInChannel(deckhand, caller, reply);
    case 'replace':
      return replaceOrSay(deckhand, caller, reply.message);
    case 'modal':
      return openModal(deckhand, caller, reply);
    case 'several':
    case 'run':
      throw new TypeError('carried out before it comes here');
  }
}

/** By the response address where there is one, else as an ephemeral message, else by direct message. */
export async function respondPrivately(deckhand: Deckhand, caller: Caller, message: Message): Promise<void> {
  if (
    caller.responseUrl !== undefined &&
    (await deckhand.slack.respond(caller.responseUrl, message, 'ephemeral'))
  )
    return;
  await notifyUser(deckhand.slack, caller.workspace, caller, message);
}

async function speakInChannel(
  deckhand: Deckhand,
  caller: Caller,
  reply: Extract<Reply, { kind: 'channel' }>,
): Promise<void> {
  if (caller.channel === undefined) return respondPrivately(deckhand, caller, reply.message);
  await deckhand.slack.post(caller.workspace, {
    channel: caller.channel,
    message: reply.message,
    threadTs: reply.thread,
  });
}

/** Shows another message in place of the one that was clicked, whether all see it or one. */
export async function replaceMessage(deckhand: Deckhand, caller: Caller, message: Message): Promise<void> {
  if (
    caller.responseUrl !== undefined &&
    (await deckhand.slack.respond(caller.responseUrl, message, 'replace'))
  )
    return;
  const { channel, messageTs, workspace } = caller;
  if (channel === undefined || messageTs === undefined) return respondPrivately(deckhand, caller, message);
  await deckhand.slack.update(workspace, { channel, ts: messageTs }, message);
}

/** What one person alone sees cannot be replaced without its response address, which is lost with the process. */
async function replaceOrSay(deckhand: Deckhand, caller: Caller, message: Message): Promise<void> {
  try {
    await replaceMessage(deckhand, caller, message);
  } catch (error) {
    if (!isSlackFailure(error, 'gone')) throw error;
    await respondPrivately(deckhand, caller, message);
  }
}

async function openModal(
  deckhand: Deckhand,
  caller: Caller,
  reply: Extract<Reply, { kind: 'modal' }>,
): Promise<void> {
  const { workspace, triggerId } = caller;
  const opened = await deckhand.slack.openModal(workspace, triggerId ?? '', reply.view);
  if (reply.fill === undefined) return;
  const title = reply.view.title.text;
  // Each version has a hash of its own; the one that was opened counts until it is replaced.
  let hash: string | undefined = opened.hash;
  const showHowFar = async (ms: number): Promise<void> => {
    const blocks = [...reply.view.blocks, context(workingWords(ms))];
    await deckhand.slack.updateModal(workspace, opened.id, { ...reply.view, blocks }, hash);
    hash = undefined;
  };
  const progress = showProgress(deckhand, showHowFar, MARKS_MS.slice(1));
  try {
    const filled = await reply.fill().finally(() => progress.stop());
    await deckhand.slack.updateModal(workspace, opened.id, filled, hash);
  } catch (error) {
    if (isSlackFailure(error, 'expired')) return;
    const at = { word: deckhand.config.SLACK_COMMAND, now: deckhand.clock.now() };
    const fields = { workspace, user: caller.user, view: reply.view.callback_id };
    const { text } = failureMessage(explainAndLog(error, at, deckhand.log, fields));
    await deckhand.slack.updateModal(workspace, opened.id, notice(title, text));
  }
}
