import { z } from 'zod';
import {
  ACTIVE,
  accountsChanged,
  type Paused,
  SCHEDULES_LOCK,
  Schedule,
  type TimedChoices,
  type TimedSchedule,
} from '../../records/schedules.ts';
import { makeFreeId } from '../../store/store.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { replanEscalations } from '../episodes/escalation.ts';
import { SCHEDULE_TYPES } from '../schedule-types.ts';
import { expectRoomForSchedule } from './lifecycle.ts';

/** A new schedule by the clock. The `id` is chosen if left out. */
export type NewTimed = TimedChoices &
  Pick<TimedSchedule, 'requestId' | 'channel' | 'createdBy'> & { id?: string };

/** Stores a schedule by the clock and starts it. A repeat of the same request changes nothing. */
export function addTimed(workspace: Workspace, requested: NewTimed): Promise<TimedSchedule> {
  const { clock, schedules, store } = workspace;
  return store.exclusive(SCHEDULES_LOCK, async () => {
    const { kind, channel, requestId } = requested;
    const all: readonly TimedSchedule[] = await schedules.list(kind);
    const existing = all.find((one) => one.requestId === requestId);
    if (existing === undefined) await expectRoomForSchedule(workspace, channel);
    const isTaken = (candidate: string): boolean => all.some(({ id }) => id === candidate);
    const id = requested.id ?? makeFreeId(kind.charAt(0), requestId, isTaken);
    const schedule = existing ?? { ...requested, id, createdAt: clock.now(), state: ACTIVE };
    const type = SCHEDULE_TYPES[kind];
    if (schedule.state.kind === 'active') await type.start(workspace, schedule);
    if (existing === undefined) await schedules.put(schedule);
    if (schedule.state.kind === 'active') await type.onAdded?.(workspace, schedule);
    return schedule;
  });
}

/**
 * Returns undefined if the schedule was removed.
 * @param expectSame throws if the schedule must not be changed any more
 */
export function editTimed(
  workspace: Workspace,
  id: string,
  choices: TimedChoices & { createdBy?: string },
  expectSame?: (current: TimedSchedule) => void,
): Promise<TimedSchedule | undefined> {
  const { clock, schedules, store } = workspace;
  const { kind, account, project } = choices;
  // Drops choices of the earlier edit that this one leaves out.
  const change = <S extends TimedSchedule>(current: S): S => ({
    ...current,
    ...choices,
    account,
    project,
    activeSince: clock.now(),
  });
  return store.exclusive(SCHEDULES_LOCK, async () => {
    const existing: TimedSchedule | undefined = await schedules.get(kind, id);
    if (existing !== undefined) expectSame?.(existing);
    if (existing?.state.kind === 'active') await SCHEDULE_TYPES[kind].start(workspace, change(existing));
    const edited = await schedules.change({ kind, id }, change);
    await replanEscalations(workspace, { id });
    return edited;
  });
}

/**
 * Resumes a schedule from now on. Returns undefined if it was removed.
 * @param cause only if it was paused for this cause; any if left out
 * @param prepared returned by `prepareResume`
 */
export function resumeSchedule(
  workspace: Workspace,
  { kind, id }: Pick<Schedule, 'kind' | 'id'>,
  { cause, prepared }: { cause?: Paused['cause']; prepared?: () => Promise<void> },
): Promise<Schedule | undefined> {
  const { clock, schedules, store } = workspace;
  return store.exclusive(SCHEDULES_LOCK, async () => {
    await prepared?.();
    const changed = await schedules.change({ kind, id }, (current: Schedule) => {
      const { state } = current;
      if (state.kind === 'active' || state.cause !== (cause ?? state.cause)) return current;
      return { ...current, state: ACTIVE, activeSince: clock.now() };
    });
    if (changed?.state.kind === 'active') await SCHEDULE_TYPES[kind].start(workspace, changed);
    await replanEscalations(workspace, { id });
    return changed;
  });
}

/** Polls an account again soon, whatever the service asked for before. Call it after a key was connected. */
export async function startAgain(workspace: Workspace, account: string): Promise<void> {
  for (const schedule of await workspace.schedules.all())
    if (schedule.account === account && schedule.state.kind === 'active')
      await SCHEDULE_TYPES[schedule.kind].start(workspace, schedule);
}

/** Forgets how an account was polled. Call it after a key was disconnected. */
export async function forgetPolls(workspace: Workspace, account: string): Promise<void> {
  for (const { forgetAccount } of Object.values(SCHEDULE_TYPES)) await forgetAccount?.(workspace, account);
}

const UNDO_MS = 10 * 60_000;

/** Schedules of one kind and channel that one request removed. */
export const Removal = z.object({
  removed: z.array(Schedule),
  /** The request that restored them. It may be repeated after a kill. */
  undoRequest: z.string().optional(),
});

function removals({ store }: Pick<Workspace, 'store'>) {
  return store.collection('removed-schedules', Removal);
}

/** @param request id of the removal, so that it can be undone */
export function removeSchedules(
  workspace: Workspace,
  schedules: readonly Schedule[],
  request: string,
): Promise<void> {
  return workspace.store.exclusive(SCHEDULES_LOCK, async () => {
    const current = await Promise.all(schedules.map(({ kind, id }) => workspace.schedules.get(kind, id)));
    const removed = current.filter((one) => one !== undefined);
    const types = [...new Set(removed.map(({ kind }) => SCHEDULE_TYPES[kind]))];
    for (const type of types) await type.beforeRemoval?.(workspace);
    for (const schedule of removed) await workspace.schedules.remove(schedule);
    await removals(workspace).put(request, { removed }, workspace.clock.now() + UNDO_MS);
    for (const type of types) await type.afterRemoval?.(workspace, request);
  });
}

/**
 * Restores the schedules of a kind that a request removed, once. Returns undefined after that, and after ten
 * minutes.
 * @param removalRequest the removal
 * @param undoRequest the request that restores
 * @param expectAllowed throws if the channel may not have the schedules
 * @throws UserError if the channel or the workspace has too many schedules by now; a later attempt may
 * succeed
 */
export async function undoRemoval(
  workspace: Workspace,
  kind: Schedule['kind'],
  { removalRequest, undoRequest }: { removalRequest: string; undoRequest: string },
  expectAllowed: (there: { channel: string }) => Promise<void>,
): Promise<Schedule[] | undefined> {
  const restored = await workspace.store.exclusive(SCHEDULES_LOCK, async () => {
    const removal = await removals(workspace).get(removalRequest);
    const isOpen = (removal?.undoRequest ?? undoRequest) === undoRequest;
    const { removed = [] } = removal ?? {};
    // A button may name a removal of another kind.
    if (removal === undefined || !isOpen || removed.some((one) => one.kind !== kind)) return undefined;
    const [{ channel } = {}] = removed;
    if (channel !== undefined) await expectAllowed({ channel });
    // A repeat after a kill was allowed before.
    if (removal.undoRequest === undefined && channel !== undefined)
      await expectRoomForSchedule(workspace, channel, removed.length);
    await removals(workspace).update(removalRequest, (current) => current && { ...current, undoRequest });
    const all: Schedule[] = [];
    for (const one of removed) all.push(await restoreSchedule(workspace, one));
    await SCHEDULE_TYPES[kind].afterRestoring?.(workspace, removalRequest);
    return all;
  });
  // Somebody may have disconnected its account in the meantime.
  await accountsChanged(workspace);
  return restored;
}

async function restoreSchedule(workspace: Workspace, removed: Schedule): Promise<Schedule> {
  const { kind, id } = removed;
  const existing = await workspace.schedules.get(kind, id);
  if (existing === undefined) await workspace.schedules.put(removed);
  const schedule = existing ?? removed;
  if (schedule.state.kind === 'active') await SCHEDULE_TYPES[kind].start(workspace, schedule);
  await replanEscalations(workspace, { id });
  return schedule;
}
