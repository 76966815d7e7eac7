import { z } from 'zod';
import { jsonOf } from './answer.ts';
import type { CallOptions } from './call.ts';
import type { AccountClient } from './client.ts';
import { Server } from './servers.ts';
import { Flag, Identifier } from './shapes.ts';

/** Spec 2.9. `packages`: version by name of a language or tool, an open map. */
export const BuildConfiguration = z.object({
  identifier: Identifier,
  packages: z
    .record(z.string(), Identifier.nullable())
    .nullish()
    .transform((packages) => packages ?? {}),
  default: Flag,
  servers: z
    .array(Server)
    .nullish()
    .transform((servers) => servers ?? []),
});
export type BuildConfiguration = z.infer<typeof BuildConfiguration>;

/** The language and tool versions of a project's builds. Spec 4.7. `project`: permalink or identifier. */
export function getBuildConfiguration(
  account: AccountClient,
  project: string,
  id: string,
  options?: CallOptions,
): Promise<BuildConfiguration> {
  return account.send(
    {
      operation: 'getBuildConfiguration',
      method: 'GET',
      path: ['projects', project, 'build_configurations', id],
      scope: 'record',
      read: jsonOf(BuildConfiguration),
    },
    options,
  );
}
