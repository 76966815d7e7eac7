import { z } from 'zod';
import type { Message, News } from '../core/message.ts';
import type { Job } from '../jobs/jobs.ts';
import { countWithheld } from '../observability/metrics.ts';
import { isEditRefused, isSlackFailure, isThreadRefused } from '../slack/failure.ts';
import { isRefreshDue } from '../slack/rate-limit.ts';
import type { MessageRef } from '../slack/slack.ts';
import { postId } from '../slack/web.ts';
import { maybeTwice } from '../views/blocks/message.ts';
import type { Workspace } from '../workspace/workspace.ts';

type FollowedJob<State> = Pick<Job<State>, 'data' | 'save'> & { signal?: AbortSignal };

export interface FollowedViews<State, Shown> {
  /** Makes the root message. */
  draw: Draw<State, Shown>;
  /** Makes the first reply, which is edited while it runs; left out where there is none. */
  drawProgress?: Draw<State, Shown>;
}

/** @param now milliseconds since the epoch */
type Draw<State, Shown> = (state: State, now: number, shown: Shown) => Message;

type Context = Pick<Workspace, 'clock' | 'slack' | 'log' | 'metrics' | 'channels'>;

/** A message that is edited. */
interface Edited<State, Shown> {
  /** Which part of the state says where it is; nothing does where it is not shown, or not known. */
  ts: 'rootTs' | 'progressTs';
  draw: Draw<State, Shown>;
  /** When it was last edited, milliseconds since the epoch. */
  shownAt: number;
}

/** The root message and thread of something that is followed, with the state that its job keeps. */
export class FollowedThread<State extends FollowedState, Shown extends { kind: string }> {
  readonly #context: Context;
  readonly #save: Job<State>['save'];
  readonly #signal: AbortSignal | undefined;
  readonly #root: Edited<State, Shown>;
  readonly #progress: Edited<State, Shown> | undefined;
  #state: State;

  constructor(
    context: Context,
    { data, save, signal }: FollowedJob<State>,
    { draw, drawProgress }: FollowedViews<State, Shown>,
  ) {
    const { startedAt: shownAt } = data;
    this.#context = context;
    this.#save = save;
    this.#signal = signal;
    this.#root = { ts: 'rootTs', draw, shownAt };
    this.#progress = drawProgress && { ts: 'progressTs', draw: drawProgress, shownAt };
    this.#state = data;
  }

  get state(): State {
    return this.#state;
  }

  save(change: Partial<State>): Promise<void> {
    return this.#keep({ ...this.#state, ...change });
  }

  /**
   * Edits the root message, and the progress reply at the end. Where Slack refuses that, or does not answer, an outcome
   * is posted in the thread, else in the channel, else sent to the one who asked.
   */
  async show(shown: Shown): Promise<void> {
    if (shown.kind === 'running') return void (await this.#edit(this.#root, shown));
    try {
      // First, because the root message then has buttons, which may follow it again.
      await this.#endProgress(shown);
      if ((await this.#edit(this.#root, shown)) === undefined) return;
    } catch (error) {
      if (isSlackFailure(error, 'unreachable')) await this.#tell(shown);
      throw error; // The edit is tried again.
    }
    await this.#tell(shown);
  }

  /** Posts an outcome that the root message does not show. */
  async #tell(shown: Shown): Promise<void> {
    const { clock } = this.#context;
    const news = { key: `outcome:${shown.kind}`, message: this.#root.draw(this.#state, clock.now(), shown) };
    try {
      if (!(await this.#reply(news))) await this.#postOnce(news, undefined);
    } catch (error) {
      await this.#sendToAsker(news, error);
    }
  }

  /** Shows how long it has taken, in the root message and the progress reply in turn, when that is due. */
  async refresh(shown: Shown): Promise<void> {
    const { clock, slack } = this.#context;
    const root = this.#root;
    const progress = this.#state.progressTs === undefined ? undefined : this.#progress;
    const one = progress !== undefined && progress.shownAt < root.shownAt ? progress : root;
    const ref = this.#refOf(one);
    const isTime = isRefreshDue(clock.now(), one.shownAt, this.#state.startedAt);
    if (ref === undefined || !isTime || !slack.mayRefresh(ref.channel)) return;
    try {
      const message = one.draw(this.#state, clock.now(), shown);
      if (await slack.refresh(ref, message)) one.shownAt = clock.now();
    } catch (error) {
      if (!isEditRefused(error) && !(one === progress && isSlackFailure(error, 'gone'))) throw error;
      one.shownAt = clock.now();
      this.#logRefused(error.reason);
    }
  }

  /** Posts the reply that is edited from then on. */
  async postProgress(shown: Shown): Promise<void> {
    const message = this.#progress?.draw(this.#state, this.#context.clock.now(), shown);
    if (message !== undefined) await this.#reply({ key: PROGRESS, message });
  }

  /** Posts news in the thread, each piece at most once, until Slack refuses one. */
  async post(news: readonly News[]): Promise<void> {
    for (const item of news) if (!(await this.#reply(item))) return;
  }

  async #keep(next: State): Promise<void> {
    this.#state = next;
    await this.#save(next);
  }

  #refOf({ ts }: Edited<State, Shown>): MessageRef | undefined {
    const { channel, [ts]: at } = this.#state;
    return channel === undefined || at === undefined ? undefined : { channel, ts: at };
  }

  /** @returns the message that Slack refused as an edit, because it must stay as it is */
  async #edit(one: Edited<State, Shown>, shown: Shown): Promise<Message | undefined> {
    const { clock, slack } = this.#context;
    one.shownAt = clock.now();
    const ref = this.#refOf(one);
    if (ref === undefined) return undefined;
    const message = one.draw(this.#state, one.shownAt, shown);
    try {
      await slack.update(ref, message, this.#signal);
      return undefined;
    } catch (error) {
      if (!isEditRefused(error)) throw error;
      this.#logRefused(error.reason);
      return message;
    }
  }

  /** It must not say that something goes on that has ended; where the reply was deleted, it does not. */
  async #endProgress(shown: Shown): Promise<void> {
    if (this.#progress === undefined) return;
    try {
      const refused = await this.#edit(this.#progress, shown);
      if (refused !== undefined) await this.#reply({ key: `progress:${shown.kind}`, message: refused });
    } catch (error) {
      if (!isSlackFailure(error, 'gone', 'rejected')) throw error;
      this.#logRefused(error.reason);
    }
  }

  /** False where threads are off, or Slack refuses replies there: then they are off from now on. */
  async #reply(news: News): Promise<boolean> {
    const { channel, rootTs, threadTs = rootTs, threads } = this.#state;
    if (!threads || channel === undefined || threadTs === undefined) return false;
    try {
      await this.#postOnce(news, threadTs);
      return true;
    } catch (error) {
      if (!isThreadRefused(error)) throw error;
      const fields = { event: 'threads_refused', channel, reason: error.reason };
      this.#context.log.warn(fields, 'Slack refused a reply: threads are off there');
      await this.#context.channels.turnThreadsOff(channel);
      await this.#keep({ ...this.#state, threads: false });
      return false;
    }
  }

  /**
   * Stores the intent before the post and the fact after it. A process that died in between leaves the intent alone,
   * and then the news counts as posted: Slack cannot be asked without reading the channel's history, the root message
   * shows it anyway, and a reply is never doubled.
   * @param threadTs undefined: as a message of its own
   */
  async #postOnce({ key, message }: News, threadTs: string | undefined): Promise<void> {
    const { channel, rootTs, told, telling, unanswered } = this.#state;
    if (channel === undefined || rootTs === undefined || told.includes(key)) return;
    const clientMsgId = postId(rootTs, channel, key);
    if (telling === key) {
      countWithheld(this.#context, { channel, delivery: clientMsgId });
      return this.#keep({ ...this.#state, told: [...told, key], telling: undefined });
    }
    const post = { channel, threadTs, message, clientMsgId, isRepeat: unanswered === key, again: maybeTwice };
    await this.#context.slack.withChannelLock(channel, async (send) => {
      const intend = (): Promise<void> => this.#keep({ ...this.#state, telling: key });
      const posted = await send({ ...post, intend }, this.#signal).catch(async (error: unknown) => {
        // Slack refused or did not answer while this process lived: the next attempt posts it.
        const mayStand = isSlackFailure(error) && error.mayHavePosted;
        await this.#keep({ ...this.#state, telling: undefined, unanswered: mayStand ? key : undefined });
        throw error;
      });
      const progress = key === PROGRESS ? { progressTs: posted.ts } : {};
      await this.#keep({ ...this.#state, told: [...told, key], telling: undefined, ...progress });
    });
  }

  /** The outcome for the one who asked, where the channel takes nothing more. @throws the error where that is not so */
  async #sendToAsker({ key, message }: News, error: unknown): Promise<void> {
    const { slack, log } = this.#context;
    const { askedBy, resumedBy: user = askedBy } = this.#state;
    if (!isSlackFailure(error, 'forbidden') || user === undefined) throw error;
    log.warn({ event: 'outcome_sent_directly', user, reason: error.reason }, 'Slack refused an outcome');
    await slack.sendDirectMessage(user, message);
    await this.#keep({ ...this.#state, told: [...this.#state.told, key], threads: false });
  }

  #logRefused(reason: string): void {
    const { channel } = this.#state;
    this.#context.log.warn({ event: 'edit_refused', channel, reason }, 'Slack refused an edit');
  }
}

/** The part of a followed job's data that says for whom it is, where it is shown, and what its thread has. */
export const FollowedState = z.object({
  /** Who asked, where a person did, and who had it followed again: then the service is asked with their key. */
  askedBy: z.string().optional(),
  resumedBy: z.string().optional(),
  /** Both undefined where it is shown nowhere. */
  channel: z.string().optional(),
  rootTs: z.string().optional(),
  /** The thread that the root message is a reply in, where it does not begin one. */
  threadTs: z.string().optional(),
  /** The reply that shows the progress, where Slack's answer to it was kept. */
  progressTs: z.string().optional(),
  /** When Deckhand began to follow it, milliseconds since the epoch. */
  startedAt: z.number(),
  /** False where only the root message is edited. */
  threads: z.boolean(),
  /** Keys of the news that the thread has. */
  told: z.array(z.string()),
  /** The news being posted: if the process dies now, Slack may or may not have it. */
  telling: z.string().optional(),
  /** The news whose last post Slack did not answer, so that it may be there. */
  unanswered: z.string().optional(),
});
export type FollowedState = z.infer<typeof FollowedState>;

/** The key of the reply that is edited while it runs. */
const PROGRESS = 'progress';
