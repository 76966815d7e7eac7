import { type Card, replyToCard, showCard } from '../../cards/card.ts';
import type { Replies } from '../../cards/deliver.ts';
import { hashJson } from '../../core/json.ts';
import type { RootRef } from '../../records/episodes.ts';
import { isMessageGone, isThreadGone } from '../../slack/failure.ts';
import type { Workspace } from '../../workspace/workspace.ts';

interface FailureCard extends Pick<Card, 'id' | 'channel' | 'root' | 'signal'> {
  /** Cause of the latest change. If somebody deleted the message, Deckhand posts it again only for a new cause. */
  cause: string;
  replies: Replies;
  /** Undefined before the first post. */
  rootRef: RootRef | undefined;
  save(rootRef: RootRef): Promise<void>;
}

/**
 * Posts or edits the message of a failure or an outage, and posts each reply once. Safe to repeat, but not by two jobs at once.
 * @throws SlackFailure
 */
export async function showFailure(workspace: Workspace, failure: FailureCard): Promise<void> {
  const { channel, cause, replies, rootRef, save } = failure;
  const hash = hashJson(failure.root);
  const isShown = rootRef?.hash === hash;
  const root = isShown ? rootRef : { ts: await showRoot(workspace, failure, hash), cause, hash };
  if (!isShown) await save(root);
  try {
    await replyToCard(workspace, { ...failure, ref: { channel, ts: root.ts } }, replies);
  } catch (error) {
    if (!isThreadGone(error)) throw error;
    await save({ ...root, ts: '' });
  }
}

/** Returns the `ts` of the message. */
async function showRoot(workspace: Workspace, failure: FailureCard, hash: string): Promise<string> {
  const { id, channel, cause, replies: news, rootRef } = failure;
  const card: Card = { ...failure, cause: hash, ifRefused: 'tell', news, ref: undefined };
  if (rootRef === undefined) return (await showCard(workspace, card)).ts;
  const { ts } = rootRef;
  try {
    if (ts !== '') return (await showCard(workspace, { ...card, ref: { channel, ts } })).ts;
  } catch (error) {
    if (!isMessageGone(error)) throw error;
  }
  if (rootRef.cause === cause) return '';
  // The name stays the same until the `ts` is saved, even if the text changes.
  return (await showCard(workspace, { ...card, id: `${id} after ${rootRef.cause}` })).ts;
}
