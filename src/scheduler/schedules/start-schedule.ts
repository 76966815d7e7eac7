import {
  ACTIVE,
  type Paused,
  SCHEDULES_LOCK,
  type Schedule,
  type TimedChoices,
  type TimedSchedule,
} from '../../records/schedules.ts';
import { makeFreeId } from '../../store/store.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { replanEscalations } from '../episodes/escalation.ts';
import { SCHEDULE_TYPES } from '../schedule-types.ts';
import { expectRoomForSchedule } from './pause-schedule.ts';

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
