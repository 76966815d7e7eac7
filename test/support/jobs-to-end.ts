import { expect } from 'vitest';
import type { TestWorld } from './test-world.ts';

/** Resolves once no job waits or runs. @param only names of queues; all by default */
export async function jobsToEnd({ app }: Pick<TestWorld, 'app'>, only?: readonly string[]): Promise<void> {
  const isBusy = async () =>
    Object.entries(await app.parts.engine.stats()).some(
      ([queue, { waiting, running }]) => (only?.includes(queue) ?? true) && waiting + running > 0,
    );
  await expect.poll(isBusy).toBe(false);
}
