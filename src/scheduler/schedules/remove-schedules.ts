import { z } from 'zod';
import { SCHEDULES_LOCK, Schedule } from '../../records/schedules.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { replanEscalations } from '../episodes/escalation.ts';
import { SCHEDULE_TYPES } from '../schedule-types.ts';
import { expectRoomForSchedule } from './pause-schedule.ts';

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
  await workspace.accountsChanged();
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
