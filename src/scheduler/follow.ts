import { z } from 'zod';
import type { Settings } from '../config.ts';
import {
  AccountFailure,
  AccountKeyUnreadable,
  MAY_PASS,
  type ServiceError,
  type ServiceErrorKind,
  UserError,
} from '../core/errors.ts';
import { toClause } from '../core/mrkdwn.ts';
import { nextPollMs, type PollState, STEADY } from '../core/retry.ts';
import type { Clock } from '../core/time/clock.ts';
import type { Job } from '../jobs/jobs.ts';
import type { Followed } from '../records/test-runs.ts';
import { isPlaceGone } from '../slack/failure.ts';
import { retryThroughOutage } from '../slack/rate-limit.ts';
import type { Collection, WorkspaceStore } from '../store/store.ts';
import { failureWords } from '../views/blocks/failures.ts';
import { troubleWords } from '../views/blocks/service-failures.ts';
import { defineJob, type JobDefinition } from '../workspace/define-job.ts';
import type { Workspace } from '../workspace/workspace.ts';
import { FollowedThread, type FollowedViews } from './followed-thread.ts';

/** Jobs of one queue at once: followed runs are mostly asleep. */
export const FOLLOWED_AT_ONCE = 20_000;

/** Something at the service that is followed in a root message and its thread. */
export interface FollowedKind<State extends Followed, View extends { kind: string }>
  extends FollowedViews<State, View | Stopped> {
  queue: string;
  documents(store: WorkspaceStore): Collection<State>;
  /** Fields for log lines. */
  fields(state: State): Record<string, unknown>;
  /** Follows to the end, and shows it. */
  follow(following: Following<State, View>): Promise<void>;
  /** Called when following ends early, before that is shown. */
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

/** It could not be followed; `reason` is mrkdwn, escaped. */
interface Stopped {
  kind: 'stopped';
  reason: string;
}

export interface Following<State extends Followed, View extends { kind: string }> {
  workspace: Workspace;
  thread: FollowedThread<State, View | Stopped>;
  signal: AbortSignal;
  /** An attempt before this one may have asked the service for something and not kept its answer. */
  possibleDuplicate: boolean;
}

/** A job is a pointer to the document that says how far it is. */
const Pointer = z.object({ id: z.string() });
type Pointer = z.infer<typeof Pointer>;

/** Follows something to its end and shows the end to people, or logs it if the root message is gone. */
export class Follower<State extends Followed, View extends { kind: string }> {
  readonly job: JobDefinition<Pointer>;
  readonly #kind: FollowedKind<State, View>;

  constructor(kind: FollowedKind<State, View>) {
    this.#kind = kind;
    this.job = defineJob({
      queue: kind.queue,
      schema: Pointer,
      options: { concurrency: FOLLOWED_AT_ONCE, attempts: 5, backoffMs: 1000, isSleeper: true },
      run: (workspace, job) => this.#run(workspace, job),
      onDeadLetter: (workspace, data, error) => this.#endDead(workspace, data, error),
    });
  }

  /**
   * Has a stored document followed.
   * @param key the same for a repeat of the request, so that it is followed once
   */
  async begin({ jobs }: Pick<Workspace, 'jobs'>, id: string, key: string): Promise<void> {
    await jobs.send(this.job, { id }, { key });
  }

  /** Returns undefined if nothing is left to do. */
  async #open(
    workspace: Workspace,
    { id }: Pointer,
    { signal, attempt = 1 }: Partial<Job<Pointer>> = {},
  ): Promise<Opened<State, View> | undefined> {
    const documents = this.#kind.documents(workspace.store);
    const state = await documents.get(id);
    if (state === undefined || state.shownAt !== undefined) return undefined;
    const possibleDuplicate = attempt > 1;
    async function save(change: Partial<State>): Promise<void> {
      await documents.update(id, (current) => current && { ...current, ...change });
    }
    const options = { save, signal, possibleDuplicate };
    const thread = new FollowedThread<State, View | Stopped>(workspace, this.#kind, state, options);
    return { workspace, thread, possibleDuplicate };
  }

  async #run(workspace: Workspace, job: Job<Pointer>): Promise<void> {
    const opened = await this.#open(workspace, job.data, job);
    if (opened === undefined) return;
    const { clock, metrics } = workspace;
    const { signal } = job;
    const following = { ...opened, signal };
    const work = (): Promise<void> =>
      this.#kind.follow(following).catch((error: unknown) => this.#endEarly(following, error));
    metrics.followed(1);
    try {
      await retryThroughOutage({ clock, signal }, work, (error) => this.#report(opened, error));
    } finally {
      metrics.followed(-1);
    }
    await opened.thread.saveShown();
  }

  /** @throws what another attempt may change */
  async #endEarly(following: Following<State, View>, failure: unknown): Promise<void> {
    try {
      if (isPlaceGone(failure) || !isExplained(failure) || following.signal.aborted) throw failure;
      await this.#stop(following, failure);
    } catch (error) {
      if (!isPlaceGone(error)) throw error;
      const { workspace, thread } = following;
      await this.#kind.onStop?.(workspace, thread.state, { status: 'lost', reason: MESSAGE_GONE });
      const fields = { event: 'follow_abandoned', ...this.#kind.fields(thread.state), reason: error.reason };
      workspace.log.warn(fields, 'a followed message is gone');
    }
  }

  /** The root message must not say that it goes on from then on. */
  async #stop(following: Reporting<State, View>, error: unknown): Promise<void> {
    const { workspace, thread } = following;
    const reason = this.#report(following, error);
    const failure =
      error instanceof AccountFailure
        ? { kind: error.cause.kind, reason: toClause(workspace.explain(error).text) }
        : undefined;
    await this.#kind.onStop?.(workspace, thread.state, { status: 'stopped', reason, failure });
    const fields = { event: 'follow_ended', ...this.#kind.fields(thread.state), status: 'stopped' };
    workspace.log.info(fields, 'following ended early');
    await thread.showEnd({ kind: 'stopped', reason });
    await thread.endProgress({ kind: 'stopped', reason });
  }

  async #endDead(workspace: Workspace, data: Pointer, error: unknown): Promise<void> {
    const opened = await this.#open(workspace, data);
    if (opened === undefined) return;
    await this.#stop(opened, error);
    await opened.thread.saveShown();
  }

  /** @returns the reason as people read it */
  #report({ workspace, thread }: Reporting<State, View>, error: unknown): string {
    const { queue, fields } = this.#kind;
    return failureWords(workspace.report(error, { job: queue, ...fields(thread.state) }));
  }
}

type Reporting<State extends Followed, View extends { kind: string }> = Pick<
  Following<State, View>,
  'workspace' | 'thread'
>;

type Opened<State extends Followed, View extends { kind: string }> = Omit<Following<State, View>, 'signal'>;

const MESSAGE_GONE = 'The message that showed it is gone, so Deckhand no longer follows it.';

/** True if the service or a person caused the error. Following then ends, and the reason is shown. */
export function isExplained(error: unknown): boolean {
  return [AccountFailure, AccountKeyUnreadable, UserError].some((kind) => error instanceof kind);
}

/** Poll settings for something that is followed. The deadline starts over in each process. */
export function createPolls(
  { workspace, signal }: { workspace: Pick<Workspace, 'clock' | 'config'>; signal: AbortSignal },
  onTrouble: (words: string) => Promise<void>,
): PollLoop {
  const { clock, config } = workspace;
  return { signal, onTrouble, deadline: clock.now() + config.FOLLOW_TIMEOUT_MINUTES * 60_000 };
}

export interface PollLoop {
  signal: AbortSignal;
  /** When polling ends, milliseconds since the epoch. */
  deadline: number;
  /** The first call is made at once, not after a pause. */
  startsNow?: boolean;
  /** Whether a failure may pass by itself; by default a 5xx, a time-out, bad JSON and a busy service may. */
  mayPass?(cause: ServiceError): boolean;
  /** Called once the service has failed twice in a row, or asks for a long pause; mrkdwn. */
  onTrouble?(words: string): Promise<void>;
}

interface Parts {
  clock: Clock;
  config: Pick<Settings, 'POLL_INTERVAL_MS'>;
}

/** People are told of a pause from here on, rather than see nothing move. */
const LONG_PAUSE_MS = 5_000;

/**
 * Asks the service every interval until `poll` returns something: less often while it fails, and never before it asks to be
 * tried again. Not p-retry, which keeps real time; tests move this clock.
 * @param poll gets true after failures
 * @returns undefined if the deadline passed first
 * @throws what waiting will not change, e.g. a 401, 403 or 404
 */
export async function pollUntil<T>(
  { clock, config: { POLL_INTERVAL_MS: intervalMs } }: Parts,
  loop: PollLoop,
  poll: (recovered: boolean) => Promise<T | undefined>,
): Promise<T | undefined> {
  const { signal, deadline } = loop;
  // The same each time, so that thousands of loops stay as spread as they began.
  const random = Math.random();
  let state = STEADY;
  let startsNow = loop.startsNow === true;
  for (;;) {
    const now = clock.now();
    const pauseMs = nextPollMs({ intervalMs, ...state, now, random });
    if (!startsNow) await clock.sleep(Math.max(0, Math.min(pauseMs, deadline - now)), signal);
    startsNow = false;
    // One poll after the deadline too: the work may have ended while Deckhand was down.
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

/** @throws the failure itself if waiting will not change it */
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
