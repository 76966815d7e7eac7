import type { SimulatedService } from '../service/server.ts';

const ACCOUNT = 'acme';
/** After the start, and between what happens in an outage, in milliseconds. */
const STEP_MS = 15_000;
/** From one outage to the next. */
const PAUSE_MS = 150_000;
/** The feed must not fill up in a demo that is left open. */
const MAX_OUTAGES = 10;

/** One deployment that goes wrong, or well. */
export function deploy(service: SimulatedService, project: string, succeeded: boolean): void {
  const endRef = Math.random().toString(16).slice(2, 10).padEnd(8, '0');
  service.world.addDeployment({ account: ACCOUNT, project, succeeded, endRef, user: 'Grace Park' });
}

/** Now and then a project fails twice and recovers, the first time within a minute, for whoever watches it. */
export async function haveOutages(service: SimulatedService, signal: AbortSignal): Promise<void> {
  for (let outage = 0; outage < MAX_OUTAGES; outage += 1) {
    for (const succeeded of [false, false, true]) {
      if (!(await isLeftAlone(STEP_MS, signal))) return;
      deploy(service, 'billing-api', succeeded);
    }
    if (!(await isLeftAlone(PAUSE_MS, signal))) return;
  }
}

/** False where the demo ends meanwhile. */
async function isLeftAlone(ms: number, signal: AbortSignal): Promise<boolean> {
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
  return !signal.aborted;
}
