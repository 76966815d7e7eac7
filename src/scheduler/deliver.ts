import { z } from 'zod';
import { DAY_MS } from '../core/clock.ts';
import type { Message } from '../core/message.ts';
import { asClause } from '../core/mrkdwn.ts';
import { countPossibleDuplicate } from '../observability/metrics.ts';
import { isAlreadyPosted, isSlackFailure, isThreadRefused, type SlackFailure } from '../slack/failure.ts';
import type { MessageRef, Post, Send } from '../slack/slack.ts';
import { postId } from '../slack/web.ts';
import type { WorkspaceStore } from '../store/store.ts';
import { explainPolicy } from '../views/blocks/slack-failures.ts';
import type { Workspace } from '../workspace/workspace.ts';

/** Something that is to be said: a root, a reply, a digest, a notice, a direct message, or an edit of one of these. */
export interface Delivery {
  /** What it says and where, the same for each attempt, e.g. `digest d7k2 1774256400000`: its `client_msg_id` is made of it. */
  id: string;
  channel: string;
  threadTs?: string | undefined;
  /** The message that becomes this one, where it is an edit. */
  edits?: string | undefined;
  message: Message;
  /** An earlier attempt may have sent it and not kept Slack's answer. */
  possibleDuplicate?: boolean;
  /** A person waits for it, so it goes before what runs by itself. */
  isAwaited?: boolean;
  signal?: AbortSignal | undefined;
}

/** Where Slack's answers are kept: in the document of the feature, else among the deliveries. */
export interface SentMessages {
  ts(id: string): string | undefined | Promise<string | undefined>;
  keep(id: string, ts: string): Promise<unknown>;
}

type Outgoing = Pick<Workspace, 'id' | 'slack' | 'store' | 'clock' | 'log' | 'metrics'>;

/**
 * Says something in Slack. A post is kept as sent afterwards; where the process dies in between, or the answer is lost, it
 * is sent again under the same `client_msg_id`, so that the repeat is Slack's to refuse, and is counted
 * (`deckhand_possible_duplicates_total`).
 * @returns where it is; `ts` is empty where Slack had it already, because Slack does not say where
 * @throws SlackFailure
 */
export async function deliver(
  workspace: Outgoing,
  what: Delivery,
  sent: SentMessages = deliveriesOf(workspace),
): Promise<MessageRef> {
  const { id, channel, edits, message, signal } = what;
  if (edits !== undefined) {
    const ref = { channel, ts: edits };
    await workspace.slack.update(ref, message, signal);
    return ref;
  }
  return inTurn(workspace, what, async (send) => {
    const known = await sent.ts(id);
    if (known !== undefined) return { channel, ts: known };
    const clientMsgId = postId(workspace.id, id);
    if (what.possibleDuplicate) countPossibleDuplicate(workspace, 'post', { channel, delivery: clientMsgId });
    const ref = await post(send, { channel, threadTs: what.threadTs, message, clientMsgId }, signal);
    await sent.keep(id, ref.ts);
    return ref;
  });
}

function inTurn<T>(
  { slack }: Pick<Workspace, 'slack'>,
  { channel, isAwaited }: Delivery,
  work: (send: Send) => Promise<T>,
): Promise<T> {
  return isAwaited === true ? work(slack.post) : slack.withChannelLock(channel, work);
}

async function post(send: Send, what: Post, signal: AbortSignal | undefined): Promise<MessageRef> {
  try {
    return await send(what, signal);
  } catch (error) {
    if (isAlreadyPosted(error)) return { channel: what.channel, ts: '' };
    throw error;
  }
}

/**
 * Delivers a reply.
 * @returns false where Slack allows none there: threads are off in the channel from then on
 */
export async function deliverReply(
  workspace: Outgoing & Pick<Workspace, 'channels'>,
  what: Delivery & { threadTs: string },
  sent?: SentMessages,
): Promise<boolean> {
  try {
    await deliver(workspace, what, sent);
    return true;
  } catch (error) {
    if (!isThreadRefused(error)) throw error;
    const { channel } = what;
    const fields = { event: 'threads_refused', channel, reason: error.reason };
    workspace.log.warn(fields, 'Slack refused a reply, so threads are off there');
    await workspace.channels.turnThreadsOff(channel);
    return false;
  }
}

/** Longer than any occurrence is still posted. */
const KEPT_MS = 7 * DAY_MS;

/** Those that release 0.2.0 had begun, and perhaps not sent, have no `ts`. */
const Sent = z.object({ ts: z.string().optional() });

function deliveriesOf({ store, clock }: Pick<Workspace, 'store' | 'clock'>): SentMessages {
  const stored = store.collection('deliveries', Sent);
  return {
    ts: async (id) => (await stored.get(id))?.ts,
    keep: (id, ts) => stored.put(id, { ts }, clock.now() + KEPT_MS),
  };
}

/** Whether it was sent, as far as Slack's answer was kept. */
export async function isDelivered(
  workspace: { store: WorkspaceStore; clock: Workspace['clock'] },
  id: string,
): Promise<boolean> {
  return (await deliveriesOf(workspace).ts(id)) !== undefined;
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
