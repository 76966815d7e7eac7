import process from 'node:process';
import type { DeploymentsData } from '../views/activity/deployments-chart.ts';

/** The process of `pictures.ts`. */
process.on('message', (picture: { id: number; data: DeploymentsData }) => void answer(picture));
process.on('disconnect', () => process.exit());
// Sent to both from a terminal or by systemd, while the other still ends its work and may need pictures for it.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => undefined);

async function answer({ id, data }: { id: number; data: DeploymentsData }): Promise<void> {
  try {
    // Loaded here, so that what is missing is said in the answer too.
    const { drawDeployments } = await import('./picture.ts');
    process.send?.({ id, png: drawDeployments(data) });
  } catch (error) {
    process.send?.({ id, fault: error instanceof Error ? error.message : String(error) });
  }
}
