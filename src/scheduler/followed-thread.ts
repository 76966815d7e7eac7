import type { SlackFailure } from '../core/errors.ts';
import type { Message, News } from '../core/message.ts';
import type { Followed } from '../records/test-runs.ts';
import {
  isMessageGone,
  isPlaceGone,
  isRefusal,
  isSlackFailure,
  isThreadGone,
  mayHavePosted,
} from '../slack/failure.ts';
import type { MessageRef } from '../slack/slack.ts';
import type { Workspace } from '../workspace/workspace.ts';
import { deliver, findDelivered, sendReply } from './deliver.ts';

type Draw<State, View> = (workspace: Workspace, state: State, view: View) => Message;

export interface FollowedViews<State, View> {
  draw: Draw<State, View>;
  /** Makes the first reply, which is edited during the run. Optional. */
  drawProgress?: Draw<State, View>;
}

interface FollowedThreadOptions<State> {
  save(change: Partial<State>): Promise<void>;
  signal?: AbortSignal | undefined;
  /** True if an earlier attempt may have posted something whose answer was lost. */
  possibleDuplicate: boolean;
}

/** Key of the reply that is edited during the run. */
const PROGRESS = 'progress';
/** Maximum age of the time that the root message and its first reply show, in milliseconds. */
const REDRAW_MS = { root: 7_000, progress: 15_000 };
/** Maximum pause between attempts to edit the first reply at the end, while Slack's rate limit leaves no room. */
const MAX_ROOM_PAUSE_MS = 10_000;

/** The root message and thread of something that Deckhand follows, with its stored state. */
export class FollowedThread<State extends Followed, View extends { kind: string }> {
  readonly #workspace: Workspace;
  readonly #views: FollowedViews<State, View>;
  readonly #options: FollowedThreadOptions<State>;
  readonly #drawnAt: { root: number; progress: number };
  /** The `ts` of each message that this attempt has posted or found, by key. */
  readonly #posted = new Map<string, string>();
  #state: State;
  #possibleDuplicate: boolean;

  constructor(
    workspace: Workspace,
    views: FollowedViews<State, View>,
    state: State,
    options: FollowedThreadOptions<State>,
  ) {
    this.#workspace = workspace;
    this.#views = views;
    this.#state = state;
    this.#options = options;
    this.#possibleDuplicate = options.possibleDuplicate;
    this.#drawnAt = { root: state.startedAt, progress: state.startedAt };
  }

  get state(): State {
    return this.#state;
  }

  save(change: Partial<State>): Promise<void> {
    this.#state = { ...this.#state, ...change };
    return this.#options.save(change);
  }

  saveShown(): Promise<void> {
    return this.#change({ shownAt: this.#workspace.clock.now() });
  }

  /**
   * Shows the end in the root message. If Slack rejects the edit or does not answer, the end goes into the thread, else
   * into a new message, else to the person who asked.
   * @throws SlackFailure if the root message is gone, or Slack may accept the edit later
   */
  async showEnd(view: View): Promise<void> {
    const { channel, rootTs: ts } = this.#state;
    if (channel === undefined || ts === undefined) return;
    const end: News = { key: `outcome:${view.kind}`, message: this.#draw('root', view) };
    // Slack had the root message already, but did not return its `ts`.
    if (ts === '') return this.#sayElsewhere(end, channel);
    try {
      await this.#workspace.slack.update({ channel, ts }, end.message, this.#options.signal);
    } catch (error) {
      if (!isSlackFailure(error) || isMessageGone(error)) throw error;
      this.#logRefused(error);
      // If Slack does not answer, Deckhand retries the edit. It posts the end at once, so that nobody waits.
      const isForGood: boolean = isRefusal(error);
      if (isForGood || isSlackFailure(error, 'unreachable')) await this.#sayElsewhere(end, channel);
      if (!isForGood) throw error;
    }
  }

  /** Ends the progress reply. It may wait for Slack's rate limit, because the root message already shows the end. */
  async endProgress(view: View): Promise<void> {
    const { clock, slack } = this.#workspace;
    await this.#findPosted(PROGRESS);
    const ref = this.#refOf(PROGRESS);
    if (ref === undefined) return;
    try {
      for (let pauseMs = 1_000; !(await slack.refresh(ref, this.#draw(PROGRESS, view))); pauseMs *= 2)
        await clock.sleep(Math.min(pauseMs, MAX_ROOM_PAUSE_MS), this.#options.signal);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      this.#logRefused(error);
      // The reply still shows progress, so the end must follow it, unless the reply was deleted or the end was posted before.
      const isSaid = isMessageGone(error) || (await this.#findPosted(`outcome:${view.kind}`)) !== undefined;
      const end = { key: `${PROGRESS}:${view.kind}`, message: this.#draw(PROGRESS, view) };
      if (!isSaid) await this.post([end]);
    }
  }

  /**
   * Shows the progress: news as soon as Slack's rate limit allows, otherwise the time taken, at intervals.
   * Skips an edit that Slack rejects.
   * @throws SlackFailure if the root message or its channel is gone
   */
  async showRunning(view: View, isNews = false): Promise<void> {
    if (isNews) this.#drawnAt.root = 0;
    if (await this.#redraw('root', view)) return;
    await this.#redraw(PROGRESS, view);
  }

  /** Posts the progress reply. */
  async postProgress(view: View): Promise<void> {
    if (this.#views.drawProgress !== undefined)
      await this.post([{ key: PROGRESS, message: this.#draw(PROGRESS, view) }]);
  }

  /**
   * Posts each piece of news in the thread once, until Slack rejects replies there. Skips a single reply that
   * Slack rejects.
   */
  async post(news: readonly News[]): Promise<void> {
    for (const item of news) {
      try {
        if (!(await this.#reply(item))) return;
      } catch (error) {
        if (!isRefusal(error) || isPlaceGone(error)) throw error;
        this.#logRefused(error);
      }
    }
  }

  /** @returns false if threads are off, or Slack rejects replies there, which switches them off */
  async #reply(news: News): Promise<boolean> {
    const { channel, rootTs, threadTs = rootTs, threads } = this.#state;
    if (!threads || channel === undefined || !threadTs) return false;
    // Every poll passes all news again. Only after an earlier attempt may the store hold some of them.
    const isPosted = this.#possibleDuplicate ? this.#findPosted(news.key) : this.#posted.get(news.key);
    if ((await isPosted) !== undefined) return true;
    const send = (): Promise<MessageRef> => this.#post(news, channel, threadTs);
    const isTaken = await sendReply(this.#workspace, channel, send);
    if (!isTaken) await this.#change({ threads: false });
    return isTaken;
  }

  /** Shows the end elsewhere if the root message cannot. */
  async #sayElsewhere(end: News, channel: string): Promise<void> {
    if ((await this.#findPosted(end.key)) !== undefined) return;
    const { slack, log } = this.#workspace;
    const { requestedBy, resumedBy: user = requestedBy } = this.#state;
    const destinations = [
      () => this.#reply(end),
      () => this.#post(end, channel),
      async () => {
        if (user === undefined) return false;
        log.warn({ event: 'outcome_sent_directly', user }, 'Outcome sent by direct message');
        return this.#post(end, await slack.openDirect(user));
      },
    ];
    for (const say of destinations) {
      try {
        if (await say()) return;
      } catch (error) {
        if (!isRefusal(error) || isThreadGone(error)) throw error;
        this.#logRefused(error);
      }
    }
  }

  /**
   * Only the first post of an attempt may be a duplicate: each waits for the answer to the one before. A post
   * whose answer was lost may be in Slack already when it is repeated.
   */
  async #post({ key, message }: News, channel: string, threadTs?: string): Promise<MessageRef> {
    const possibleDuplicate = this.#possibleDuplicate;
    this.#possibleDuplicate = false;
    const id = this.#deliveryId(key);
    const { signal } = this.#options;
    try {
      const ref = await deliver(this.#workspace, {
        id,
        channel,
        threadTs,
        message,
        possibleDuplicate,
        signal,
      });
      this.#posted.set(key, ref.ts);
      return ref;
    } catch (error) {
      if (isSlackFailure(error)) this.#possibleDuplicate = mayHavePosted(error);
      throw error;
    }
  }

  #change(change: Partial<Followed>): Promise<void> {
    return this.save(change as Partial<State>);
  }

  #deliveryId(key: string): string {
    return `${this.#state.rootTs} ${key}`;
  }

  /** The `ts` of a reply of this or an earlier attempt. */
  async #findPosted(key: string): Promise<string | undefined> {
    const ts = this.#posted.get(key) ?? (await findDelivered(this.#workspace, this.#deliveryId(key)));
    if (ts !== undefined) this.#posted.set(key, ts);
    return ts;
  }

  /** @returns true if Slack shows it */
  async #redraw(one: 'root' | typeof PROGRESS, view: View): Promise<boolean> {
    const { clock, slack } = this.#workspace;
    const ref = this.#refOf(one);
    const isDue = clock.now() - this.#drawnAt[one] >= REDRAW_MS[one];
    if (ref === undefined || !isDue || !slack.mayRefresh(ref.channel)) return false;
    try {
      if (!(await slack.refresh(ref, this.#draw(one, view)))) return false;
    } catch (error) {
      if (!isRefusal(error) || (one === 'root' && isPlaceGone(error))) throw error;
      this.#logRefused(error);
    }
    this.#drawnAt[one] = clock.now();
    return true;
  }

  #draw(one: 'root' | typeof PROGRESS, view: View): Message {
    const { draw, drawProgress = draw } = this.#views;
    return (one === 'root' ? draw : drawProgress)(this.#workspace, this.#state, view);
  }

  #refOf(one: 'root' | typeof PROGRESS): MessageRef | undefined {
    const { channel, rootTs } = this.#state;
    const ts = one === 'root' ? rootTs : this.#posted.get(PROGRESS);
    return channel === undefined || !ts ? undefined : { channel, ts };
  }

  #logRefused({ method, reason }: SlackFailure): void {
    const { channel } = this.#state;
    this.#workspace.log.warn(
      { event: 'message_refused', channel, method, reason },
      'Slack refused a message',
    );
  }
}
