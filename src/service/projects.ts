import { z } from 'zod';
import { jsonOf } from './answer.ts';
import type { CallOptions } from './call.ts';
import type { AccountClient } from './client.ts';
import { Flag, Identifier, listUnder, NullableTimestamp, OptionalText } from './shapes.ts';

/** Only what is needed: the whole record holds an address that starts deployments. Spec 4.11 shows no shape. */
export const Project = z
  .object({
    name: OptionalText,
    permalink: Identifier.optional(),
    identifier: Identifier.optional(),
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

const Projects = listUnder('projects', Project);

/** The account's projects, starred ones first, otherwise in the service's order. Spec 4.11. */
export async function listProjects(account: AccountClient, options?: CallOptions): Promise<Project[]> {
  const projects = await account.send(
    {
      operation: 'listProjects',
      method: 'GET',
      path: ['projects.json'],
      scope: 'account',
      read: jsonOf(Projects),
    },
    options,
  );
  return projects.toSorted((one, other) => Number(other.starred) - Number(one.starred));
}
