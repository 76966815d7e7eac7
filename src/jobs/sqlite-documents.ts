import { z } from 'zod';

const JobPayload = z.looseObject({ workspace: z.string() });

/** A job as it is stored, until it is done. */
export const StoredJob = z.object({
  queue: z.string(),
  key: z.string().optional(),
  data: JobPayload,
  dueAt: z.number(),
  /** When `dueAt` was set, by the same clock. */
  setAt: z.number().default(0),
  /** How often it was started and not handed back. */
  starts: z.number(),
  failures: z.number(),
  /** Why the last attempt failed, until that has been reported. */
  dead: z.string().optional(),
  /** W3C's, of the span it was sent in; only where traces are on. */
  traceparent: z.string().optional(),
});
export type StoredJob = z.infer<typeof StoredJob>;

/** When it is due by a clock that may have been set back since: no wait is longer than it was meant. */
export function dueBy({ dueAt, setAt }: Pick<StoredJob, 'dueAt' | 'setAt'>, now: number): number {
  return setAt > now ? now + dueAt - setAt : dueAt;
}

/** A schedule as it is stored, until it is taken away. */
export const StoredSchedule = z.object({
  workspace: z.string(),
  cron: z.string(),
  zone: z.string(),
  queue: z.string(),
  data: JobPayload,
  /** Slots up to this instant have been dealt with. */
  doneUpTo: z.number(),
});
export type StoredSchedule = z.infer<typeof StoredSchedule>;
