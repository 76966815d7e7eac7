import { InstallationEnded } from '../core/errors.ts';
import { type Engine, type Job, type JobOptions, JobPostponed, type JobType } from '../jobs/jobs.ts';
import { isTokenRefused } from '../slack/failure.ts';
import type { Workspace, Workspaces } from './workspace.ts';

/** A kind of durable job: the schema of its data, and the function that runs it for a workspace. */
export interface JobDefinition<Data> extends JobType<Data> {
  options: JobOptions;
  handle(workspace: Workspace, job: Job<Data>): Promise<void>;
  /** Called with a job whose last attempt failed. Called again only if the process dies during the call. */
  onDeadLetter?(workspace: Workspace, data: Data, error: unknown): Promise<void>;
}

/** Lets the schema type the data of `handle` and `onDeadLetter`. */
export function defineJob<Data>(definition: JobDefinition<Data>): JobDefinition<Data> {
  return definition;
}

/** Pause of a job before it tries a refused token again. */
const TOKEN_WAIT_MS = 10_000;

interface WorkParts {
  engine: Engine;
  workspaces: Workspaces;
  afterAcks(): Promise<void>;
  /** True if nobody waits for the jobs. They then pause while Slack refuses the token. */
  waitsForToken: boolean;
}

/** Declares the worker of a queue: its jobs run with the context of their workspace. */
export function workWith<Data>(
  { engine, workspaces, afterAcks, waitsForToken }: WorkParts,
  { handle, onDeadLetter, options, ...type }: JobDefinition<Data>,
): void {
  async function ifInstalled(
    id: string,
    work: (workspace: Workspace) => Promise<void> | undefined,
  ): Promise<void> {
    const workspace = await workspaces.enterInstalled(id);
    // An `await` here would keep the job's request in memory while the job runs.
    return workspace && endWithInstallation(workspace, work(workspace));
  }
  engine.work(type, {
    options,
    async handle(id, job) {
      await afterAcks();
      try {
        return await ifInstalled(id, (workspace) => handle(workspace, job));
      } catch (error) {
        if (!waitsForToken || !isTokenRefused(error)) throw error;
        throw new JobPostponed(TOKEN_WAIT_MS, { cause: error });
      }
    },
    onDeadLetter: (id, data, error) => ifInstalled(id, (workspace) => onDeadLetter?.(workspace, data, error)),
  });
}

/** Drops the work of a workspace that has removed Deckhand. It is not tried again. */
export async function endWithInstallation(
  { log }: Pick<Workspace, 'log'>,
  work: Promise<void> | undefined,
): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!(error instanceof InstallationEnded)) throw error;
    log.info({ event: 'installation_ended' }, 'Work of an ended installation dropped');
  }
}
