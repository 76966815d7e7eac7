import { setTimeout as delay } from 'node:timers/promises';
import type { Fault } from './state/fault.ts';
import type { Json } from './state/types.ts';
import type { World } from './world.ts';

/** Switches a fault on; the answer switches it off. */
export function addFault(world: World, fault: Fault): () => void {
  const own = { ...fault };
  world.faults.add(own);
  return () => {
    world.faults.delete(own);
  };
}

/** What a call is about, as far as faults ask. */
interface Called {
  method: string;
  teamId: string | undefined;
  args: Json;
}

/** The oldest fault that fits, counted as used. */
export function takeFault(world: World, called: Called): Fault | undefined {
  const fault = [...world.faults].find((one) => fits(one, called));
  if (fault?.times !== undefined) {
    fault.times -= 1;
    if (fault.times <= 0) world.faults.delete(fault);
  }
  return fault;
}

function fits(fault: Fault, { method, teamId, args }: Called): boolean {
  // An answer to a response_url is no Web API call: `*` does not mean it.
  const isMethod = fault.method === method || (fault.method === '*' && method !== 'response_url');
  return (
    isMethod &&
    (!fault.teamId || fault.teamId === teamId) &&
    (!fault.channel || fault.channel === args.channel) &&
    (fault.replies === undefined || fault.replies === Boolean(args.thread_ts))
  );
}

/** Waits as a fault asks; ends early where the workspace stops. */
export async function pause(world: World, ms: number): Promise<void> {
  await delay(ms, undefined, { signal: world.stopping.signal }).catch((error: unknown) => {
    if (!world.stopping.signal.aborted) throw error;
  });
}
