import { isDeepStrictEqual } from 'node:util';
import { isSameOrNone, isSameProject, type ProjectRef, toProjectRef } from '../core/project-ref.ts';
import type { createChannels } from '../records/channels.ts';
import type { createSchedules } from '../records/schedules.ts';

export interface NamingRecords {
  channels: Pick<ReturnType<typeof createChannels>, 'list' | 'change'>;
  schedules: Pick<ReturnType<typeof createSchedules>, 'all' | 'change'>;
}

/**
 * Stores the present names of projects in the schedules and bound channels of an account, so that whatever shows them without a call of
 * the service has the new name after a rename.
 */
export async function storePresentNames(
  { channels, schedules }: NamingRecords,
  account: string,
  projects: readonly ProjectRef[],
): Promise<void> {
  const findPresent = indexPresent(projects);
  for (const schedule of await schedules.all()) {
    if (!('project' in schedule) || schedule.account !== account) continue;
    const present = findPresent(schedule.project);
    if (present !== undefined)
      await schedules.change(schedule, (current) =>
        'project' in current && isSameOrNone(current.project, present)
          ? { ...current, project: present }
          : current,
      );
  }
  for (const { id, account: own = account, project } of await channels.list()) {
    const present = own === account ? findPresent(project) : undefined;
    if (present !== undefined)
      await channels.change(id, (current) =>
        isSameOrNone(current.project, present) ? { ...current, project: present } : current,
      );
  }
}

/** Returns a function that finds the present name of a project; undefined if it is the same, or the project is not listed. */
function indexPresent(projects: readonly ProjectRef[]) {
  const byIdentifier = new Map(projects.map((project) => [project.identifier, project]));
  const byPermalink = new Map(projects.map((project) => [project.permalink, project]));
  return (project: ProjectRef | undefined): ProjectRef | undefined => {
    if (project === undefined) return undefined;
    const match = project.identifier ? byIdentifier.get(project.identifier) : undefined;
    const candidate = match ?? byPermalink.get(project.permalink);
    if (candidate === undefined || !isSameProject(candidate, project)) return undefined;
    const present = toProjectRef({ ...candidate, identifier: project.identifier ?? candidate.identifier });
    return isDeepStrictEqual(present, project) ? undefined : present;
  };
}
