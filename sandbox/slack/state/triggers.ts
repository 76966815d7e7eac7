import type { Trigger, World } from '../world.ts';
import { digits, secretHex } from './ids.ts';

export function issueTrigger(
  world: World,
  owner: { teamId: string; userId: string; seatId?: string; viewId?: string; entityId?: string },
): string {
  const id = `${digits(13)}.${digits(12)}.${secretHex(16)}`;
  world.triggers.set(id, { id, seatId: owner.teamId, ...owner, issuedAt: world.time.now(), used: false });
  return id;
}

export type TriggerFault = 'invalid_trigger_id' | 'expired_trigger_id' | 'exchanged_trigger_id';

/** Looks at a trigger without using it up. */
export function checkTrigger(world: World, id: string): Trigger | TriggerFault {
  const trigger = world.triggers.get(id);
  if (!trigger) return 'invalid_trigger_id';
  if (trigger.used) return 'exchanged_trigger_id';
  if (world.time.now() - trigger.issuedAt > world.triggerLifeMs) return 'expired_trigger_id';
  return trigger;
}
