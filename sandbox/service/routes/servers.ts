import { createRoute, z } from '@hono/zod-openapi';
import { inProject, permit } from '../api/access.ts';
import type { AccountApp } from '../api/app.ts';
import type { AccountMiddleware } from '../api/env.ts';
import { recordNotFound } from '../api/failure.ts';
import { invalidFields, json, usualFailures } from '../api/responses.ts';
import { findServer } from '../world/find.ts';
import { createServer, NewServer } from './new-server.ts';
import { Server, toServer } from './server-record.ts';

const tags = ['Servers'];
const middleware: AccountMiddleware[] = [permit('servers'), inProject];

const listServers = createRoute({
  method: 'get',
  path: '/projects/{project}/servers',
  tags,
  summary: 'All servers of a project',
  middleware,
  request: { params: z.object({ project: z.string() }) },
  responses: { 200: json(z.array(Server), 'The servers.'), ...usualFailures },
});

const addServer = createRoute({
  method: 'post',
  path: '/projects/{project}/servers',
  tags,
  summary: 'Make a server; a managed one is provisioned afterwards',
  middleware,
  request: {
    params: z.object({ project: z.string() }),
    body: { required: true, content: { 'application/json': { schema: NewServer } } },
  },
  responses: {
    200: json(Server, 'The new server.'),
    201: json(Server, 'The new server.'),
    ...usualFailures,
    ...invalidFields,
  },
});

const showServer = createRoute({
  method: 'get',
  path: '/projects/{project}/servers/{server}',
  tags,
  summary: 'One server; ask until a managed one is active',
  middleware,
  request: { params: z.object({ project: z.string(), server: z.string() }) },
  responses: { 200: json(Server, 'The server.'), ...usualFailures },
});

/** Spec 4.4; the list is not in the spec, but services of this kind have it. */
export function addServers(app: AccountApp): void {
  app.openapi(listServers, (c) => {
    const { world, account } = c.env;
    return c.json(
      c.get('project').servers.map((server) => toServer(world, account, server)),
      200,
    );
  });
  app.openapi(addServer, (c) => {
    const { world, account } = c.env;
    const place = { world, account, project: c.get('project'), user: c.get('user') };
    return c.json(toServer(world, account, createServer(place, c.req.valid('json'))), 201);
  });
  app.openapi(showServer, (c) => {
    const server = findServer(c.get('project'), c.req.valid('param').server);
    if (server === undefined) throw recordNotFound();
    return c.json(toServer(c.env.world, c.env.account, server), 200);
  });
}
