import { z } from 'zod';
import { takeStart } from './mrkdwn.ts';

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

/** Compares identifiers if both have one: another project may have taken the permalink. */
export function isSameProject(one: ProjectKey, other: ProjectKey): boolean {
  if (one.identifier && other.identifier) return one.identifier === other.identifier;
  return one.permalink === other.permalink;
}

/** True if both are the same project, or both undefined. */
export function isSameOrNone(one: ProjectKey | undefined, other: ProjectKey | undefined): boolean {
  return one === undefined || other === undefined ? one === other : isSameProject(one, other);
}

/** Foreign names may be long, but buttons and forms hold few characters. */
const MAX_NAME = 100;

export function toProjectRef({ identifier, permalink, name }: ProjectRef): ProjectRef {
  return { ...(identifier ? { identifier } : {}), permalink, name: takeStart(name, MAX_NAME) };
}
