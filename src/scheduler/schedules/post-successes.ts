import { deliver, findDelivered, logRefused, nameExcluded, postReplies } from '../../cards/deliver.ts';
import { HOUR_MS } from '../../core/time/clock.ts';
import type { ActivityFeed, Batch, SuccessMessage } from '../../records/feeds.ts';
import { type FeedPlace, feedPlace } from '../../records/schedules.ts';
import { isMessageGone, isPlaceGone, isRefusal } from '../../slack/failure.ts';
import { hasRoomForSuccess, successMessage } from '../../views/watches/success-message.ts';
import type { Workspace } from '../../workspace/workspace.ts';

/** Successful deployments of so long are one message. */
const TOGETHER_MS = 2 * HOUR_MS;

/**
 * Puts all pending successful deployments of an account into the channel's message of the latest ones. Safe to repeat, also by
 * several jobs at once.
 * @returns the batches that Slack shows now
 * @throws SlackFailure
 */
export function postSuccesses(
  workspace: Workspace,
  { channel, account }: FeedPlace,
  signal: AbortSignal | undefined,
): Promise<Batch[]> {
  const { clock, feeds, store } = workspace;
  const place = { channel, account };
  return store.exclusive(`successes ${feedPlace(place)}`, async () => {
    const feed = await feeds.update(
      'watch',
      place,
      (current) => current && withPendingSuccesses(current, clock.now()),
    );
    const { batches = [], messages = [] } = feed?.successes ?? {};
    for (const message of messages) {
      if (message.visible === message.lines.length) continue;
      const after = await showSuccesses(workspace, place, message, signal);
      await feeds.update('watch', place, (current) => current && withMessage(current, message.id, after));
    }
    return feed?.pending.filter(({ id }) => batches.includes(id)) ?? [];
  });
}

/** The feed with the lines of its pending batches in messages, each once. Pure. */
export function withPendingSuccesses(feed: ActivityFeed, now: number): ActivityFeed {
  const { batches: taken = [], messages: before = [] } = feed.successes ?? {};
  const pending = feed.pending.filter(({ successes }) => successes !== undefined);
  const messages = before.filter(
    ({ lines, visible }, at) => at === before.length - 1 || visible < lines.length,
  );
  for (const { id, successes = [] } of pending.filter((batch) => !taken.includes(batch.id))) {
    for (const line of successes) {
      const last = messages.at(-1);
      const isOpen =
        last !== undefined && now - last.beganAt < TOGETHER_MS && hasRoomForSuccess(last.lines, line);
      if (isOpen) messages.splice(-1, 1, { ...last, lines: [...last.lines, line] });
      else messages.push({ id: `${id} ${messages.length}`, beganAt: now, lines: [line], visible: 0 });
    }
  }
  return { ...feed, successes: { batches: pending.map(({ id }) => id), messages } };
}

/** Pure. */
function withMessage(feed: ActivityFeed, id: string, after: SuccessMessage): ActivityFeed {
  const { batches = [], messages = [] } = feed.successes ?? {};
  return { ...feed, successes: { batches, messages: messages.map((one) => (one.id === id ? after : one)) } };
}

/** Posts or edits a message. If Slack refuses the edit, its new lines become a reply, or a message of their own. */
async function showSuccesses(
  workspace: Workspace,
  { channel, account }: FeedPlace,
  message: SuccessMessage,
  signal: AbortSignal | undefined,
): Promise<SuccessMessage> {
  const { id, lines, visible } = message;
  const isAccountShown = await workspace.accounts.hasSeveral();
  const draw = (some: readonly string[]) => successMessage(account, isAccountShown, some);
  // A kill may have come between the post and its note.
  const ts = message.ts ?? (await findDelivered(workspace, id));
  const all = { ...message, visible: lines.length };
  if (ts === undefined)
    return { ...all, ts: (await deliver(workspace, { id, channel, message: draw(lines), signal })).ts };
  if (ts !== '') {
    try {
      await workspace.slack.update({ channel, ts }, await nameExcluded(workspace, draw(lines)), signal);
      return { ...all, ts };
    } catch (error) {
      if (!isRefusal(error) || (isPlaceGone(error) && !isMessageGone(error))) throw error;
      logRefused(workspace, channel, error);
      const reply = [visible, draw(lines.slice(visible))] as const;
      const thread = { id, channel, threadTs: ts, signal };
      if (!isMessageGone(error) && (await postReplies(workspace, thread, [reply])) === 'posted')
        return { ...all, ts };
    }
  }
  const rest = lines.slice(visible);
  const next = { ...message, id: `${id} after ${visible}`, lines: rest, visible: rest.length };
  const posted = await deliver(workspace, { id: next.id, channel, message: draw(rest), signal });
  return { ...next, ts: posted.ts };
}
