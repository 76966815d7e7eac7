import { z } from 'zod';
import { DAY_MS } from '../core/clock.ts';
import type { Message } from '../core/message.ts';
import { asClause } from '../core/mrkdwn.ts';
import { isSlackFailure, isThreadRefused, type SlackFailure } from '../slack/failure.ts';
import type { MessageRef, Post, Send } from '../slack/slack.ts';
import { postId } from '../slack/web.ts';
import type { Collection, WorkspaceStore } from '../store/store.ts';
import { maybeTwice } from '../views/blocks/message.ts';
import { explainPolicy } from '../views/blocks/slack-failures.ts';
import type { Workspace } from '../workspace/workspace.ts';

/** A post that must arrive: `posting` right before it is sent, `posted` right after Slack's answer. */
const Delivery = z.object({
  state: z.enum(['posting', 'posted']),
  at: z.number(),
  channel: z.string(),
  /** Empty where Slack had it, but it was deleted. */
  ts: z.string().optional(),
});
type Delivery = z.infer<typeof Delivery>;

export interface Delivering {
  /** Identifies it, e.g. `digest d7k2 1774256400000`; a repetition with the same id finds it delivered. */
  id: string;
  channel: string;
  threadTs?: string | undefined;
  message: Message;
  signal?: AbortSignal | undefined;
}

/** Longer than any occurrence is still posted. */
const KEPT_MS = 7 * DAY_MS;

/** How the delivery stands; undefined where it was not begun, or Slack refused it. */
export async function deliveryOf(store: WorkspaceStore, id: string): Promise<Delivery | undefined> {
  return deliveries(store).get(id);
}

/**
 * Posts a message that is never lost, and once where Slack allows it. It is recorded before and after, alone in its
 * channel. If the process dies in between, Slack may or may not have it: then it is posted again under the same
 * `client_msg_id`, which is logged, counted (`deckhand_delivery_uncertain_total`) and said in the message; so it is where
 * Slack's answer was lost.
 * @throws SlackFailure; where it is certain that Slack did not take it, nothing stays recorded
 */
export async function deliver(workspace: Workspace, what: Delivering): Promise<MessageRef> {
  const { id, channel } = what;
  const stored = deliveries(workspace.store);
  return workspace.slack.withChannelLock(channel, async (send) => {
    const at = workspace.clock.now();
    const before = await begin(stored, id, { state: 'posting', channel, at });
    if (before?.state === 'posted') return { channel: before.channel, ts: before.ts ?? '' };
    const isRepeat = before !== undefined;
    const shown = await post({ ...what, isRepeat }, postId(workspace.id, id), send, () => stored.delete(id));
    // It ends when the first record would: to move an end costs the database as much as the rest of the write.
    const posted = { state: 'posted', channel, at: workspace.clock.now(), ts: shown.ts } as const;
    await stored.put(id, posted, at + KEPT_MS);
    return shown;
  });
}

/** Records that the post is about to be sent. @returns how it stood, where it had begun before */
async function begin(
  stored: Collection<Delivery>,
  id: string,
  posting: Delivery,
): Promise<Delivery | undefined> {
  if (await stored.create(id, posting, posting.at + KEPT_MS)) return undefined;
  // Gone where Slack has just refused it to another replica.
  return (await stored.get(id)) ?? begin(stored, id, posting);
}

/**
 * Delivers a reply.
 * @returns false where Slack allows none there: threads are off in the channel from then on
 */
export async function deliverReply(
  workspace: Workspace,
  what: Delivering & { threadTs: string },
): Promise<boolean> {
  try {
    await deliver(workspace, what);
    return true;
  } catch (error) {
    if (!isThreadRefused(error)) throw error;
    const { channel } = what;
    workspace.log.warn({ event: 'threads_refused', channel, reason: error.reason }, 'Slack refused a reply');
    await workspace.channels.turnThreadsOff(channel);
    return false;
  }
}

async function post(
  what: Delivering & Pick<Post, 'isRepeat'>,
  clientMsgId: string,
  send: Send,
  forget: () => Promise<unknown>,
): Promise<MessageRef> {
  const { id: label, signal, ...posted } = what;
  try {
    return await send({ ...posted, again: maybeTwice, clientMsgId, label }, signal);
  } catch (error) {
    // Slack knows this post by its `client_msg_id`, but it was deleted since.
    if (isSlackFailure(error, 'rejected') && error.reason === 'duplicate_message_not_found')
      return { channel: what.channel, ts: '' };
    if (isSlackFailure(error) && !error.mayHavePosted) await forget();
    throw error;
  }
}

function deliveries(store: WorkspaceStore): Collection<Delivery> {
  return store.collection('deliveries', Delivery);
}

/** True where posting again would not help: the channel is gone, we are not in it, or may not post. */
export function isUndeliverable(error: unknown): error is SlackFailure {
  return isSlackFailure(error, 'gone', 'forbidden', 'revoked');
}

/** Why, as half a sentence. */
export function undeliverableReason({ kind, reason }: SlackFailure): string {
  if (reason === 'is_archived') return 'the channel is archived';
  const policy = explainPolicy(reason);
  if (policy !== undefined) return asClause(policy.text);
  if (kind === 'revoked') return 'Deckhand is no longer installed in this workspace';
  if (kind === 'forbidden') return 'Slack does not let Deckhand post there';
  return 'Deckhand is no longer in the channel, or the channel is gone';
}
