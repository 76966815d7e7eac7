import { setTimeout as pause } from 'node:timers/promises';
import type { SimulatedService } from '../service/server.ts';

const ACCOUNT = 'acme';
/** Between what happens in an outage, in milliseconds. */
const STEP_MS = 15_000;
/** From one outage to the next. */
const PAUSE_MS = 150_000;
/** The feed must not fill up in a demo that is left open. */
const MAX_OUTAGES = 10;

/** One deployment that goes well, or fails by this cause: `host` if a server of the project refuses connections. */
export function deploy(
  service: SimulatedService,
  project: string,
  outcome: 'ok' | 'build' | 'check' | 'host',
): void {
  const endRef = Math.random().toString(16).slice(2, 10).padEnd(8, '0');
  const deployment = { account: ACCOUNT, project, endRef, user: 'Grace Park' };
  if (outcome === 'ok' || outcome === 'host')
    service.world.addDeployment({ ...deployment, succeeded: outcome === 'ok' });
  else service.world.addDeployment({ ...deployment, succeeded: false, failure: { cause: outcome } });
}

/** Now and then a project fails twice and recovers, the first time within half a minute of somebody's first watch. */
export async function haveOutages(service: SimulatedService, signal: AbortSignal): Promise<void> {
  try {
    for (let outage = 0; outage < MAX_OUTAGES; outage += 1) {
      await service.requests.next(({ path }) => path.endsWith('/activity'), signal);
      for (const result of ['build', 'check', 'ok'] as const) {
        await pause(STEP_MS, undefined, { signal });
        deploy(service, 'billing-api', result);
      }
      await pause(PAUSE_MS, undefined, { signal });
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
