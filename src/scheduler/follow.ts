import { z } from 'zod';
import { type ServiceErrorKind, UserError } from '../core/errors.ts';
import { asClause } from '../core/mrkdwn.ts';
import type { Job } from '../jobs/jobs.ts';
import { AccountKeyUnreadable } from '../records/account-keys.ts';
import { AccountFailure } from '../records/accounts.ts';
import type { Followed } from '../records/followed.ts';
import { isPlaceGone } from '../slack/failure.ts';
import { retryThroughOutage } from '../slack/rate-limit.ts';
import type { Collection, WorkspaceStore } from '../store/store.ts';
import { failureWords } from '../views/blocks/failures.ts';
import { defineJob, type JobDefinition } from '../workspace/define-job.ts';
import type { Workspace } from '../workspace/workspace.ts';
import { FollowedThread, type FollowedViews } from './followed-thread.ts';
import type { PollLoop } from './poll-loop.ts';

/** Jobs of one queue at once: followed runs are mostly asleep. */
export const FOLLOWED_AT_ONCE = 20_000;

/** Something at the service that is followed in a root message and its thread. */
export interface FollowedKind<State extends Followed, View extends { kind: string }>
  extends FollowedViews<State, View | Stopped> {
  /** Of its jobs. */
  queue: string;
  /** Where it is stored. */
  documents(store: WorkspaceStore): Collection<State>;
  /** What the log says of it. */
  fields(state: State): Record<string, unknown>;
  /** Follows to the end, and shows it. */
  follow(following: Following<State, View>): Promise<void>;
  /** Called where it is no longer followed, before that is shown. */
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

/** Follows to an end that people see, whatever ends it; where the root message is gone, to a line in the log. */
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
        ? { kind: error.cause.kind, reason: asClause(workspace.explain(error).text) }
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

/** What the service or a person did ends it, with a reason that is shown. */
export function isExplained(error: unknown): boolean {
  return [AccountFailure, AccountKeyUnreadable, UserError].some((kind) => error instanceof kind);
}

/** How something is polled for as long as it is followed; each process counts the time anew. */
export function pollsOf(
  { workspace, signal }: { workspace: Pick<Workspace, 'clock' | 'config'>; signal: AbortSignal },
  onTrouble: (words: string) => Promise<void>,
): PollLoop {
  const { clock, config } = workspace;
  return { signal, onTrouble, deadline: clock.now() + config.FOLLOW_TIMEOUT_MINUTES * 60_000 };
}
