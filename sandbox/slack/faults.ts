import type { Fault } from './state/fault.ts';
import type { World } from './world.ts';

/** Switches a fault on; the answer switches it off. */
export function addFault(world: World, fault: Fault): () => void {
  const own = { ...fault };
  world.faults.add(own);
  return () => {
    world.faults.delete(own);
  };
}

/** The oldest fault that fits, counted as used. */
export function takeFault(world: World, method: string, teamId: string | undefined): Fault | undefined {
  const fault = [...world.faults].find(
    (one) => (one.method === '*' || one.method === method) && (!one.teamId || one.teamId === teamId),
  );
  if (fault?.times !== undefined) {
    fault.times -= 1;
    if (fault.times <= 0) world.faults.delete(fault);
  }
  return fault;
}
