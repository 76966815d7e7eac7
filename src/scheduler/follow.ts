import { z } from 'zod';
import { refreshMessage, replyToCard, showCard } from '../cards/card.ts';
import { findDelivered } from '../cards/deliver.ts';
import type { Settings } from '../config.ts';
import {
  AccountFailure,
  AccountKeyUnreadable,
  MAY_PASS,
  type ServiceError,
  type ServiceErrorKind,
  type SlackFailure,
  UserError,
} from '../core/errors.ts';
import type { Message, News } from '../core/message.ts';
import { toClause } from '../core/mrkdwn.ts';
import { nextPollMs, type PollState, STEADY } from '../core/retry.ts';
import type { Clock } from '../core/time/clock.ts';
import type { Job } from '../jobs/jobs.ts';
import type { Followed } from '../records/test-runs.ts';
import { isPlaceGone, mayHavePosted, undefinedOnSlackError } from '../slack/failure.ts';
import { retryThroughOutage } from '../slack/rate-limit.ts';
import type { MessageRef } from '../slack/slack.ts';
import type { Collection, WorkspaceStore } from '../store/store.ts';
import { failureWords } from '../views/blocks/failures.ts';
import { troubleWords } from '../views/blocks/service-failures.ts';
import { defineJob, type JobDefinition } from '../workspace/define-job.ts';
import type { Workspace } from '../workspace/workspace.ts';

/** Maximum number of jobs of one queue at once. Followed runs mostly sleep. */
export const FOLLOWED_AT_ONCE = 20_000;

type Draw<State, View> = (workspace: Workspace, state: State, view: View) => Message;

export interface FollowedKind<State extends Followed, View extends { kind: string }> {
  queue: string;
  documents(store: WorkspaceStore): Collection<State>;
  draw: Draw<State, View | Stopped>;
  /** Makes the first reply, which is edited at the end if Slack's rate has room. */
  drawFirst?: Draw<State, View | Stopped>;
  /** Fields for log lines. */
  fields(state: State): Record<string, unknown>;
  follow(following: Following<State, View>): Promise<void>;
  /** Called if following ends early, before the message says so. */
  onStop?(
    workspace: Workspace,
    state: State,
    ending: {
      status: 'stopped' | 'lost';
      reason: string;
      failure?: { kind: ServiceErrorKind; reason: string } | undefined;
    },
  ): Promise<void>;
}

/** Following failed; `reason` is escaped mrkdwn. */
interface Stopped {
  kind: 'stopped';
  reason: string;
}

/** Maximum age of the time that the message shows, in milliseconds. */
const REDRAW_MS = 7_000;
/** Name of the first reply. */
const FIRST = 'progress';
/** Pause between the two attempts to edit it. An edit of the message may have used the room of its channel. */
const FIRST_PAUSE_MS = 1_000;

/** Something that Deckhand follows, in one attempt: its stored state and its card. */
export class Following<State extends Followed, View extends { kind: string }> {
  readonly workspace: Workspace;
  readonly signal: AbortSignal;
  /** True if an earlier attempt may have made a request whose answer was lost. */
  readonly isRepeat: boolean;
  readonly #kind: FollowedKind<State, View>;
  readonly #id: string;
  /** Names of the replies of this attempt. Every poll passes all news again. */
  readonly #replied = new Set<string>();
  /** More than 1 if Slack may have a post of an earlier attempt, or of this one, whose answer was lost. */
  #attempt: number;
  #state: State;
  #drawnAt: number;

  constructor(
    workspace: Workspace,
    kind: FollowedKind<State, View>,
    document: { id: string; state: State },
    { signal = new AbortController().signal, attempt = 1 }: Partial<Job<Pointer>>,
  ) {
    this.workspace = workspace;
    this.signal = signal;
    this.isRepeat = attempt > 1;
    this.#attempt = attempt;
    this.#kind = kind;
    this.#id = document.id;
    this.#state = document.state;
    this.#drawnAt = document.state.startedAt;
  }

  get state(): State {
    return this.#state;
  }

  /** Notes a failure of Slack, after which the work starts again. */
  noteFailure(failure: SlackFailure): void {
    if (mayHavePosted(failure)) this.#attempt += 1;
  }

  async save(change: Partial<State>): Promise<void> {
    this.#state = { ...this.#state, ...change };
    const documents = this.#kind.documents(this.workspace.store);
    await documents.update(this.#id, (current) => current && { ...current, ...change });
  }

  markShown(): Promise<void> {
    const change: Partial<Followed> = { shownAt: this.workspace.clock.now() };
    return this.save(change as Partial<State>);
  }

  /**
   * Shows news as soon as Slack's rate has room, otherwise the time taken, at intervals.
   * @throws SlackFailure if the message or its channel is gone
   */
  async showRunning(view: View, isNews = false): Promise<void> {
    const { clock } = this.workspace;
    if (isNews) this.#drawnAt = 0;
    const { channel, rootTs: ts } = this.#state;
    if (channel === undefined || !ts || clock.now() - this.#drawnAt < REDRAW_MS) return;
    const draw = (): Message => this.#kind.draw(this.workspace, this.#state, view);
    if (await refreshMessage(this.workspace, { channel, ts }, draw)) this.#drawnAt = clock.now();
  }

  /** Posts the first reply. */
  async replyFirst(view: View): Promise<void> {
    const { drawFirst } = this.#kind;
    if (drawFirst === undefined) return;
    await this.reply([{ key: FIRST, message: drawFirst(this.workspace, this.#state, view) }]);
  }

  /**
   * Posts each piece of news in the thread once.
   * @throws SlackFailure if the message or its channel is gone
   */
  async reply(news: readonly News[]): Promise<void> {
    const { channel, rootTs: ts, threads } = this.#state;
    const latest = news.filter(({ key }) => !this.#replied.has(key));
    if (channel === undefined || !ts || !threads || latest.length === 0) return;
    const replies = latest.map(({ key, message }) => [key, message] as const);
    await replyToCard(this.workspace, this.#card({ channel, ts }), replies);
    for (const { key } of latest) this.#replied.add(key);
  }

  /**
   * Shows the end in the message and its thread. If Slack does not take the edit, the end goes elsewhere.
   * @throws SlackFailure if the message is gone, or Slack may accept the edit later
   */
  async showEnd(view: View | Stopped, news: readonly News[] = []): Promise<void> {
    const { channel, rootTs: ts, requestedBy, resumedBy: person = requestedBy } = this.#state;
    if (channel === undefined || ts === undefined) return;
    const root = this.#kind.draw(this.workspace, this.#state, view);
    const cause = `outcome:${view.kind}`;
    const ref = { channel, ts };
    await showCard(this.workspace, { ...this.#card(ref), root, cause, ifRefused: 'tell', person });
    await this.reply(news);
    await this.#endFirst(view, ref);
  }

  /** Tries twice, and does not wait for room: the message shows the end, and the first reply names no state. */
  async #endFirst(view: View | Stopped, { channel, ts: rootTs }: MessageRef): Promise<void> {
    const { drawFirst } = this.#kind;
    const ts = drawFirst && (await findDelivered(this.workspace, `${rootTs} ${FIRST}`));
    if (!ts) return;
    const draw = (): Message => drawFirst(this.workspace, this.#state, view);
    const refresh = () => undefinedOnSlackError(refreshMessage(this.workspace, { channel, ts }, draw));
    if ((await refresh()) !== false) return;
    await this.workspace.clock.sleep(FIRST_PAUSE_MS, this.signal);
    await refresh();
  }

  #card(ref: MessageRef) {
    const { threadTs } = this.#state;
    const { channel } = ref;
    return { id: this.#id, channel, threadTs, ref, attempt: this.#attempt, signal: this.signal };
  }
}

/** Id of the document that holds the state. */
export const Pointer = z.object({ id: z.string() });
type Pointer = z.infer<typeof Pointer>;

/** Follows something to its end, and shows the end in Slack. If the root message is gone, it only logs the end. */
export class Follower<State extends Followed, View extends { kind: string }> {
  readonly job: JobDefinition<Pointer>;
  readonly #kind: FollowedKind<State, View>;

  constructor(kind: FollowedKind<State, View>) {
    this.#kind = kind;
    this.job = defineJob({
      queue: kind.queue,
      schema: Pointer,
      options: { concurrency: FOLLOWED_AT_ONCE, attempts: 5, backoffMs: 1000, isSleeper: true },
      handle: (workspace, job) => this.#handle(workspace, job),
      onDeadLetter: (workspace, data, error) => this.#endDead(workspace, data, error),
    });
  }

  /**
   * Starts to follow a stored document.
   * @param key the same for a repeat of the request, so that Deckhand follows it once
   */
  async begin({ jobs }: Pick<Workspace, 'jobs'>, id: string, key: string): Promise<void> {
    await jobs.send(this.job, { id }, { key });
  }

  /** Returns undefined if nothing is left to do. */
  async #open(
    workspace: Workspace,
    { id }: Pointer,
    job: Partial<Job<Pointer>> = {},
  ): Promise<Following<State, View> | undefined> {
    const state = await this.#kind.documents(workspace.store).get(id);
    if (state === undefined || state.shownAt !== undefined) return undefined;
    return new Following(workspace, this.#kind, { id, state }, job);
  }

  async #handle(workspace: Workspace, job: Job<Pointer>): Promise<void> {
    const following = await this.#open(workspace, job.data, job);
    if (following === undefined) return;
    const { clock, config, metrics } = workspace;
    const { signal } = job;
    const work = (): Promise<void> =>
      this.#kind.follow(following).catch((error: unknown) => this.#endEarly(following, error));
    const end = metrics.follow(clock.now() + config.FOLLOW_TIMEOUT_MINUTES * 60_000);
    try {
      await retryThroughOutage({ clock, signal }, work, (error) => {
        this.#report(following, error);
        following.noteFailure(error);
      });
    } finally {
      end();
    }
    await following.markShown();
  }

  /** @throws failures that another attempt may change */
  async #endEarly(following: Following<State, View>, failure: unknown): Promise<void> {
    try {
      if (isPlaceGone(failure) || !isExplained(failure) || following.signal.aborted) throw failure;
      await this.#stop(following, failure);
    } catch (error) {
      if (!isPlaceGone(error)) throw error;
      const { workspace, state } = following;
      await this.#kind.onStop?.(workspace, state, { status: 'lost', reason: MESSAGE_GONE });
      const fields = { event: 'follow_abandoned', ...this.#kind.fields(state), reason: error.reason };
      workspace.log.warn(fields, 'Followed message not found');
    }
  }

  /** After this, the root message no longer says that it goes on. */
  async #stop(following: Following<State, View>, error: unknown): Promise<void> {
    const { workspace, state } = following;
    const reason = this.#report(following, error);
    const failure =
      error instanceof AccountFailure
        ? { kind: error.cause.kind, reason: toClause(workspace.explain(error).text) }
        : undefined;
    await this.#kind.onStop?.(workspace, state, { status: 'stopped', reason, failure });
    const fields = { event: 'follow_ended', ...this.#kind.fields(state), status: 'stopped' };
    workspace.log.info(fields, 'Following ended early');
    await following.showEnd({ kind: 'stopped', reason });
  }

  async #endDead(workspace: Workspace, data: Pointer, error: unknown): Promise<void> {
    const following = await this.#open(workspace, data);
    if (following === undefined) return;
    await this.#stop(following, error);
    await following.markShown();
  }

  /** @returns the reason that people read */
  #report({ workspace, state }: Following<State, View>, error: unknown): string {
    const { queue, fields } = this.#kind;
    return failureWords(workspace.report(error, { job: queue, ...fields(state) }));
  }
}

const MESSAGE_GONE = 'The message that showed it is gone, so Deckhand no longer follows it.';

/** True if the service or a person caused the error. Following then ends, and the reason is shown. */
export function isExplained(error: unknown): boolean {
  return [AccountFailure, AccountKeyUnreadable, UserError].some((kind) => error instanceof kind);
}

/** Poll settings. The deadline starts over in each process. */
export function createPolls(
  { workspace, signal }: { workspace: Pick<Workspace, 'clock' | 'config'>; signal: AbortSignal },
  onTrouble: (words: string) => Promise<void>,
): PollLoop {
  const { clock, config } = workspace;
  return { signal, onTrouble, deadline: clock.now() + config.FOLLOW_TIMEOUT_MINUTES * 60_000 };
}

export interface PollLoop {
  signal: AbortSignal;
  /** Time of the last poll, milliseconds since the epoch. */
  deadline: number;
  /** True to make the first call at once, without a pause. */
  startsNow?: boolean;
  /** True if a failure may pass by itself. Default: a 5xx, a time-out, bad JSON and a busy service. */
  mayPass?(cause: ServiceError): boolean;
  /** Called if the service failed twice in a row or asks for a long pause. `words` is mrkdwn. */
  onTrouble?(words: string): Promise<void>;
}

interface Parts {
  clock: Clock;
  config: Pick<Settings, 'POLL_INTERVAL_MS'>;
}

/** People are told about pauses of this length or more. */
const LONG_PAUSE_MS = 5_000;

/**
 * Polls the service until `poll` returns something. It polls less often after failures, and never before the
 * time that the service asks for. p-retry would not do: it uses real time, and tests move this clock.
 * @param poll gets true after failures
 * @returns undefined after the deadline
 * @throws failures that waiting will not change, e.g. a 401, 403 or 404
 */
export async function pollUntil<T>(
  { clock, config: { POLL_INTERVAL_MS: intervalMs } }: Parts,
  loop: PollLoop,
  poll: (recovered: boolean) => Promise<T | undefined>,
): Promise<T | undefined> {
  const { signal, deadline } = loop;
  // The same for each pause, so that thousands of loops stay spread out.
  const random = Math.random();
  let state = STEADY;
  let startsNow = loop.startsNow === true;
  for (;;) {
    const now = clock.now();
    const pauseMs = nextPollMs({ intervalMs, ...state, now, random });
    if (!startsNow) await clock.sleep(Math.max(0, Math.min(pauseMs, deadline - now)), signal);
    startsNow = false;
    // One poll after the deadline too, because the work may have ended while Deckhand was down.
    const isInTime = clock.now() < deadline;
    try {
      const outcome = await poll(state !== STEADY);
      if (outcome !== undefined) return outcome;
      state = STEADY;
    } catch (error) {
      state = await pauseAfterFailure(error, state, loop, clock.now());
    }
    if (!isInTime) return undefined;
  }
}

/** @throws the failure if waiting will not change it */
async function pauseAfterFailure(
  error: unknown,
  { failures: before }: PollState,
  { signal, mayPass = ({ kind }) => MAY_PASS.has(kind), onTrouble }: PollLoop,
  now: number,
): Promise<PollState> {
  if (!(error instanceof AccountFailure) || signal.aborted || !mayPass(error.cause)) throw error;
  const failures = before + 1;
  const { retryAt } = error.cause;
  const isLong = (retryAt ?? 0) - now > LONG_PAUSE_MS;
  if (failures === 2 || (failures === 1 && isLong)) await onTrouble?.(troubleWords(error.cause));
  return { failures, retryAt };
}
