import { z } from 'zod';
import type { SlackFailure } from '../core/errors.ts';
import type { KnownBlock, Message } from '../core/message.ts';
import { isMarkup, mrkdwn, toClause } from '../core/mrkdwn.ts';
import { DAY_MS } from '../core/time/clock.ts';
import { countPossibleDuplicate } from '../observability/metrics.ts';
import {
  isAlreadyPosted,
  isSlackFailure,
  isThreadGone,
  isThreadRefused,
  isTokenRefused,
  mayHavePosted,
  undefinedOnSlackError,
} from '../slack/failure.ts';
import type { MessageRef, Send } from '../slack/slack.ts';
import { postId } from '../slack/web.ts';
import type { Collection } from '../store/store.ts';
import { explainPolicy } from '../views/blocks/slack-failures.ts';
import { readRealName } from '../workspace/slack-people.ts';
import type { Workspace } from '../workspace/workspace.ts';

/** Something to post: a root, a reply, a digest, a notice, a direct message. */
export interface Delivery {
  /** The same for each attempt, e.g. `digest d7k2 1774256400000`; the `client_msg_id` is derived from it. */
  id: string;
  channel: string;
  threadTs?: string | undefined;
  message: Message;
  /** True for a reply that the channel gets too. */
  isForChannel?: boolean | undefined;
  /**
   * Attempt of the job, if one job alone posts it: each attempt but the first may repeat a post. If left out, Deckhand
   * stores that it began the post.
   */
  attempt?: number | undefined;
  /** True if a person waits for it. It is then sent before automatic posts. */
  isAwaited?: boolean;
  signal?: AbortSignal | undefined;
}

/** A message in Slack. `ts` is empty if Slack had it already, because Slack then does not give it. */
export interface Delivered extends MessageRef {
  /** Set if an earlier attempt sent it, perhaps with another text. */
  isEarlier?: true;
}

/**
 * Posts something in Slack once, and stores that it was sent.
 * @throws SlackFailure
 */
export function deliver(workspace: Workspace, what: Delivery): Promise<Delivered> {
  const { id, channel } = what;
  return inTurn(workspace, what, async (send) => {
    const deliveries = openDeliveries(workspace);
    const earlierTs = (await deliveries.get(id))?.ts;
    if (earlierTs !== undefined) return { channel, ts: earlierTs, isEarlier: true };
    const ref = await sendOnce(workspace, send, what);
    await deliveries.put(id, { ts: ref.ts }, workspace.clock.now() + KEPT_MS);
    return ref;
  });
}

/** Like `deliver`, for callers that store the message `ts` themselves. */
export function postDelivery(workspace: Workspace, what: Delivery): Promise<MessageRef> {
  return inTurn(workspace, what, (send) => sendOnce(workspace, send, what));
}

function inTurn<T>(
  { slack }: Workspace,
  { channel, isAwaited }: Delivery,
  work: (send: Send) => Promise<T>,
): Promise<T> {
  return isAwaited === true ? work(slack.post) : slack.withChannelLock(channel, work);
}

/**
 * If Slack's answer is lost, or the process dies before storing it, the message is sent again with the same
 * `client_msg_id`. Slack should reject the repeat; `deckhand_possible_duplicates_total` counts it.
 */
async function sendOnce(workspace: Workspace, send: Send, what: Delivery): Promise<MessageRef> {
  const { id, channel, threadTs, isForChannel, isAwaited, signal, attempt } = what;
  // Deckhand has just checked the access of the person who waits.
  const message = isAwaited === true ? what.message : await nameExcluded(workspace, what.message);
  const clientMsgId = postId(workspace.id, id);
  const isRepeat = attempt === undefined ? await wasBegun(workspace, id) : attempt > 1;
  if (isRepeat) countPossibleDuplicate(workspace, 'post', { channel, delivery: clientMsgId });
  try {
    return await send({ channel, threadTs, isForChannel, message, clientMsgId }, signal);
  } catch (error) {
    if (isAlreadyPosted(error)) return { channel, ts: '' };
    if (attempt === undefined && !isRepeat && isSlackFailure(error) && !mayHavePosted(error))
      await openDeliveries(workspace).delete(nameBegun(id));
    throw error;
  }
}

/** Returns true if an earlier attempt began this post. Stores that it has begun. */
async function wasBegun(workspace: Workspace, id: string): Promise<boolean> {
  const expiresAt = workspace.clock.now() + KEPT_MS;
  return !(await openDeliveries(workspace).create(nameBegun(id), { ts: '' }, expiresAt));
}

function nameBegun(id: string): string {
  return `begun ${id}`;
}

/** Oldest first. Each reply has a unique name in the thread. `isForChannel`: the channel gets it too. */
export type Replies = ReadonlyArray<
  readonly [name: string | number, message: Message, isForChannel?: boolean | undefined]
>;

/**
 * Posts replies, each once, until Slack allows none there. Threads are then off in the channel, and those that it gets too are
 * messages.
 * @returns `refused` if threads are off in the channel, Slack allows none, or did not name the root; `gone` if
 * somebody deleted the thread
 * @throws SlackFailure
 */
export async function postReplies(
  workspace: Workspace,
  { id, ...thread }: Omit<Delivery, 'message'>,
  replies: Replies,
): Promise<'posted' | 'refused' | 'gone'> {
  const { channel, threadTs } = thread;
  const all = replies.map(([name, message, isForChannel]) => ({
    ...thread,
    id: `${id} ${name}`,
    message,
    isForChannel,
  }));
  const postAlone = async (from: number): Promise<'refused'> => {
    for (const reply of all.slice(from))
      if (reply.isForChannel === true) await deliver(workspace, { ...reply, threadTs: undefined });
    return 'refused';
  };
  if (!threadTs || (await workspace.channels.get(channel)).threads === false) return postAlone(0);
  for (const [at, reply] of all.entries()) {
    try {
      await deliver(workspace, reply);
    } catch (error) {
      if (isThreadGone(error)) return 'gone';
      if (!isThreadRefused(error)) throw error;
      const fields = { event: 'threads_refused', channel, reason: error.reason };
      workspace.log.warn(fields, 'Slack refused a reply; threads switched off');
      await workspace.channels.turnThreadsOff(channel);
      return postAlone(at);
    }
  }
  return 'posted';
}

export function logRefused({ log }: Workspace, channel: string, { method, reason }: SlackFailure): void {
  log.warn({ event: 'message_refused', channel, method, reason }, 'Slack refused a message');
}

/** Longer than Deckhand tries to post any occurrence. */
export const KEPT_MS = 7 * DAY_MS;

export const Sent = z.object({ ts: z.string() });

function openDeliveries({ store }: Workspace): Collection<z.infer<typeof Sent>> {
  return store.collection('deliveries', Sent);
}

/**
 * The `ts` of a post; empty if Slack did not give it. Undefined if the post was not sent, or Slack's answer
 * was lost.
 */
export async function findDelivered(workspace: Workspace, id: string): Promise<string | undefined> {
  return (await openDeliveries(workspace).get(id))?.ts;
}

/** True if another attempt would not help: the channel is gone, Deckhand is not in it, or may not post. */
export function isUndeliverable(error: unknown): error is SlackFailure {
  return isSlackFailure(error, 'gone', 'forbidden', 'revoked') && !isTokenRefused(error);
}

/** The reason as half a sentence. */
export function undeliverableReason({ kind, reason }: SlackFailure): string {
  if (reason === 'is_archived') return 'the channel is archived';
  const policy = explainPolicy(reason);
  if (policy !== undefined) return toClause(policy.text);
  if (kind === 'forbidden') return 'Slack does not let Deckhand post there';
  return 'Deckhand is no longer in the channel, or the channel is gone';
}

const MENTION = /<@([UW][A-Z0-9]+)>/g;

/** Replaces mentions of people who may no longer use Deckhand with their plain names. */
export async function nameExcluded(workspace: Workspace, message: Message): Promise<Message> {
  const users = new Set<string>();
  // Most messages mention nobody.
  if (!JSON.stringify(message).includes('<@')) return message;
  changeMarkup(message, (text) => {
    for (const [, user = ''] of text.matchAll(MENTION)) users.add(user);
    return text;
  });
  const names = new Map<string, string>();
  for (const user of users)
    if (!(await mayBeMentioned(workspace, user))) names.set(user, await readName(workspace, user));
  return names.size === 0 ? message : withNames(message, names);
}

/**
 * Returns false for a person who may no longer use Deckhand.
 * @throws SlackFailure if another attempt may help
 */
export async function mayBeMentioned({ roles }: Workspace, user: string): Promise<boolean> {
  const checked = roles.excluded(user).then((excluded) => excluded ?? 'allowed');
  return (await undefinedOnSlackError(checked, 'gone', 'forbidden', 'rejected')) === 'allowed';
}

async function readName(workspace: Workspace, user: string): Promise<string> {
  const name = (await workspace.names.findName(user)) ?? (await readRealName(workspace, user));
  return mrkdwn(name ?? 'somebody', 60);
}

function withNames(message: Message, names: ReadonlyMap<string, string>): Message {
  const { fallback } = message;
  const name = (mention: string, user: string): string => names.get(user) ?? mention;
  const changed = changeMarkup(message, (text) => text.replace(MENTION, name));
  return fallback === undefined ? changed : { ...changed, fallback: () => withNames(fallback(), names) };
}

/** Only texts with markup mention people. The others and the values of buttons hold foreign text as it is. */
function changeMarkup({ text, blocks }: Message, change: (text: string) => string): Message {
  const changed = JSON.stringify(blocks, (_, part: unknown) =>
    isMarkup(part) ? { ...part, text: change(part.text) } : part,
  );
  return { text: change(text), blocks: JSON.parse(changed) as KnownBlock[] };
}
