import type { z } from 'zod';
import type { Clock } from '../core/clock.ts';
import { MAY_PASS, type ServiceError, UserError } from '../core/errors.ts';
import { defined } from '../core/json.ts';
import { AGAIN, nextPollMs, type PollState, Rounds, STEADY } from '../core/retry.ts';
import type { Settings } from '../core/settings.ts';
import type { FairGate } from '../core/shares.ts';
import type { Job } from '../jobs/jobs.ts';
import { AccountKeyUnreadable } from '../records/account-keys.ts';
import { AccountFailure } from '../records/accounts.ts';
import { isSlackFailure } from '../slack/failure.ts';
import { outlastOutage } from '../slack/rate-limit.ts';
import { failureWords } from '../views/blocks/failures.ts';
import { troubleWords } from '../views/blocks/service-failures.ts';
import { defineJob, type JobDefinition } from '../workspace/define-job.ts';
import type { Workspace } from '../workspace/workspace.ts';
import { type FollowedState, FollowedThread, type FollowedViews } from './followed-thread.ts';

/** Jobs of one queue at once: followed runs are mostly asleep. */
export const FOLLOWED_AT_ONCE = 20_000;

/** Something at the service that is followed in a root message and its thread. */
export interface FollowedKind<State extends FollowedState, Shown extends { kind: string }>
  extends FollowedViews<State, Shown | Stopped> {
  queue: string;
  schema: z.ZodType<State>;
  keyStaysMs?: number;
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

export interface Following<State extends FollowedState, Shown extends { kind: string }> {
  workspace: Workspace;
  thread: FollowedThread<State, Shown | Stopped>;
  signal: AbortSignal;
}

/** Follows to an end that people see, whatever ends it; where the root message is gone, to a line in the log. */
export function defineFollowJob<State extends FollowedState, Shown extends { kind: string }>(
  kind: FollowedKind<State, Shown>,
): JobDefinition<State> {
  const { queue, schema, keyStaysMs } = kind;

  function reasonOf(workspace: Workspace, state: State, error: unknown): string {
    return failureWords(workspace.report(error, { job: queue, ...kind.fields(state) }));
  }

  async function follow(following: Following<State, Shown>): Promise<void> {
    const { workspace, thread, signal } = following;
    const { metrics, clock } = workspace;
    metrics.followed(1);
    try {
      const work = (): Promise<void> => kind.follow(following);
      await outlastOutage({ clock, signal }, work, (error) => reasonOf(workspace, thread.state, error));
    } catch (error) {
      await endEarly(following, error);
    } finally {
      metrics.followed(-1);
    }
  }

  async function endEarly(following: Following<State, Shown>, failure: unknown): Promise<void> {
    const { workspace, thread } = following;
    try {
      await explain(following, failure);
    } catch (error) {
      if (!isSlackFailure(error, 'gone', 'revoked')) throw error;
      await kind.onStop?.(workspace, thread.state, { status: 'lost', reason: MESSAGE_GONE });
      const fields = { event: 'follow_abandoned', ...kind.fields(thread.state), reason: error.reason };
      workspace.log.warn(fields, 'a followed message is gone');
    }
  }

  /** The root message has the reason where the service, or what a person did, ends it. @throws any other failure */
  async function explain(
    { workspace, thread, signal }: Following<State, Shown>,
    error: unknown,
  ): Promise<void> {
    const isExplained = [AccountFailure, AccountKeyUnreadable, UserError].some(
      (kind) => error instanceof kind,
    );
    if (!isExplained || signal.aborted) throw error;
    const reason = reasonOf(workspace, thread.state, error);
    await kind.onStop?.(workspace, thread.state, { status: 'stopped', reason });
    const fields = { event: 'follow_ended', ...kind.fields(thread.state), status: 'stopped' };
    workspace.log.info(fields, 'following ended early');
    await thread.show({ kind: 'stopped', reason });
  }

  /** Not asynchronous, or the job as it began would be kept as long as it is followed. */
  function run(workspace: Workspace, job: Job<State>): Promise<void> {
    return follow({ workspace, thread: new FollowedThread(workspace, job, kind), signal: job.signal });
  }

  /** The root message must not say that it goes on from then on. */
  async function onDeadLetter(workspace: Workspace, data: State, error: unknown): Promise<void> {
    const reason = reasonOf(workspace, data, error);
    await kind.onStop?.(workspace, data, { status: 'stopped', reason });
    const thread = new FollowedThread(workspace, { data, save: async () => undefined }, kind);
    await thread.show({ kind: 'stopped', reason });
  }

  const options = { concurrency: FOLLOWED_AT_ONCE, attempts: 5, backoffMs: 1000, resumable: true };
  return defineJob({
    queue,
    schema,
    options: { ...options, ...defined({ keyStaysMs }) },
    run,
    onDeadLetter,
  });
}

const MESSAGE_GONE = 'The message that showed it is gone, so Deckhand no longer follows it.';

/** Polls for as long as one thing is followed. */
export function pollWhileFollowed(
  { workspace, signal }: { workspace: Workspace; signal: AbortSignal },
  account: string,
  onTrouble: (words: string) => Promise<void>,
): Polling {
  const { clock, config } = workspace;
  // Each process counts anew: the clock of the one before may have been another.
  const deadline = clock.now() + config.FOLLOW_TIMEOUT_MINUTES * 60_000;
  return new Polling(workspace, { account, signal, deadline, onTrouble });
}

/** People are told of a pause from here on, rather than see nothing move. */
const LONG_PAUSE_MS = 5_000;

/** A longer time between two waits means that the clock jumped. */
const LONGEST_POLL_MS = 60_000;

interface PollingParts {
  clock: Clock;
  config: Pick<Settings, 'POLL_INTERVAL_MS'>;
  /** So many polls of an account wait for the service at once; the others make nothing until it is their turn. */
  polls: Pick<FairGate, 'enter'>;
}

interface PollingOptions {
  /** Whose share of the polls it takes. */
  account: string;
  signal: AbortSignal;
  /** When polling ends, milliseconds since the epoch. */
  deadline: number;
  /** Called once the service has failed twice in a row, or asks for a long pause; mrkdwn. */
  onTrouble?(words: string): Promise<void>;
}

/**
 * Asks the service every interval, less often while it fails, and never before it asks to be tried again. Not p-retry,
 * which keeps real time: a clock that was set, or a machine that slept, must not use up the deadline.
 */
export class Polling {
  readonly #parts: PollingParts;
  /** The same each time, so that each pause is as long as the one before. */
  readonly #random = Math.random();
  readonly #options: PollingOptions;
  #deadline: number;
  #seenAt: number;

  constructor(parts: PollingParts, options: PollingOptions) {
    this.#parts = parts;
    this.#options = options;
    this.#deadline = options.deadline;
    this.#seenAt = parts.clock.now();
  }

  /**
   * Polls until `poll` returns something; undefined where the deadline passed first. `recovered` is true after failed
   * polls; `answered` is called once the service has answered, so that the next poll may begin.
   * @throws what waiting will not change
   */
  until<T>(
    poll: (recovered: boolean, answered: () => void) => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const { clock, polls: gate } = this.#parts;
    const { account, signal } = this.#options;
    let state = STEADY;
    let pausedMs = 0;
    const pauseMs = (): number => {
      pausedMs = this.#pauseMs(state);
      return pausedMs;
    };
    const round = async (answered: () => void): Promise<T | undefined | typeof AGAIN> => {
      // One poll after the deadline too: it may have passed, and the work ended, while Deckhand was down.
      const isInTime = this.#pass(pausedMs) < this.#deadline;
      try {
        const seen = await poll(state !== STEADY, answered);
        if (seen !== undefined) return seen;
        state = STEADY;
      } catch (error) {
        state = await this.slowDown(error, state);
      }
      return isInTime ? AGAIN : undefined;
    };
    return new Rounds({ clock, gate, key: account, signal, pauseMs, round }).run();
  }

  /** Waits for the next poll; false once the deadline has passed. */
  async wait(state: PollState): Promise<boolean> {
    const pauseMs = this.#pauseMs(state);
    await this.#parts.clock.sleep(pauseMs, this.#options.signal);
    return this.#pass(pauseMs) < this.#deadline;
  }

  /** The state after a failed call. @throws the failure itself where waiting will not change it */
  async slowDown(
    error: unknown,
    state: PollState,
    isFinal = ({ kind }: ServiceError) => !MAY_PASS.has(kind),
  ): Promise<PollState> {
    const { signal, onTrouble } = this.#options;
    if (!(error instanceof AccountFailure) || signal.aborted || isFinal(error.cause)) throw error;
    const next = { failures: state.failures + 1, retryAt: error.cause.retryAt };
    const isLong = (next.retryAt ?? 0) - this.#parts.clock.now() > LONG_PAUSE_MS;
    if (next.failures === 2 || (next.failures === 1 && isLong)) await onTrouble?.(troubleWords(error.cause));
    return next;
  }

  #pauseMs({ failures, retryAt }: PollState): number {
    const now = this.#pass(0);
    const intervalMs = this.#parts.config.POLL_INTERVAL_MS;
    const ms = nextPollMs({ intervalMs, failures, retryAt, now, random: this.#random });
    return Math.min(ms, Math.max(0, this.#deadline - now));
  }

  /** Moves the deadline along with a clock that jumped, and returns the time. */
  #pass(sleptMs: number): number {
    const now = this.#parts.clock.now();
    const jumpedMs = now - this.#seenAt - sleptMs;
    if (jumpedMs < 0 || jumpedMs > LONGEST_POLL_MS) this.#deadline += jumpedMs;
    this.#seenAt = now;
    return now;
  }
}
