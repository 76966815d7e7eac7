import { z } from 'zod';
import { StoreUnavailable } from '../../core/errors.ts';
import { DAY_MS } from '../../core/time/clock.ts';
import { SCHEDULE_KINDS, Schedule } from '../../records/schedules.ts';
import type { Workspace } from '../../workspace/workspace.ts';
import { SCHEDULE_TYPES } from '../schedule-types.ts';
import { removeSchedules } from '../schedules/remove-schedules.ts';
import { applyEntry } from './schedule-entries.ts';

/** One change of a plan: a schedule that is added, changed or removed. */
const PlannedChange = z.object({
  kind: z.enum(SCHEDULE_KINDS),
  id: z.string(),
  before: Schedule.optional(),
  after: Schedule.optional(),
});
export interface PlannedChange extends z.infer<typeof PlannedChange> {}

/** All changes of one submitted form, stored before the first is made, so that a kill between them loses none. */
export const SetupPlan = z.object({
  channel: z.string(),
  account: z.string(),
  changes: z.array(PlannedChange),
});
export interface SetupPlan extends z.infer<typeof SetupPlan> {}

/** Longer than Deckhand repeats a request that a kill cut off. */
const KEPT_MS = DAY_MS;

function plans({ store }: Pick<Workspace, 'store'>) {
  return store.collection('setups', SetupPlan);
}

/** The plan of a request that began before; undefined for a new one. */
export function readPlan(workspace: Workspace, requestId: string): Promise<SetupPlan | undefined> {
  return plans(workspace).get(requestId);
}

/**
 * Makes all changes of a plan, or none. After a kill the request is repeated: it reads the stored plan, and calls this again.
 * @throws UserError after it took everything back, e.g. if the channel would have too many schedules
 */
export async function carryOutPlan(workspace: Workspace, requestId: string, plan: SetupPlan): Promise<void> {
  await plans(workspace).put(requestId, plan, workspace.clock.now() + KEPT_MS);
  // Removals make room.
  const ordered = plan.changes.toSorted(
    (one, other) => Number(one.after !== undefined) - Number(other.after !== undefined),
  );
  try {
    for (const change of ordered) await applyEntry(workspace, change, nameStep(requestId, change));
  } catch (error) {
    // The request is repeated once the store answers.
    if (!(error instanceof StoreUnavailable)) await takeBackPlan(workspace, requestId, plan);
    throw error;
  }
}

function nameStep(requestId: string, { kind, id }: PlannedChange): string {
  return `${requestId} ${kind} ${id}`;
}

/** Makes everything what it was before a plan. Safe to repeat. */
export async function takeBackPlan(workspace: Workspace, requestId: string, plan: SetupPlan): Promise<void> {
  for (const change of plan.changes) {
    const { kind, id, before } = change;
    const current = await workspace.schedules.get(kind, id);
    if (before === undefined) {
      if (current !== undefined)
        await removeSchedules(workspace, [current], `${nameStep(requestId, change)} back`);
      continue;
    }
    await workspace.schedules.put(before);
    const type = SCHEDULE_TYPES[kind];
    if (before.state.kind === 'active') await type.start(workspace, before);
    if (current === undefined) await type.afterRestoring?.(workspace, nameStep(requestId, change));
  }
  await plans(workspace).delete(requestId);
}
