import { createRoute, z } from '@hono/zod-openapi';
import { inProject, permit } from '../api/access.ts';
import type { AccountApp } from '../api/app.ts';
import type { AccountMiddleware } from '../api/env.ts';
import { recordNotFound } from '../api/failure.ts';
import { json, usualFailures } from '../api/responses.ts';
import { ServerEntry, toServerEntry } from './server-record.ts';

const BuildConfiguration = z
  .strictObject({
    identifier: z.string(),
    packages: z.record(z.string(), z.string()).openapi({ description: 'Versions by language or tool.' }),
    default: z.boolean(),
    servers: z.array(ServerEntry),
  })
  .openapi('BuildConfiguration');

const middleware: AccountMiddleware[] = [permit('build_configurations'), inProject];

const showBuildConfiguration = createRoute({
  method: 'get',
  path: '/projects/{project}/build_configurations/{identifier}',
  tags: ['Build configurations'],
  summary: 'What a project is built with, and for which servers',
  middleware,
  request: { params: z.object({ project: z.string(), identifier: z.string() }) },
  responses: { 200: json(BuildConfiguration, 'The build configuration.'), ...usualFailures },
});

/** Spec 4.7. */
export function addBuildConfigurations(app: AccountApp): void {
  app.openapi(showBuildConfiguration, (c) => {
    const { buildConfigurations, servers } = c.get('project');
    const { identifier } = c.req.valid('param');
    const configuration = buildConfigurations.find((candidate) => candidate.identifier === identifier);
    if (configuration === undefined) throw recordNotFound();
    return c.json(
      {
        identifier,
        packages: configuration.packages,
        default: configuration.default,
        servers: servers
          .filter((server) => configuration.servers.includes(server.identifier))
          .map(toServerEntry),
      },
      200,
    );
  });
}
