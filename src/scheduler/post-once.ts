import { createHash } from 'node:crypto';
import type { Message } from '../core/message.ts';
import { countWithheld } from '../observability/uncertain-delivery.ts';
import type { MessageRef } from '../slack/slack.ts';
import type { Workspace } from '../workspace/workspace.ts';

/** The part of a followed job's state that says what its thread was told. */
export interface ThreadState {
  channel: string;
  rootTs: string;
  /** Keys of the news that the thread has. */
  told: string[];
  /** The news being posted: if the process dies now, nobody knows whether Slack has it. */
  telling?: string | undefined;
}

/**
 * Tells a piece of news in the thread, at most once. The intent is stored before the post and the fact after it. A
 * process that died in between leaves the intent alone, and then the news counts as told: Slack has no way to ask
 * without reading the channel's history, the root message shows it anyway, and a reply is never doubled.
 */
export async function postOnce<S extends ThreadState>(
  workspace: Workspace,
  state: S,
  news: { key: string; message: Message },
  save: (state: S) => Promise<void>,
  signal: AbortSignal,
): Promise<S> {
  if (state.told.includes(news.key)) return state;
  const told = { ...state, told: [...state.told, news.key], telling: undefined };
  const { channel, rootTs: threadTs } = state;
  const clientMsgId = postId(threadTs, channel, news.key);
  if (state.telling === news.key) {
    countWithheld(workspace, { channel, delivery: clientMsgId });
    await save(told);
    return told;
  }
  await workspace.slack.withChannelLock(channel, async (send) => {
    const intend = (): Promise<void> => save({ ...state, telling: news.key });
    try {
      await send({ channel, threadTs, message: news.message, clientMsgId, intend }, signal);
    } catch (error) {
      // Slack refused or stayed silent while we lived: the next attempt tells it.
      await save({ ...state, telling: undefined });
      throw error;
    }
    await save(told);
  });
  return told;
}

/** The same UUID for the same piece of news, in Slack's `client_msg_id` form. */
export function postId(...parts: string[]): string {
  const hex = createHash('sha256').update(JSON.stringify(parts)).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

export function rootOf(state: ThreadState): MessageRef {
  return { channel: state.channel, ts: state.rootTs };
}
