import { z } from 'zod';
import type { AccountClient } from './client.ts';
import {
  Flag,
  Identifier,
  type ListOptions,
  listUnder,
  NullableTimestamp,
  OptionalText,
  requestRows,
} from './shapes.ts';

/** Only the fields we need: the whole record holds an address that starts deployments. API 4.11 shows no shape. */
export const Project = z
  .object({
    name: OptionalText,
    permalink: Identifier.optional().catch(undefined),
    identifier: Identifier.optional().catch(undefined),
    last_deployed_at: NullableTimestamp,
    starred: Flag,
  })
  .transform(({ name, permalink, identifier, last_deployed_at, starred }, context) => {
    const key = permalink ?? identifier;
    if (key === undefined) {
      context.addIssue('neither permalink nor identifier');
      return z.NEVER;
    }
    return { name: name || key, permalink: key, identifier: identifier ?? key, last_deployed_at, starred };
  });
export type Project = z.infer<typeof Project>;

/** The account's projects, starred ones first, otherwise in the service's order. API 4.11 (docs/service-api.md). */
export async function listProjects(account: AccountClient, options?: ListOptions): Promise<Project[]> {
  const call = { operation: 'listProjects', path: ['projects.json'] };
  const projects = await requestRows(account, listUnder('projects'), Project, call, options);
  return projects.toSorted((one, other) => Number(other.starred) - Number(one.starred));
}
