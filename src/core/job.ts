import type { z } from 'zod';

/** Where a job is sent to, and the shape of its data: all that a sender needs. Never a secret: data is stored as it is. */
export interface JobType<Data> {
  queue: string;
  schema: z.ZodType<Data>;
}

export interface Job<Data> {
  id: string;
  key: string | undefined;
  data: Data;
  /** 1 the first time, more after a failure or a take-over from a dead process. */
  attempt: number;
  /** Aborts when the process drains or the lease was lost: stop, and throw `signal.reason` to hand the job back. */
  signal: AbortSignal;
  /** Stores how far the job is; after a kill it starts again from here. */
  save(data: Data): Promise<void>;
}

export interface JobOptions {
  /** How many jobs of the queue run at once in this process. */
  concurrency: number;
  /** Failed attempts before the job is dead; neither a hand-back at drain nor a take-over counts. */
  attempts: number;
  /** First delay of the exponential back-off, in milliseconds (doubled each time, with jitter). */
  backoffMs: number;
  /** How long the key of a job stays taken after its end, in milliseconds: what is sent again until then is no second job. */
  keyStaysMs?: number;
  /** Its jobs go on from what they saved, so that draining may stop them at once instead of waiting for their end. */
  resumable?: boolean;
}
