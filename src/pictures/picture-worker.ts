import { parentPort } from 'node:worker_threads';
import type { DeploymentsData } from '../views/activity/deployments-chart.ts';
import { drawDeployments } from './picture.ts';

/** Each takes megabytes while it is drawn. With two, one is described here while another is painted in the pool. */
const AT_ONCE = 2;

const lanes = Array.from({ length: AT_ONCE }, () => Promise.resolve());
let asked = 0;

/** The thread of `pictures.ts`. */
parentPort?.on('message', (picture: { id: number; data: DeploymentsData }) => {
  const lane = asked++ % AT_ONCE;
  lanes[lane] = (lanes[lane] ?? Promise.resolve()).then(() => answer(picture));
});

async function answer({ id, data }: { id: number; data: DeploymentsData }): Promise<void> {
  try {
    parentPort?.postMessage({ id, png: await drawDeployments(data) });
  } catch (error) {
    parentPort?.postMessage({ id, fault: error instanceof Error ? error.message : String(error) });
  }
}
