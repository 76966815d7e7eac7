import type { World } from './world.ts';

/** Something that goes wrong on demand with a Web API method. */
export interface Fault {
  /** A method's name, or `*` for all. */
  method: string;
  /** Only for this workspace. */
  teamId?: string;
  /** Answer with this HTTP status and do nothing. 429 carries `Retry-After`. */
  status?: number;
  /** Seconds for a 429, 1 by default. */
  retryAfter?: number;
  /** Answer `{ ok: false, error }` and do nothing. */
  error?: string;
  /** Wait this long first. */
  delayMs?: number;
  /** Close the connection: without doing the work, or after it, so that only the answer is lost. */
  drop?: 'before' | 'after';
  /** Do the work and answer with something that is not JSON. */
  malformed?: boolean;
  /** How often; without it until it is cleared. */
  times?: number;
}

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
