import { z } from 'zod';
import { parseData } from './jobs.ts';
import type { NewJob } from './jobs-backend.ts';
import { takePast, withPast } from './run-job.ts';
import { type Query, StoredSchedule } from './schedule-table.ts';

/** A job as it goes from one store to another, whatever keeps it there. */
export const PortableJob = z.object({
  /** What it is known by, in each store that it was in. */
  id: z.string(),
  queue: z.string(),
  key: z.string().nullable(),
  workspace: z.string(),
  /** Text, because it may be of a job that was set aside. */
  data: z.string(),
  due: z.number(),
  /** How often it was begun, hand-backs apart. */
  attempts: z.number(),
  failures: z.number(),
  dead: z.string().nullable(),
  traceparent: z.string().nullable(),
  isSetAside: z.boolean(),
});
export type PortableJob = z.infer<typeof PortableJob>;

export const PortableSchedule = StoredSchedule.extend({
  /** Null where it was set aside. */
  nextAt: z.number().nullable(),
});
export type PortableSchedule = z.infer<typeof PortableSchedule>;

/** All jobs and schedules of a store, within one transaction. */
export interface JobsTable {
  schedules(): Promise<PortableSchedule[]>;
  jobs(): AsyncIterable<PortableJob>;
  addSchedules(schedules: readonly PortableSchedule[]): Promise<void>;
  addJobs(jobs: readonly PortableJob[]): Promise<void>;
}

const SCHEDULES = `SELECT workspace, key, cron, zone, queue, data, CAST(next_at AS double precision) AS "nextAt"
  FROM deckhand_schedules ORDER BY workspace, key`;
const ADD_SCHEDULE = `INSERT INTO deckhand_schedules (workspace, key, cron, zone, queue, data, next_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7)`;

/** The same on either database. */
export function portableSchedules(query: Query): Pick<JobsTable, 'schedules' | 'addSchedules'> {
  return {
    schedules: async () => z.array(PortableSchedule).parse(await query(SCHEDULES, [])),
    async addSchedules(schedules) {
      for (const { workspace, key, cron, zone, queue, data, nextAt } of schedules)
        await query(ADD_SCHEDULE, [workspace, key, cron, zone, queue, data, nextAt]);
    },
  };
}

/** With what an earlier move left in its data. */
export function portableJob(job: PortableJob): PortableJob {
  const stored = parseData(job.data);
  if (stored === undefined) return job;
  const { data, past } = takePast(stored);
  return {
    ...job,
    id: past.id ?? job.id,
    data: JSON.stringify(data),
    attempts: past.attempts + job.attempts,
    failures: past.failures + job.failures,
    dead: job.dead ?? past.dead ?? null,
  };
}

/** The job as it is stored anew. */
export function newJob(job: PortableJob, now: number): NewJob {
  const { id, key, workspace, attempts, failures, dead, traceparent } = job;
  const data = parseData(job.data);
  const past = { id, attempts, failures, ...(dead === null ? {} : { dead }) };
  return {
    key: key ?? undefined,
    workspace,
    data: data === undefined ? job.data : JSON.stringify(withPast(data, past)),
    delayMs: Math.max(0, job.due - now),
    traceparent: traceparent ?? undefined,
  };
}
