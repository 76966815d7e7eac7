import { z } from 'zod';
import type { JobData } from './jobs.ts';

/** What a job was in the store that it came from. It is kept with its data, so that it goes on as the same job. */
const Past = z.object({
  /** What it is known by: claims of forms and requests name it. */
  id: z.string().optional(),
  attempts: z.number(),
  failures: z.number(),
  dead: z.string().optional(),
});
export type Past = z.infer<typeof Past>;

export const NO_PAST: Past = { attempts: 0, failures: 0 };

const FIELD = 'came-with';

/** The data as it was sent. */
export function takePast(stored: JobData): { data: JobData; past: Past } {
  const past = Past.safeParse(stored[FIELD]).data;
  if (past === undefined) return { data: stored, past: NO_PAST };
  const { [FIELD]: _, ...data } = stored;
  return { data, past };
}

export function withPast(data: JobData, past: Past): JobData {
  return past === NO_PAST ? data : { ...data, [FIELD]: past };
}
