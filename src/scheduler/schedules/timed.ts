import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { isDirect } from '../../core/direct.ts';
import { UserError } from '../../core/errors.ts';
import { code } from '../../core/mrkdwn.ts';
import { isSameOrNone } from '../../core/project-ref.ts';
import { CATCH_UP_MS, type Job, type JobType } from '../../jobs/jobs.ts';
import { SCHEDULES } from '../../records/account-keys.ts';
import { ACTIVE, SCHEDULES_LOCK, type Schedule, type ScheduleState } from '../../records/schedules.ts';
import {
  cronOf,
  type LastOccurrence,
  type TimedNoun,
  type TimedSchedule,
  type TimedSchedules,
} from '../../records/timed-schedules.ts';
import { freeId } from '../../store/store.ts';
import { say } from '../../views/blocks/message.ts';
import { defineJob, type JobDefinition } from '../../workspace/define-job.ts';
import { findCurrentProject } from '../../workspace/projects.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { type Chain, continueChain, startChain } from './chain.ts';
import { expectRoomForSchedule, type ScheduleKind } from './lifecycle.ts';
import { notifyOwner, pauseIfExcluded, pauseWhere, type Reason } from './notify-owner.ts';
import { isServed } from './reconcile-schedules.ts';

/** The job of an occurrence: of which schedule, and when it was due, milliseconds since the epoch. */
export const Occurrence = z.object({ id: z.string(), scheduledAt: z.number() });
export type Occurrence = z.infer<typeof Occurrence>;

/** What a person decides of a schedule by the clock, in which channel, and by which request. */
export type NewSchedule<R extends TimedSchedule> = Choices<R> &
  Pick<TimedSchedule, 'requestId' | 'channel' | 'setUpBy'> & { id?: string };
export type Choices<R extends TimedSchedule> = Omit<R, keyof TimedSchedule> &
  Pick<R, 'cadence' | 'zone' | 'account' | 'project'>;

interface TimedParts<R extends TimedSchedule> {
  /** Of its queue, and as people call it. */
  noun: TimedNoun;
  /** What people call it; its id if left out. */
  nameOf?(record: R): string;
  /** What it is and when; mrkdwn. */
  words(record: R): string;
  schema: z.ZodType<R>;
  recordsOf(workspace: Workspace): TimedSchedules<R>;
  /** Called once it is stored; safe to repeat. */
  onAdded?(workspace: Workspace, record: R): Promise<void>;
  /** How long after its time an occurrence begins, in milliseconds. */
  delayOf?(id: string): number;
}

/** Schedules by the clock, digests and guards: each occurrence is carried out once. */
export class TimedKind<R extends TimedSchedule> implements ScheduleKind<R> {
  readonly command: string;
  readonly collection: string;
  readonly requester = SCHEDULES;
  readonly job: JobType<Occurrence>;
  readonly #parts: TimedParts<R>;

  constructor(parts: TimedParts<R>) {
    this.#parts = parts;
    this.command = `${parts.noun} add`;
    this.collection = `${parts.noun}s`;
    this.job = { queue: parts.noun, schema: Occurrence };
  }

  /** @param run carries out an occurrence; safe to repeat after a kill */
  jobDefinition(run: JobDefinition<Occurrence>['run']): JobDefinition<Occurrence> {
    return defineJob({
      ...this.job,
      // Some eight hours of attempts, while an occurrence is worth carrying out.
      options: { concurrency: 50, attempts: 16, backoffMs: 15_000 },
      run,
      onDeadLetter: (workspace, occurrence) => this.#failed(workspace, occurrence),
    });
  }

  async list(workspace: Workspace): Promise<Schedule<R>[]> {
    return (await this.records(workspace).list()).map((record) => this.asSchedule(record));
  }

  async setState(
    workspace: Workspace,
    { id }: Schedule,
    change: (state: ScheduleState) => ScheduleState,
  ): Promise<Schedule<R> | undefined> {
    return this.#changed(workspace, id, (current) => {
      const state = change(current.state);
      const isResumed = current.state.kind === 'paused' && state.kind === 'active';
      return { ...current, state, ...(isResumed ? { activeSince: workspace.clock.now() } : {}) };
    });
  }

  /** From its latest occurrence on, or from when it began. One that is about to be resumed begins now. */
  async start(workspace: Workspace, { record }: Schedule<R>): Promise<void> {
    const { state, last, setUpAt, activeSince = setUpAt } = record;
    const since = state.kind === 'paused' ? workspace.clock.now() : activeSince;
    await startChain(workspace, this.#chainOf(record), Math.max(since, last?.scheduledAt ?? since));
  }

  async prepareResume(
    workspace: Workspace,
    { id, name, account }: Schedule<R>,
  ): Promise<() => Promise<void>> {
    if (!isServed({ account }, await workspace.accounts.list()))
      throw new UserError(
        `The ${this.#parts.noun} ${code(name)} has no working account.`,
        `connect${account === undefined ? '' : ` ${account}`}`,
      );
    return async () => void (await this.#changed(workspace, id, awake));
  }

  async remove(workspace: Workspace, { id }: Pick<Schedule, 'id'>): Promise<unknown> {
    const removed = await this.records(workspace).get(id);
    await this.records(workspace).remove(id);
    return removed;
  }

  async restore(workspace: Workspace, removed: unknown): Promise<Schedule<R>> {
    const record = this.#parts.schema.parse(removed);
    const existing = await this.records(workspace).get(record.id);
    if (existing === undefined) await this.records(workspace).put(record);
    return this.asSchedule(existing ?? record);
  }

  /** Stores a new one and starts it; repeated for the same request it changes nothing. */
  add(workspace: Workspace, asked: NewSchedule<R>): Promise<Schedule<R>> {
    const records = this.records(workspace);
    return workspace.store.exclusive(SCHEDULES_LOCK, async () => {
      const all = await records.list();
      const existing = all.find(({ requestId }) => requestId === asked.requestId);
      if (existing === undefined) await expectRoomForSchedule(workspace, asked.channel);
      const isTaken = (taken: string): boolean => all.some(({ id }) => id === taken);
      const id = asked.id ?? freeId(this.#parts.noun.charAt(0), asked.requestId, isTaken);
      const setUpAt = workspace.clock.now();
      const record = existing ?? this.#parts.schema.parse({ ...asked, id, setUpAt, state: ACTIVE });
      if (record.state.kind === 'active') await this.start(workspace, this.asSchedule(record));
      if (existing === undefined) await records.put(record);
      if (record.state.kind === 'active') await this.#parts.onAdded?.(workspace, record);
      return this.asSchedule(record);
    });
  }

  /** Undefined where it was removed. */
  edit(workspace: Workspace, id: string, choices: Choices<R>): Promise<Schedule<R> | undefined> {
    const { account, project } = choices;
    // What was chosen before and is not chosen any more goes too.
    const chosen = { ...choices, account, project, activeSince: workspace.clock.now() };
    return workspace.store.exclusive(SCHEDULES_LOCK, async () => {
      const existing = await this.records(workspace).get(id);
      if (existing?.state.kind === 'active')
        await this.start(workspace, this.asSchedule({ ...existing, ...chosen }));
      return this.#changed(workspace, id, (current) => ({ ...current, ...chosen }));
    });
  }

  records(workspace: Workspace): TimedSchedules<R> {
    return this.#parts.recordsOf(workspace);
  }

  asSchedule(record: R): Schedule<R> {
    const { id, channel, setUpBy, account, state } = record;
    const { noun, nameOf, words } = this.#parts;
    const name = nameOf?.(record) ?? id;
    const what = `the ${noun} of ${words(record)}`;
    return { id, name, what, channel, setUpBy, account, state, resume: `${noun} resume`, record };
  }

  /** Names an occurrence, the same for each attempt. */
  nameOf({ id, scheduledAt }: Occurrence): string {
    return `${this.#parts.noun} ${id} ${scheduledAt}`;
  }

  /**
   * Plans the next occurrence.
   * @param isBegun true where this one was begun before a kill
   * @returns the schedule, where this occurrence is to be carried out now
   */
  async begin(
    workspace: Workspace,
    { data, attempt }: Job<Occurrence>,
    isBegun = false,
  ): Promise<R | undefined> {
    const record = await this.records(workspace).get(data.id);
    if (record?.state.kind !== 'active') return undefined;
    await workspace.slack.expectToken();
    const { scheduledAt } = data;
    const link = { scheduledAt, attempt, doneAt: record.last?.scheduledAt };
    if (!(await continueChain(workspace, this.#chainOf(record), link))) return undefined;
    const isSnoozed = (record.snoozedUntil ?? 0) > scheduledAt;
    const isMissed = workspace.clock.now() - scheduledAt >= CATCH_UP_MS;
    if (isDirect(record.channel) && (await pauseIfExcluded(workspace, this, ({ id }) => id === data.id)))
      return undefined;
    if (isBegun || !(isSnoozed || isMissed)) return this.refresh(workspace, record);
    await this.end(workspace, data, { outcome: isSnoozed ? 'snoozed' : 'missed' });
    return undefined;
  }

  /** The record with the present name of its project, which may have been renamed at the service. */
  async refresh(workspace: Workspace, record: R): Promise<R> {
    const { id, project } = record;
    const account = record.account === undefined ? undefined : await workspace.accounts.get(record.account);
    if (project === undefined || account === undefined) return record;
    const current = await findCurrentProject(workspace.projects, account, project);
    if (current === undefined || isDeepStrictEqual(current, project)) return record;
    const changed = await this.records(workspace).change(id, (stored) =>
      isSameOrNone(stored.project, current) ? { ...stored, project: current } : stored,
    );
    return changed ?? record;
  }

  /** Records how an occurrence ended, for the list. */
  async end(
    workspace: Workspace,
    { id, scheduledAt }: Occurrence,
    result: Pick<LastOccurrence, 'outcome' | 'reason'>,
  ): Promise<void> {
    const last = { scheduledAt, at: workspace.clock.now(), ...result };
    await this.#changed(workspace, id, (current) => {
      // A late occurrence may end after a younger one.
      if ((current.last?.scheduledAt ?? 0) > scheduledAt) return current;
      return { ...((current.snoozedUntil ?? 0) > scheduledAt ? current : awake(current)), last };
    });
    workspace.metrics.occurrence(this.#parts.noun, result.outcome, last.at - scheduledAt);
  }

  /** Pauses the schedule because of an occurrence, and notifies its owner, once. */
  async pause(workspace: Workspace, occurrence: Occurrence, why: Reason): Promise<void> {
    const causeId = this.nameOf(occurrence);
    await pauseWhere(workspace, this, { concerns: ({ id }) => id === occurrence.id, why, causeId });
    await this.end(workspace, occurrence, { outcome: 'failed', reason: why.reason });
  }

  /** The last attempt failed: the list says so, and the owner is notified. */
  async #failed(workspace: Workspace, occurrence: Occurrence): Promise<void> {
    const record = await this.records(workspace).get(occurrence.id);
    if (record === undefined) return;
    await this.end(workspace, occurrence, { outcome: 'failed', reason: 'an unexpected error' });
    const { what, channel, setUpBy: user } = this.asSchedule(record);
    const said = `:warning: Deckhand could not carry out ${what} because of an unexpected error. It runs again at its next time; if this keeps happening, contact your administrator.`;
    const id = `dead ${this.nameOf(occurrence)}`;
    await notifyOwner(workspace, { id, user, message: say(said), channel });
  }

  async #changed(
    workspace: Workspace,
    id: string,
    change: (current: R) => R,
  ): Promise<Schedule<R> | undefined> {
    const changed = await this.records(workspace).change(id, change);
    return changed && this.asSchedule(changed);
  }

  #chainOf({ id, cadence, zone }: R): Chain<Occurrence> {
    const dataAt = (scheduledAt: number): Occurrence => ({ id, scheduledAt });
    const delayMs = this.#parts.delayOf?.(id) ?? 0;
    return { id, cron: cronOf(cadence), zone, delayMs, job: this.job, dataAt };
  }
}

function awake<R extends TimedSchedule>(record: R): R {
  return { ...record, snoozedUntil: undefined };
}
