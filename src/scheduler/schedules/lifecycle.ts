import { z } from 'zod';
import { UserError } from '../../core/errors.ts';
import type { Account } from '../../records/accounts.ts';
import { isPersonal, type Paused, SCHEDULES_LOCK, Schedule } from '../../records/schedules.ts';
import type { Workspace } from '../../workspace/workspace.ts';

/** One that is paused already keeps its reason; undefined if it was removed. */
export function pauseSchedule(
  workspace: Workspace,
  schedule: Schedule,
  paused: Paused,
): Promise<Schedule | undefined> {
  return workspace.store.exclusive(SCHEDULES_LOCK, () =>
    workspace.schedules.change(schedule, (current) =>
      current.state.kind === 'paused' ? current : { ...current, state: paused },
    ),
  );
}

const UNDO_MS = 10 * 60_000;

/** Schedules of one kind and channel that a request removed. */
const Removal = z.object({
  removed: z.array(Schedule),
  /** The request that brought them back, which may be repeated after a kill. */
  undoneBy: z.string().optional(),
});

export function removals({ store }: Pick<Workspace, 'store'>) {
  return store.collection('removed-schedules', Removal);
}

/** @param request names the removal, so that it can be undone */
export function removeSchedules(
  workspace: Workspace,
  schedules: readonly Schedule[],
  request: string,
): Promise<void> {
  return workspace.store.exclusive(SCHEDULES_LOCK, async () => {
    const stored = await Promise.all(schedules.map(({ kind, id }) => workspace.schedules.get(kind, id)));
    const removed = stored.filter((one) => one !== undefined);
    for (const schedule of removed) await workspace.schedules.remove(schedule);
    await removals(workspace).put(request, { removed }, workspace.clock.now() + UNDO_MS);
  });
}

/** True if at least one of its accounts works. */
export function isServed(
  { account }: { account?: string | undefined },
  accounts: readonly Account[],
): boolean {
  return accounts.some(({ name, state }) => state === 'ok' && (account === undefined || name === account));
}

export const MAX_IN_CHANNEL = 50;
export const MAX_IN_WORKSPACE = 500;

/**
 * Within `SCHEDULES_LOCK`.
 * @param added how many are to be added
 * @throws UserError if the channel or the workspace would have more schedules than it may
 */
export async function expectRoomForSchedule(
  { schedules }: Pick<Workspace, 'schedules'>,
  channel: string,
  added = 1,
): Promise<void> {
  const all = (await schedules.all()).filter((schedule) => !isPersonal(schedule));
  const here = all.filter((one) => one.channel === channel).length;
  if (here + added > MAX_IN_CHANNEL)
    throw new UserError(
      `This channel has ${here} schedules, and ${MAX_IN_CHANNEL} is the most.`,
      'digest list',
    );
  if (all.length + added > MAX_IN_WORKSPACE)
    throw new UserError(
      `This workspace has ${all.length} schedules, and ${MAX_IN_WORKSPACE} is the most.`,
      'digest list all',
    );
}
