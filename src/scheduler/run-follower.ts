import { UserError } from '../core/errors.ts';
import type { Job } from '../core/job.ts';
import type { Message, News } from '../core/message.ts';
import { countWithheld } from '../observability/uncertain-delivery.ts';
import { isSlackFailure } from '../slack/failure.ts';
import { postId } from '../slack/post-journal.ts';
import { AccountFailure } from '../workspace/accounts.ts';
import type { Workspace } from '../workspace/workspace.ts';

/** Jobs of one queue at once: followed runs are mostly asleep. */
export const FOLLOWED_AT_ONCE = 20_000;

/** Something that is followed in a root message and its thread. */
export interface Follower {
  /** Follows to the end, and shows it. */
  follow(): Promise<void>;
  /** Shows why it is no longer followed. */
  stopBecause(error: AccountFailure | UserError): Promise<void>;
  /** Its message is gone. */
  abandon(reason: string): Promise<void>;
}

/** Follows to an end that people see, whatever ends it; where the root message is gone, to a line in the log. */
export async function followToTheEnd(
  { metrics }: Pick<Workspace, 'metrics'>,
  signal: AbortSignal,
  follower: Follower,
): Promise<void> {
  metrics.followed(1);
  try {
    await followOrExplain(follower, signal);
  } catch (error) {
    if (!isSlackFailure(error, 'gone', 'revoked')) throw error;
    await follower.abandon(error.reason);
  } finally {
    metrics.followed(-1);
  }
}

/** The root message has the reason where the service, or what a person did, ends it. */
async function followOrExplain(follower: Follower, signal: AbortSignal): Promise<void> {
  try {
    await follower.follow();
  } catch (error) {
    const isExplained = error instanceof AccountFailure || error instanceof UserError;
    if (!isExplained || signal.aborted) throw error;
    await follower.stopBecause(error);
  }
}

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
  /** Edits the root message. */
  show(shown: Shown): Promise<void>;
  /** Posts news in the thread, each piece at most once. */
  post(news: readonly News[]): Promise<void>;
}

/** @param draw makes the root message */
export function openFollowedThread<State extends FollowedState, Shown>(
  { clock, slack, log, metrics }: Pick<Workspace, 'clock' | 'slack' | 'log' | 'metrics'>,
  job: Job<State>,
  draw: (state: State, shown: Shown) => Message,
): FollowedThread<State, Shown> {
  let state = job.data;
  let shownAt = 0;

  async function keep(next: State): Promise<void> {
    state = next;
    await job.save(next);
  }

  /**
   * Stores the intent before the post and the fact after it. A process that died in between leaves the intent alone,
   * and then the news counts as posted: Slack cannot be asked without reading the channel's history, the root message
   * shows it anyway, and a reply is never doubled.
   */
  async function postOnce({ key, message }: News): Promise<void> {
    const { channel, rootTs: threadTs, told, telling } = state;
    if (channel === undefined || threadTs === undefined || told.includes(key)) return;
    const clientMsgId = postId(threadTs, channel, key);
    if (telling === key) {
      countWithheld({ log, metrics }, { channel, delivery: clientMsgId });
      return keep({ ...state, told: [...told, key], telling: undefined });
    }
    await slack.withChannelLock(channel, async (send) => {
      const intend = (): Promise<void> => keep({ ...state, telling: key });
      try {
        await send({ channel, threadTs, message, clientMsgId, intend }, job.signal);
      } catch (error) {
        // Slack refused or did not answer while this process lived: the next attempt posts it.
        await keep({ ...state, telling: undefined });
        throw error;
      }
      await keep({ ...state, told: [...told, key], telling: undefined });
    });
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
      await slack.update({ channel, ts }, draw(state, shown), job.signal);
    },
    async post(news) {
      if (state.threads) for (const item of news) await postOnce(item);
    },
  };
}
