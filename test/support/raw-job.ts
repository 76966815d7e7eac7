import { z } from 'zod';
import type { JobType } from '../../src/jobs/jobs.ts';

/** A queue that takes any data, as from an earlier process. */
export function rawJob(queue: string): JobType<unknown> {
  return { queue, schema: z.unknown() };
}
