import type { Job } from '../core/job.ts';
import type { Message, News } from '../core/message.ts';
import { countWithheld } from '../observability/uncertain-delivery.ts';
import { isEditRefused, isThreadRefused } from '../slack/failure.ts';
import { postId } from '../slack/post-journal.ts';
import type { Workspace } from '../workspace/workspace.ts';

/** The part of a followed job's data that says where it is shown, and what its thread has. */
export interface FollowedState {
  /** Both undefined where it is shown nowhere. */
  channel?: string | undefined;
  rootTs?: string | undefined;
  /** False where only the root message is edited. */
  threads: boolean;
  /** Keys of the news that the thread has. */
  told: string[];
  /** The news being posted: if the process dies now, Slack may or may not have it. */
  telling?: string | undefined;
}

/** The root message and thread of something that is followed, with the state that its job keeps. */
export interface FollowedThread<State, Shown> {
  readonly state: State;
  /** When the root message was last edited, milliseconds since the epoch; 0 before. */
  readonly shownAt: number;
  save(change: Partial<State>): Promise<void>;
  /** Edits the root message. Where Slack refuses that, an outcome is posted in the thread or else in the channel. */
  show(shown: Shown): Promise<void>;
  /** Posts news in the thread, each piece at most once, until Slack refuses one. */
  post(news: readonly News[]): Promise<void>;
}

/** What is kept of it. */
export type FollowedJob<State> = Pick<Job<State>, 'data' | 'save'> & { signal?: AbortSignal };

type Context = Pick<Workspace, 'clock' | 'slack' | 'log' | 'metrics' | 'channels'>;

/** @param draw makes the root message */
export function openFollowedThread<State extends FollowedState, Shown extends { kind: string }>(
  context: Context,
  job: FollowedJob<State>,
  draw: (state: State, shown: Shown) => Message,
): FollowedThread<State, Shown> {
  const { clock, slack, log, channels } = context;
  let state = job.data;
  let shownAt = 0;

  async function keep(next: State): Promise<void> {
    state = next;
    await job.save(next);
  }

  const record = { read: () => state, keep, signal: job.signal };

  /** False where threads are off, or Slack refuses replies there: then they are off from now on. */
  async function reply(news: News): Promise<boolean> {
    const { channel, rootTs, threads } = state;
    if (!threads || channel === undefined || rootTs === undefined) return false;
    try {
      await postOnce(context, record, news, rootTs);
      return true;
    } catch (error) {
      if (!isThreadRefused(error)) throw error;
      const { reason } = error;
      log.warn({ event: 'threads_refused', channel, reason }, 'Slack refused a reply: threads are off there');
      await channels.turnThreadsOff(channel);
      await keep({ ...state, threads: false });
      return false;
    }
  }

  return {
    get state() {
      return state;
    },
    get shownAt() {
      return shownAt;
    },
    save: (change) => keep({ ...state, ...change }),
    async show(shown) {
      shownAt = clock.now();
      const { channel, rootTs: ts } = state;
      if (channel === undefined || ts === undefined) return;
      const message = draw(state, shown);
      try {
        await slack.update({ channel, ts }, message, job.signal);
      } catch (error) {
        if (!isEditRefused(error)) throw error;
        log.warn({ event: 'edit_refused', channel, reason: error.reason }, 'Slack refused an edit');
        // What is still running is shown again soon; the outcome is not.
        if (shown.kind === 'running') return;
        const news = { key: `outcome:${shown.kind}`, message };
        if (!(await reply(news))) await postOnce(context, record, news, undefined);
      }
    },
    async post(news) {
      for (const item of news) if (!(await reply(item))) return;
    },
  };
}

interface FollowedRecord<State> {
  read(): State;
  keep(state: State): Promise<void>;
  signal: AbortSignal | undefined;
}

/**
 * Stores the intent before the post and the fact after it. A process that died in between leaves the intent alone,
 * and then the news counts as posted: Slack cannot be asked without reading the channel's history, the root message
 * shows it anyway, and a reply is never doubled.
 * @param threadTs undefined: as a message of its own
 */
async function postOnce<State extends FollowedState>(
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
    try {
      await send({ channel, threadTs, message, clientMsgId, intend }, signal);
    } catch (error) {
      // Slack refused or did not answer while this process lived: the next attempt posts it.
      await keep({ ...read(), telling: undefined });
      throw error;
    }
    await keep({ ...read(), told: [...told, key], telling: undefined });
  });
}
