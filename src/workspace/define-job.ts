import type { Job, JobOptions, JobType } from '../jobs/jobs.ts';
import type { Workspace } from './workspace.ts';

/** A kind of durable job: the shape of its data, and the function that runs it for one workspace. */
export interface JobDefinition<Data> extends JobType<Data> {
  options: JobOptions;
  /** A person waits for its answer, so it begins before what runs by itself. */
  isAwaited?: boolean;
  run(workspace: Workspace, job: Job<Data>): Promise<void>;
  /** Called with a job whose last attempt failed; again only if the process dies meanwhile. */
  onDeadLetter?(workspace: Workspace, data: Data, error: unknown): Promise<void>;
}

/** Lets the schema type the data of `run` and `onDeadLetter`. */
export function defineJob<Data>(definition: JobDefinition<Data>): JobDefinition<Data> {
  return definition;
}
