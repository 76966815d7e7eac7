import type { News } from '../core/message.ts';
import { countWithheld } from '../observability/uncertain-delivery.ts';
import { isThreadRefused } from '../slack/failure.ts';
import { postId } from '../slack/post-journal.ts';
import type { MessageRef } from '../slack/slack.ts';
import type { Workspace } from '../workspace/workspace.ts';

/** The part of a followed job's data that says where it is shown, and what its thread has. */
export interface FollowedState {
  /** Both undefined where it is shown nowhere. */
  channel?: string | undefined;
  rootTs?: string | undefined;
  /** The thread that the root message is a reply in, where it does not begin one. */
  threadTs?: string | undefined;
  /** The reply that shows the progress, where Slack's answer to it was kept. */
  progressTs?: string | undefined;
  /** When Deckhand began to follow it, milliseconds since the epoch. */
  startedAt: number;
  /** False where only the root message is edited. */
  threads: boolean;
  /** Keys of the news that the thread has. */
  told: string[];
  /** The news being posted: if the process dies now, Slack may or may not have it. */
  telling?: string | undefined;
}

/** The stored state, as it changes. */
export interface FollowedRecord<State> {
  read(): State;
  keep(state: State): Promise<void>;
  signal: AbortSignal | undefined;
}

/** The key of the reply that is edited while it runs. */
export const PROGRESS = 'progress';

type Context = Pick<Workspace, 'slack' | 'log' | 'metrics' | 'channels'>;

/** False where threads are off, or Slack refuses replies there: then they are off from now on. */
export async function replyOnce<State extends FollowedState>(
  context: Context,
  record: FollowedRecord<State>,
  news: News,
): Promise<boolean> {
  const { channel, rootTs, threadTs = rootTs, threads } = record.read();
  if (!threads || channel === undefined || threadTs === undefined) return false;
  try {
    await postOnce(context, record, news, threadTs);
    return true;
  } catch (error) {
    if (!isThreadRefused(error)) throw error;
    const { reason } = error;
    context.log.warn(
      { event: 'threads_refused', channel, reason },
      'Slack refused a reply: threads are off there',
    );
    await context.channels.turnThreadsOff(channel);
    await record.keep({ ...record.read(), threads: false });
    return false;
  }
}

/**
 * Stores the intent before the post and the fact after it. A process that died in between leaves the intent alone,
 * and then the news counts as posted: Slack cannot be asked without reading the channel's history, the root message
 * shows it anyway, and a reply is never doubled.
 * @param threadTs undefined: as a message of its own
 */
export async function postOnce<State extends FollowedState>(
  { slack, log, metrics }: Context,
  { read, keep, signal }: FollowedRecord<State>,
  { key, message }: News,
  threadTs: string | undefined,
): Promise<void> {
  const { channel, rootTs, told, telling } = read();
  if (channel === undefined || rootTs === undefined || told.includes(key)) return;
  const clientMsgId = postId(rootTs, channel, key);
  if (telling === key) {
    countWithheld({ log, metrics }, { channel, delivery: clientMsgId });
    return keep({ ...read(), told: [...told, key], telling: undefined });
  }
  await slack.withChannelLock(channel, async (send) => {
    const intend = (): Promise<void> => keep({ ...read(), telling: key });
    let posted: MessageRef;
    try {
      posted = await send({ channel, threadTs, message, clientMsgId, intend }, signal);
    } catch (error) {
      // Slack refused or did not answer while this process lived: the next attempt posts it.
      await keep({ ...read(), telling: undefined });
      throw error;
    }
    const progress = key === PROGRESS ? { progressTs: posted.ts } : {};
    await keep({ ...read(), told: [...told, key], telling: undefined, ...progress });
  });
}
