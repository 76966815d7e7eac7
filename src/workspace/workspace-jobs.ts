import type { JobType } from '../core/job.ts';
import type { Engine, SendOptions } from '../jobs/jobs.ts';
import type { AskTenancy } from '../store/store.ts';

/** When a schedule's job is sent, and with what. */
export interface JobSchedule<Data> {
  /** Five-field cron expression. */
  cron: string;
  /** IANA time zone the fields are meant in. */
  zone: string;
  job: JobType<Data>;
  /** Its job gets the time of the occurrence as `slotAt` as well. */
  data: Omit<Data, 'slotAt'>;
  /** As in `SendOptions`, of its jobs. */
  lane?: string | undefined;
}

/** The jobs and schedules of one workspace. */
export interface WorkspaceJobs {
  /** False if the key is taken in the queue. */
  send<Data>(job: JobType<Data>, data: Data, options?: Omit<SendOptions, 'during'>): Promise<boolean>;
  /** As `Engine.schedule`. @throws CronError if the expression or the zone is wrong */
  schedule<Data>(key: string, schedule: JobSchedule<Data>): Promise<void>;
  unschedule(key: string): Promise<void>;
}

/** What is sent once the tenancy `during` has ended is refused. */
export function bindJobs(engine: Engine, workspace: string, during: AskTenancy | undefined): WorkspaceJobs {
  return {
    send: async ({ queue }, data, { key, ...options } = {}) =>
      engine.send(
        queue,
        { ...data, workspace },
        {
          ...options,
          ...(key === undefined ? {} : { key: `${workspace} ${key}` }),
          during: await during?.(),
        },
      ),
    schedule: async (key, { cron, zone, job, data, lane }) =>
      engine.schedule(
        workspace,
        key,
        { cron, zone, lane, queue: job.queue, data: { ...data, workspace } },
        await during?.(),
      ),
    unschedule: (key) => engine.unschedule(workspace, key),
  };
}
