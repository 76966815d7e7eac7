import { z } from 'zod';
import { takeStart } from './mrkdwn.ts';
import { matchesPattern } from './names.ts';

/** A project in records, buttons and forms. */
export const ProjectRef = z.object({
  /** Survives a rename. Undefined if the service gave none; the permalink then identifies the project. */
  identifier: z.string().optional(),
  permalink: z.string(),
  name: z.string(),
});
export interface ProjectRef extends z.infer<typeof ProjectRef> {}

/** Identifies a project, in a record or in an event. */
export type ProjectKey = Pick<ProjectRef, 'identifier' | 'permalink'>;

/** The project in paths of the service (API 1 in docs/service-api.md) and in keys of records. */
export function projectId({ identifier, permalink }: ProjectKey): string {
  return identifier || permalink;
}

/** The keys of a project that a record keeps under one of them. */
export function splitKey({
  project,
  permalink = '',
}: {
  project: string;
  permalink?: string | undefined;
}): ProjectKey {
  return project === permalink ? { permalink } : { identifier: project, permalink };
}

/** Compares identifiers if both have one: another project may have taken the permalink. */
export function isSameProject(one: ProjectKey, other: ProjectKey): boolean {
  if (one.identifier && other.identifier) return one.identifier === other.identifier;
  return one.permalink === other.permalink;
}

/** True if both are the same project, or both undefined. */
export function isSameOrNone(one: ProjectKey | undefined, other: ProjectKey | undefined): boolean {
  return one === undefined || other === undefined ? one === other : isSameProject(one, other);
}

/** The projects of a schedule: one, those whose name matches a pattern such as `shop-*`, or all. */
export interface ProjectScope {
  project?: ProjectRef | undefined;
  pattern?: string | undefined;
}

export function isInScope(
  { project, pattern }: ProjectScope,
  candidate: ProjectKey & { name?: string | undefined },
): boolean {
  if (project !== undefined) return isSameProject(project, candidate);
  return pattern === undefined || matchesPattern(pattern, { ...candidate, name: candidate.name ?? '' });
}

/** Foreign names may be long, but buttons and forms hold few characters. */
const MAX_NAME = 100;

export function toProjectRef({ identifier, permalink, name }: ProjectRef): ProjectRef {
  return { ...(identifier ? { identifier } : {}), permalink, name: takeStart(name, MAX_NAME) };
}
