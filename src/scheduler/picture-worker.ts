import { parentPort } from 'node:worker_threads';
import type { DeploymentsData } from '../views/deployments-chart.ts';
import { drawDeployments } from './picture.ts';

let before = Promise.resolve();

/** The thread of `pictures.ts`: draws what it is sent, one after the other, since each takes megabytes while it is drawn. */
parentPort?.on('message', (asked: { id: number; data: DeploymentsData }) => {
  before = before.then(() => answer(asked));
});

async function answer({ id, data }: { id: number; data: DeploymentsData }): Promise<void> {
  try {
    parentPort?.postMessage({ id, png: await drawDeployments(data) });
  } catch (error) {
    parentPort?.postMessage({ id, fault: error instanceof Error ? error.message : String(error) });
  }
}
