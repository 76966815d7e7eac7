import { SlackFailure } from '../core/errors.ts';
import type { Message } from '../core/message.ts';
import {
  isMessageGone,
  isPlaceGone,
  isRefusal,
  isSlackFailure,
  isThreadGone,
  THREAD_GONE,
} from '../slack/failure.ts';
import type { MessageRef } from '../slack/slack.ts';
import type { Workspace } from '../workspace/workspace.ts';
import {
  type Delivery,
  deliver,
  logRefused,
  nameExcluded,
  postDelivery,
  postReplies,
  type Replies,
} from './deliver.ts';

/** A message that Deckhand keeps up to date, as it is now. */
export interface Card extends Omit<Delivery, 'message'> {
  root: Message;
  /** The message in Slack, which the card's own document stores; undefined before its post. `ts` is empty if Slack did not give it. */
  ref: MessageRef | undefined;
  /** Name of what it shows now, e.g. `outcome:ended`. A version that Slack does not take is told elsewhere once. */
  cause: string;
  ifRefused: Refusal;
  /** Replies that say what changed. Default: the whole message. */
  news?: Replies | undefined;
  /** Gets what Slack takes nowhere in the channel. */
  person?: string | undefined;
}

/**
 * Next step if Slack refuses an edit. `tell`: the thread gets the message, else the channel, else the person, who gets a
 * refused post too. If the card was deleted, `tell` throws. `post`: a new message takes its place. `leave`: the message stays.
 */
type Refusal = 'tell' | 'post' | 'leave';

/**
 * Updates Slack to the present state of a card: posts its message, or edits it. Safe to repeat.
 * @returns the message that shows it
 * @throws SlackFailure if Slack refuses the post, may accept the edit later, or as `ifRefused` says
 */
export async function showCard(workspace: Workspace, card: Card): Promise<MessageRef> {
  const { ref, ifRefused } = card;
  if (ref === undefined) return postRoot(workspace, card);
  if (ref.ts !== '' && (await editRoot(workspace, card, ref))) return ref;
  if (ifRefused === 'tell') await tellElsewhere(workspace, card, ref);
  if (ifRefused !== 'post') return ref;
  return postRoot(workspace, { ...card, id: `${card.id} after ${ref.ts}` });
}

async function postRoot(workspace: Workspace, card: Card): Promise<MessageRef> {
  const { id, root: message, ifRefused, person, attempt } = card;
  try {
    // A job or request that counts its attempts stores the message itself.
    if (attempt !== undefined) return await postDelivery(workspace, { ...card, message });
    const { isEarlier, ...ref } = await deliver(workspace, { ...card, message });
    return isEarlier && ref.ts !== '' ? await showCard(workspace, { ...card, ref }) : ref;
  } catch (error) {
    if (ifRefused !== 'tell' || person === undefined || !isRefusal(error)) throw error;
    const channel = await workspace.slack.openDirect(person);
    // Slack may have had the first post, and rejects another with its id.
    return postDelivery(workspace, { ...card, id: `${id} direct`, channel, threadTs: undefined, message });
  }
}

/** Returns false if Slack refused the edit, and nothing is to repeat it. */
async function editRoot(workspace: Workspace, card: Card, ref: MessageRef): Promise<boolean> {
  const { ifRefused, signal } = card;
  try {
    await workspace.slack.update(ref, await nameExcluded(workspace, card.root), signal);
    return true;
  } catch (error) {
    if (!isSlackFailure(error) || (ifRefused === 'tell' && isMessageGone(error))) throw error;
    logRefused(workspace, ref.channel, error);
    // The edit is repeated later. The news goes elsewhere at once, so that nobody waits.
    if (ifRefused === 'tell' && error.kind === 'unreachable') await tellElsewhere(workspace, card, ref);
    if (ifRefused === 'tell' && !isRefusal(error)) throw error;
    return false;
  }
}

/** Posts once what the root cannot show: in its thread, else in the channel, else to the person. */
async function tellElsewhere(workspace: Workspace, card: Card, ref: MessageRef): Promise<void> {
  const { cause, root: message, news: replies = [], person, attempt, signal } = card;
  const { channel } = ref;
  const thread = findThread({ ...card, ref });
  const news = { id: `${thread.id} ${cause}`, channel, message, attempt, signal };
  const destinations = [
    async () => {
      const outcome = await postReplies(workspace, thread, replies.length > 0 ? replies : [[cause, message]]);
      if (outcome === 'gone') throw new SlackFailure('chat.postMessage', 'gone', THREAD_GONE);
      return outcome === 'posted';
    },
    async () => deliver(workspace, news),
    async () => {
      if (person === undefined) return false;
      workspace.log.warn({ event: 'outcome_sent_directly', user: person }, 'Outcome sent by direct message');
      return deliver(workspace, { ...news, channel: await workspace.slack.openDirect(person) });
    },
  ];
  for (const tell of destinations) {
    try {
      if (await tell()) return;
    } catch (error) {
      if (!isRefusal(error) || isThreadGone(error)) throw error;
      logRefused(workspace, channel, error);
    }
  }
}

type Thread = Pick<Card, 'id' | 'threadTs' | 'attempt' | 'signal'> & { ref: MessageRef };

/** The thread of a card: its own, or the one that its message replies in. */
function findThread({ id, threadTs, ref: { channel, ts }, attempt, signal }: Thread) {
  return { id: ts || id, channel, threadTs: ts && (threadTs ?? ts), attempt, signal };
}

/**
 * Posts replies, each once. Skips one that Slack refuses. Where there are no threads, the channel still gets its own.
 * @returns false if Slack allows no replies there
 * @throws SlackFailure if the card or its channel is gone
 */
export async function replyToCard(workspace: Workspace, card: Thread, replies: Replies): Promise<boolean> {
  const thread = findThread(card);
  let hasThread = true;
  for (const reply of replies) {
    try {
      const outcome = await postReplies(workspace, thread, [reply]);
      hasThread &&= outcome !== 'refused';
      if (outcome === 'gone') throw new SlackFailure('chat.postMessage', 'gone', THREAD_GONE);
    } catch (error) {
      if (!isRefusal(error) || isPlaceGone(error)) throw error;
      logRefused(workspace, thread.channel, error);
    }
  }
  return hasThread;
}

/**
 * Shows the time that passed, if Slack's rate has room for an optional edit. Skips one that Slack refuses.
 * @returns false without room
 * @throws SlackFailure if the message or its channel is gone
 */
export async function refreshMessage(
  workspace: Workspace,
  ref: MessageRef,
  draw: () => Message,
): Promise<boolean> {
  const { slack } = workspace;
  if (!slack.mayRefresh(ref.channel)) return false;
  try {
    return await slack.refresh(ref, draw());
  } catch (error) {
    if (!isRefusal(error) || isPlaceGone(error)) throw error;
    logRefused(workspace, ref.channel, error);
    return true;
  }
}
