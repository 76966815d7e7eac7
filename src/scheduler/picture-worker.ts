import { parentPort } from 'node:worker_threads';
import type { DeploymentsData } from '../views/deployments-chart.ts';
import { drawDeployments } from './picture.ts';

/** The thread of `pictures.ts`: draws what it is sent, one after the other. */
parentPort?.on('message', async ({ id, data }: { id: number; data: DeploymentsData }) => {
  try {
    parentPort?.postMessage({ id, png: await drawDeployments(data) });
  } catch (error) {
    parentPort?.postMessage({ id, fault: error instanceof Error ? error.message : String(error) });
  }
});
