import type { z } from 'zod';
import { UserError } from '../core/errors.ts';
import type { Job } from '../core/job.ts';
import type { Message, News } from '../core/message.ts';
import { countWithheld } from '../observability/uncertain-delivery.ts';
import { isSlackFailure } from '../slack/failure.ts';
import { postId } from '../slack/post-journal.ts';
import { failureWords } from '../views/blocks/failures.ts';
import { AccountFailure } from '../workspace/accounts.ts';
import { defineJob, type JobDefinition } from '../workspace/define-job.ts';
import type { Workspace } from '../workspace/workspace.ts';
import { createPolling, type Polling } from './polling.ts';

/** Jobs of one queue at once: followed runs are mostly asleep. */
export const FOLLOWED_AT_ONCE = 20_000;

/** Something at the service that is followed in a root message and its thread. */
export interface FollowedKind<State, Shown> {
  queue: string;
  schema: z.ZodType<State>;
  /** Makes the root message. */
  draw(state: State, now: number, shown: Shown | Stopped): Message;
  /** What the log says of it. */
  fields(state: State): Record<string, unknown>;
  /** Follows to the end, and shows it. */
  follow(following: Following<State, Shown>): Promise<void>;
  /** Called where it is no longer followed, before that is shown. */
  onStop?(
    workspace: Workspace,
    state: State,
    ending: { status: 'stopped' | 'lost'; reason: string },
  ): Promise<void>;
}

/** It could not be followed; `reason` is mrkdwn, escaped. */
interface Stopped {
  kind: 'stopped';
  reason: string;
}

export interface Following<State, Shown> {
  workspace: Workspace;
  thread: FollowedThread<State, Shown | Stopped>;
  signal: AbortSignal;
}

/** Follows to an end that people see, whatever ends it; where the root message is gone, to a line in the log. */
export function defineFollowJob<State extends FollowedState, Shown>(
  kind: FollowedKind<State, Shown>,
): JobDefinition<State> {
  const { queue, schema } = kind;

  function reasonOf(workspace: Workspace, state: State, error: unknown): string {
    return failureWords(workspace.report(error, { job: queue, ...kind.fields(state) }));
  }

  /** The root message has the reason where the service, or what a person did, ends it. */
  async function followOrExplain(following: Following<State, Shown>): Promise<void> {
    const { workspace, thread, signal } = following;
    try {
      await kind.follow(following);
    } catch (error) {
      const isExplained = error instanceof AccountFailure || error instanceof UserError;
      if (!isExplained || signal.aborted) throw error;
      const reason = reasonOf(workspace, thread.state, error);
      await kind.onStop?.(workspace, thread.state, { status: 'stopped', reason });
      const event = 'follow_ended';
      workspace.log.info({ event, ...kind.fields(thread.state), status: 'stopped' }, 'following ended early');
      await thread.show({ kind: 'stopped', reason });
    }
  }

  async function run(workspace: Workspace, job: Job<State>): Promise<void> {
    const { clock, metrics, log } = workspace;
    const thread = openFollowedThread(workspace, job, (state: State, shown: Shown | Stopped) =>
      kind.draw(state, clock.now(), shown),
    );
    metrics.followed(1);
    try {
      await followOrExplain({ workspace, thread, signal: job.signal });
    } catch (error) {
      if (!isSlackFailure(error, 'gone', 'revoked')) throw error;
      await kind.onStop?.(workspace, thread.state, { status: 'lost', reason: MESSAGE_GONE });
      const event = 'follow_abandoned';
      log.warn({ event, ...kind.fields(thread.state), reason: error.reason }, 'a followed message is gone');
    } finally {
      metrics.followed(-1);
    }
  }

  /** The root message must not say that it goes on from then on. */
  async function onDeadLetter(workspace: Workspace, state: State, error: unknown): Promise<void> {
    const { channel, rootTs: ts } = state;
    const reason = reasonOf(workspace, state, error);
    await kind.onStop?.(workspace, state, { status: 'stopped', reason });
    if (channel === undefined || ts === undefined) return;
    const message = kind.draw(state, workspace.clock.now(), { kind: 'stopped', reason });
    await workspace.slack.update({ channel, ts }, message);
  }

  const options = { concurrency: FOLLOWED_AT_ONCE, attempts: 5, backoffMs: 1000, resumable: true };
  return defineJob({ queue, schema, options, run, onDeadLetter });
}

const MESSAGE_GONE = 'The message that showed it is gone, so Deckhand no longer follows it.';

/** Polls for as long as one thing is followed. */
export function pollWhileFollowed(
  { workspace, signal }: Pick<Following<unknown, unknown>, 'workspace' | 'signal'>,
  onTrouble: (words: string) => Promise<void>,
): Polling {
  const { clock, config } = workspace;
  // Each process counts anew: the clock of the one before may have been another.
  const deadline = clock.now() + config.FOLLOW_TIMEOUT_MINUTES * 60_000;
  return createPolling(workspace, { signal, deadline, onTrouble });
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
function openFollowedThread<State extends FollowedState, Shown>(
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
