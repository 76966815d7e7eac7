import { z } from 'zod';
import { UserError } from '../../core/errors.ts';
import type { Requester } from '../../records/account-keys.ts';
import { billingChannels } from '../../records/billing.ts';
import {
  ACTIVE,
  accountsChanged,
  type Paused,
  SCHEDULES_LOCK,
  type Schedule,
  type ScheduleState,
} from '../../records/schedules.ts';
import { listWatches } from '../../records/watches.ts';
import type { Workspace } from '../../workspace/workspace.ts';

/** Digests, guards, watches, invoice notices: how each stores its records and does its work. */
export interface ScheduleKind<R = unknown> {
  /** That sets it up: where it is switched off in a channel, nothing of the kind is posted there. */
  command: string;
  /** The collection of its records. */
  collection: string;
  /** Decides which of an account's keys it uses. */
  requester: Requester;
  /** Oldest first. */
  list(workspace: Workspace): Promise<Schedule<R>[]>;
  /** Undefined where it was removed. */
  setState(
    workspace: Workspace,
    schedule: Schedule,
    change: (state: ScheduleState) => ScheduleState,
  ): Promise<Schedule<R> | undefined>;
  /** Begins its work, unless it goes on already; it ends by itself where nothing of it is active. */
  start(workspace: Workspace, schedule: Schedule<R>): Promise<void>;
  /** Sends what was found before it was paused. */
  postPending?(workspace: Workspace, schedule: Schedule): Promise<void>;
  /**
   * Asks the service before a person resumes it, so that a refusal is answered.
   * @returns stores the answer
   */
  prepareResume(workspace: Workspace, schedule: Schedule<R>): Promise<() => Promise<void>>;
  /** @returns what `restore` takes; undefined where it was removed already */
  remove(workspace: Workspace, schedule: Schedule): Promise<unknown>;
  /** Does not overwrite a schedule of the same id. */
  restore(workspace: Workspace, removed: unknown): Promise<Schedule<R>>;
}

/** One that is paused already keeps its reason; undefined where it was removed. */
export function pauseSchedule<R>(
  workspace: Workspace,
  kind: ScheduleKind<R>,
  schedule: Schedule,
  paused: Paused,
): Promise<Schedule<R> | undefined> {
  return workspace.store.exclusive(SCHEDULES_LOCK, () =>
    kind.setState(workspace, schedule, (state) => (state.kind === 'paused' ? state : paused)),
  );
}

/**
 * Resumes it from now on; undefined where it was removed.
 * @param cause only where it is paused for this; any if left out
 * @param prepared what `prepareResume` returned
 */
export function resumeSchedule<R>(
  workspace: Workspace,
  kind: ScheduleKind<R>,
  schedule: Schedule<R>,
  { cause, prepared }: { cause?: Paused['cause']; prepared?: () => Promise<void> },
): Promise<Schedule<R> | undefined> {
  return workspace.store.exclusive(SCHEDULES_LOCK, async () => {
    await prepared?.();
    const changed = await kind.setState(workspace, schedule, (state) =>
      state.kind === 'paused' && state.cause !== (cause ?? state.cause) ? state : ACTIVE,
    );
    if (changed?.state.kind !== 'active') return changed;
    await kind.start(workspace, changed);
    await kind.postPending?.(workspace, changed);
    return changed;
  });
}

const UNDO_MS = 10 * 60_000;

/** Those of one channel. */
const Removal = z.object({
  removed: z.array(z.unknown()),
  channel: z.string().optional(),
  /** The command of their kind; a button may name a removal of another one. */
  kind: z.string(),
  /** The request that brought them back, which may be repeated after a kill. */
  undoneBy: z.string().optional(),
});

function removals({ store }: Workspace) {
  return store.collection('removed-schedules', Removal);
}

/** @param request names the removal, so that it can be undone */
export function removeSchedules(
  workspace: Workspace,
  kind: ScheduleKind,
  schedules: readonly Schedule[],
  request: string,
): Promise<void> {
  return workspace.store.exclusive(SCHEDULES_LOCK, async () => {
    const removed: unknown[] = [];
    for (const schedule of schedules) removed.push(await kind.remove(workspace, schedule));
    const kept = removed.filter((one) => one !== undefined);
    const removal = { removed: kept, channel: schedules[0]?.channel, kind: kind.command };
    await removals(workspace).put(request, removal, workspace.clock.now() + UNDO_MS);
  });
}

/**
 * Brings back what a request removed, once; undefined after that, and after ten minutes.
 * @param removedBy the request @param undoneBy the one that brings it back
 * @param expectAllowed throws where nothing is to come back to the channel
 * @throws UserError where its channel or the workspace has too many schedules by now: it can be tried again
 */
export async function undoRemoval<R>(
  workspace: Workspace,
  kind: ScheduleKind<R>,
  { removedBy, undoneBy }: { removedBy: string; undoneBy: string },
  expectAllowed: (there: { channel: string }) => Promise<void>,
): Promise<Schedule<R>[] | undefined> {
  const restored = await workspace.store.exclusive(SCHEDULES_LOCK, async () => {
    const removal = await removals(workspace).get(removedBy);
    const isOpen = (removal?.undoneBy ?? undoneBy) === undoneBy;
    if (removal === undefined || !isOpen || removal.kind !== kind.command) return undefined;
    const { removed, channel } = removal;
    if (channel !== undefined) await expectAllowed({ channel });
    // A repetition after a kill has been let in before.
    if (removal.undoneBy === undefined && channel !== undefined)
      await expectRoomForSchedule(workspace, channel, removed.length);
    await removals(workspace).update(removedBy, (current) => current && { ...current, undoneBy });
    const schedules: Schedule<R>[] = [];
    for (const one of removed) {
      const schedule = await kind.restore(workspace, one);
      if (schedule.state.kind === 'active') await kind.start(workspace, schedule);
      schedules.push(schedule);
    }
    return schedules;
  });
  // Its account may have been disconnected in the meantime.
  await accountsChanged(workspace);
  return restored;
}

export const MAX_IN_CHANNEL = 50;
export const MAX_IN_WORKSPACE = 500;

/**
 * Within `SCHEDULES_LOCK`.
 * @param added how many are to be added
 * @throws UserError where the channel or the workspace would have more schedules than it may
 */
export async function expectRoomForSchedule(
  { digests, guards, store }: Pick<Workspace, 'digests' | 'guards' | 'store'>,
  channel: string,
  added = 1,
): Promise<void> {
  const [posted, guarded, watched, billed] = await Promise.all([
    digests.list(),
    guards.list(),
    listWatches(store),
    billingChannels(store).list(),
  ]);
  const channels = [
    ...posted,
    ...guarded,
    ...watched.filter(({ watch }) => watch.person === undefined),
    ...billed.map(({ doc }) => doc),
  ].map((one) => one.channel);
  const here = channels.filter((one) => one === channel).length;
  if (here + added > MAX_IN_CHANNEL)
    throw new UserError(
      `This channel has ${here} schedules, and ${MAX_IN_CHANNEL} is the most.`,
      'digest list',
    );
  if (channels.length + added > MAX_IN_WORKSPACE)
    throw new UserError(
      `This workspace has ${channels.length} schedules, and ${MAX_IN_WORKSPACE} is the most.`,
      'digest list all',
    );
}
