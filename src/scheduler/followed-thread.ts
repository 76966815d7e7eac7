import type { Message, News } from '../core/message.ts';
import type { Job } from '../jobs/jobs.ts';
import { countWithheld } from '../observability/metrics.ts';
import { isEditRefused, isSlackFailure, isThreadRefused } from '../slack/failure.ts';
import type { MessageRef } from '../slack/slack.ts';
import { postId } from '../slack/web.ts';
import type { Workspace } from '../workspace/workspace.ts';
import { type AskedState, sendToAsker } from './send-to-asker.ts';

/** The root message and thread of something that is followed, with the state that its job keeps. */
export interface FollowedThread<State, Shown> {
  readonly state: State;
  save(change: Partial<State>): Promise<void>;
  /**
   * Edits the root message, and the progress reply at the end. Where Slack refuses that, an outcome is posted in the
   * thread, else in the channel, else sent to the one who asked.
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
type FollowedJob<State> = Pick<Job<State>, 'data' | 'save'> & { signal?: AbortSignal };

/** How it looks. */
export interface FollowedViews<State, Shown> {
  /** Makes the root message. */
  draw: Draw<State, Shown>;
  /** Makes the first reply, which is edited while it runs; left out where there is none. */
  drawProgress?: Draw<State, Shown>;
}

/** @param now milliseconds since the epoch */
type Draw<State, Shown> = (state: State, now: number, shown: Shown) => Message;

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
  draw: Draw<State, Shown>;
  /** When it was last edited, milliseconds since the epoch. */
  shownAt: number;
}

export function openFollowedThread<State extends FollowedState, Shown extends { kind: string }>(
  context: Context,
  job: FollowedJob<State>,
  { draw, drawProgress }: FollowedViews<State, Shown>,
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
  const { startedAt: shownAt } = state;
  const root: Edited<State, Shown> = { ref: () => refOf(state.channel, state.rootTs), draw, shownAt };
  const progress: Edited<State, Shown> | undefined = drawProgress && {
    ref: () => refOf(state.channel, state.progressTs),
    draw: drawProgress,
    shownAt,
  };

  /** @returns the message that Slack refused as an edit, because it must stay as it is */
  async function edit(one: Edited<State, Shown>, shown: Shown): Promise<Message | undefined> {
    one.shownAt = clock.now();
    const ref = one.ref();
    if (ref === undefined) return undefined;
    const message = one.draw(state, one.shownAt, shown);
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
      try {
        if (!(await reply(news))) await postOnce(context, record, news, undefined);
      } catch (error) {
        await sendToAsker(context, record, news, error);
      }
    },
    async refresh(shown) {
      const isProgress = progress?.ref() !== undefined && progress.shownAt < root.shownAt;
      const one = isProgress ? progress : root;
      const ref = one.ref();
      const isTime = isDue(clock.now(), one.shownAt, state.startedAt);
      if (ref === undefined || !isTime || !slack.mayRefresh(ref.channel)) return;
      try {
        if (await slack.refresh(ref, one.draw(state, clock.now(), shown))) one.shownAt = clock.now();
      } catch (error) {
        if (!isEditRefused(error) && !(isProgress && isSlackFailure(error, 'gone'))) throw error;
        one.shownAt = clock.now();
        logRefused(context, state.channel, error.reason);
      }
    },
    async postProgress(shown) {
      if (progress !== undefined)
        await reply({ key: PROGRESS, message: progress.draw(state, clock.now(), shown) });
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

/** The part of a followed job's data that says where it is shown, and what its thread has. */
export interface FollowedState extends AskedState {
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
interface FollowedRecord<State> {
  read(): State;
  keep(state: State): Promise<void>;
  signal: AbortSignal | undefined;
}

/** The key of the reply that is edited while it runs. */
const PROGRESS = 'progress';

type ReplyContext = Pick<Workspace, 'slack' | 'log' | 'metrics' | 'channels'>;

/** False where threads are off, or Slack refuses replies there: then they are off from now on. */
async function replyOnce<State extends FollowedState>(
  context: ReplyContext,
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
  { slack, log, metrics }: ReplyContext,
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
