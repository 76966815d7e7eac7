import type { Message } from '../../core/message.ts';
import type { Caller, Reply } from '../../core/reply.ts';
import { explainAndLog } from '../../scheduler/explain.ts';
import { isSlackFailure } from '../../slack/failure.ts';
import { notifyUser } from '../../slack/notify-user.ts';
import { failureMessage } from '../../views/blocks/failures.ts';
import { context, workingWords } from '../../views/blocks/message.ts';
import { notice } from '../../views/blocks/modal.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { MARKS_MS, showProgress } from './progress.ts';

/** Says what a handler returned, where the caller is. The only place that speaks for commands and clicks. */
export async function respond(workspace: Workspace, caller: Caller, reply: Reply): Promise<void> {
  switch (reply.kind) {
    case 'nothing':
      return;
    case 'private':
      return respondPrivately(workspace, caller, reply.message);
    case 'channel':
      return speakInChannel(workspace, caller, reply);
    case 'replace':
      return replaceOrSay(workspace, caller, reply.message);
    case 'modal':
      return openModal(workspace, caller, reply);
    case 'several':
    case 'run':
      throw new TypeError('carried out before it comes here');
  }
}

/** By the response address where there is one, else as an ephemeral message, else by direct message. */
export async function respondPrivately(
  workspace: Workspace,
  caller: Caller,
  message: Message,
): Promise<void> {
  if (
    caller.responseUrl !== undefined &&
    (await workspace.slack.respond(caller.responseUrl, message, 'ephemeral'))
  )
    return;
  await notifyUser(workspace.slack, caller, message);
}

async function speakInChannel(
  workspace: Workspace,
  caller: Caller,
  reply: Extract<Reply, { kind: 'channel' }>,
): Promise<void> {
  if (caller.channel === undefined) return respondPrivately(workspace, caller, reply.message);
  await workspace.slack.post({
    channel: caller.channel,
    message: reply.message,
    threadTs: reply.thread,
  });
}

/** Shows another message in place of the one that was clicked, whether all see it or one. */
export async function replaceMessage(workspace: Workspace, caller: Caller, message: Message): Promise<void> {
  if (
    caller.responseUrl !== undefined &&
    (await workspace.slack.respond(caller.responseUrl, message, 'replace'))
  )
    return;
  const { channel, messageTs } = caller;
  if (channel === undefined || messageTs === undefined) return respondPrivately(workspace, caller, message);
  await workspace.slack.update({ channel, ts: messageTs }, message);
}

/** What one person alone sees cannot be replaced without its response address, which is lost with the process. */
async function replaceOrSay(workspace: Workspace, caller: Caller, message: Message): Promise<void> {
  try {
    await replaceMessage(workspace, caller, message);
  } catch (error) {
    if (!isSlackFailure(error, 'gone')) throw error;
    await respondPrivately(workspace, caller, message);
  }
}

async function openModal(
  workspace: Workspace,
  caller: Caller,
  reply: Extract<Reply, { kind: 'modal' }>,
): Promise<void> {
  const { triggerId } = caller;
  const opened = await workspace.slack.openModal(triggerId ?? '', reply.view);
  if (reply.fill === undefined) return;
  const title = reply.view.title.text;
  // Each version has a hash of its own; the one that was opened counts until it is replaced.
  let hash: string | undefined = opened.hash;
  const showHowFar = async (ms: number): Promise<void> => {
    const blocks = [...reply.view.blocks, context(workingWords(ms))];
    await workspace.slack.updateModal(opened.id, { ...reply.view, blocks }, hash);
    hash = undefined;
  };
  const progress = showProgress(workspace, showHowFar, MARKS_MS.slice(1));
  try {
    const filled = await reply.fill().finally(() => progress.stop());
    await workspace.slack.updateModal(opened.id, filled, hash);
  } catch (error) {
    if (isSlackFailure(error, 'expired')) return;
    const at = { word: workspace.config.SLACK_COMMAND, now: workspace.clock.now() };
    const fields = { workspace: workspace.id, user: caller.user, view: reply.view.callback_id };
    const { text } = failureMessage(explainAndLog(error, at, workspace.log, fields));
    await workspace.slack.updateModal(opened.id, notice(title, text));
  }
}
