import type { Job } from '../core/job.ts';
import type { Message, News } from '../core/message.ts';
import { isEditRefused, isSlackFailure } from '../slack/failure.ts';
import type { MessageRef } from '../slack/slack.ts';
import type { Workspace } from '../workspace/workspace.ts';
import { type FollowedState, PROGRESS, postOnce, replyOnce } from './thread-replies.ts';

/** The root message and thread of something that is followed, with the state that its job keeps. */
export interface FollowedThread<State, Shown> {
  readonly state: State;
  save(change: Partial<State>): Promise<void>;
  /**
   * Edits the root message, and the progress reply at the end. Where Slack refuses that, an outcome is posted in the
   * thread or else in the channel.
   */
  show(shown: Shown): Promise<void>;
  /** Shows how long it has taken, in the root message and the progress reply in turn, when that is due. */
  refresh(shown: Shown): Promise<void>;
  /** Posts the reply that is edited from then on. */
  postProgress(shown: Shown): Promise<void>;
  /** Posts news in the thread, each piece at most once, until Slack refuses one. */
  post(news: readonly News[]): Promise<void>;
}

/** What is kept of it. */
export type FollowedJob<State> = Pick<Job<State>, 'data' | 'save'> & { signal?: AbortSignal };

/** How it looks. */
export interface FollowedViews<State, Shown> {
  root(state: State, shown: Shown): Message;
  /** Left out where the thread has no progress reply. */
  progress?: ((state: State, shown: Shown) => Message) | undefined;
}

type Context = Pick<Workspace, 'clock' | 'slack' | 'log' | 'metrics' | 'channels'>;

/** An elapsed time is edited the less often the longer it is, in milliseconds: Slack takes 50 edits a minute. */
const REFRESH_MS = { least: 5_000, most: 20_000 } as const;

function isDue(now: number, shownAt: number, startedAt: number): boolean {
  const pauseMs = Math.min(REFRESH_MS.most, Math.max(REFRESH_MS.least, (now - startedAt) / 2));
  return now - shownAt >= pauseMs;
}

/** A message that is edited; it has no `ref` where it is not shown, or not known. */
interface Edited<State, Shown> {
  ref(): MessageRef | undefined;
  draw(state: State, shown: Shown): Message;
  /** When it was last edited, milliseconds since the epoch. */
  shownAt: number;
}

export function openFollowedThread<State extends FollowedState, Shown extends { kind: string }>(
  context: Context,
  job: FollowedJob<State>,
  views: FollowedViews<State, Shown>,
): FollowedThread<State, Shown> {
  const { clock, slack } = context;
  const { signal } = job;
  let state = job.data;

  async function keep(next: State): Promise<void> {
    state = next;
    await job.save(next);
  }

  const record = { read: () => state, keep, signal };
  const reply = (news: News) => replyOnce(context, record, news);
  const edited = (ts: () => string | undefined, draw: (state: State, shown: Shown) => Message) =>
    ({ ref: () => refOf(state.channel, ts()), draw, shownAt: state.startedAt }) satisfies Edited<
      State,
      Shown
    >;
  const root = edited(() => state.rootTs, views.root);
  const progress = views.progress && edited(() => state.progressTs, views.progress);

  /** @returns the message that Slack refused as an edit, because it must stay as it is */
  async function edit(one: Edited<State, Shown>, shown: Shown): Promise<Message | undefined> {
    one.shownAt = clock.now();
    const ref = one.ref();
    if (ref === undefined) return undefined;
    const message = one.draw(state, shown);
    try {
      await slack.update(ref, message, signal);
      return undefined;
    } catch (error) {
      if (!isEditRefused(error)) throw error;
      logRefused(context, state.channel, error.reason);
      return message;
    }
  }

  /** It must not say that something goes on that has ended; where the reply was deleted, it does not. */
  async function endProgress(shown: Shown): Promise<void> {
    if (progress === undefined) return;
    try {
      const refused = await edit(progress, shown);
      if (refused !== undefined) await reply({ key: `progress:${shown.kind}`, message: refused });
    } catch (error) {
      if (!isSlackFailure(error, 'gone', 'rejected')) throw error;
      logRefused(context, state.channel, error.reason);
    }
  }

  return {
    get state() {
      return state;
    },
    save: (change) => keep({ ...state, ...change }),
    async show(shown) {
      // First, because the root message then has buttons, which may follow it again.
      if (shown.kind !== 'running') await endProgress(shown);
      const message = await edit(root, shown);
      // What is still running is shown again soon; the outcome is not.
      if (message === undefined || shown.kind === 'running') return;
      const news = { key: `outcome:${shown.kind}`, message };
      if (!(await reply(news))) await postOnce(context, record, news, undefined);
    },
    async refresh(shown) {
      const isProgress = progress?.ref() !== undefined && progress.shownAt < root.shownAt;
      const one = isProgress ? progress : root;
      const ref = one.ref();
      if (ref === undefined || !isDue(clock.now(), one.shownAt, state.startedAt)) return;
      try {
        if (await slack.refresh(ref, one.draw(state, shown))) one.shownAt = clock.now();
      } catch (error) {
        if (!isEditRefused(error) && !(isProgress && isSlackFailure(error, 'gone'))) throw error;
        one.shownAt = clock.now();
        logRefused(context, state.channel, error.reason);
      }
    },
    async postProgress(shown) {
      if (progress !== undefined) await reply({ key: PROGRESS, message: progress.draw(state, shown) });
    },
    async post(news) {
      for (const item of news) if (!(await reply(item))) return;
    },
  };
}

function refOf(channel: string | undefined, ts: string | undefined): MessageRef | undefined {
  return channel === undefined || ts === undefined ? undefined : { channel, ts };
}

function logRefused({ log }: Context, channel: string | undefined, reason: string): void {
  log.warn({ event: 'edit_refused', channel, reason }, 'Slack refused an edit');
}
