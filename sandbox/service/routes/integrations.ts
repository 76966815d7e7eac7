import { createRoute, z } from '@hono/zod-openapi';
import { inProject, permit } from '../api/access.ts';
import type { AccountApp } from '../api/app.ts';
import type { AccountMiddleware } from '../api/env.ts';
import { invalid, recordNotFound } from '../api/failure.ts';
import { choice, flag, text } from '../api/fields.ts';
import { invalidFields, json, usualFailures } from '../api/responses.ts';
import { Timestamp, timestamp } from '../api/timestamps.ts';
import { assignGiven } from '../world/assign-given.ts';
import { checkProperties, HOOK_TYPES, isOauthHook, knownProperties } from '../world/hook-types.ts';
import { createToken } from '../world/ids.ts';
import type { Integration as IntegrationRecord, Project } from '../world/project-records.ts';
import { addIntegration } from '../world/projects.ts';
import type { Account, World } from '../world/records.ts';

const [FIRST_TYPE = '', ...OTHER_TYPES] = Object.keys(HOOK_TYPES);

const Integration = z
  .strictObject({
    identifier: z.string(),
    hook_type: z.string(),
    name: z.string(),
    send_on_start: z.boolean(),
    send_on_completion: z.boolean(),
    send_on_failure: z.boolean(),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .openapi('Integration', { description: 'A notification target. Its properties are never given out.' });

const AuthRequired = z
  .strictObject({ auth_required: z.literal(true), auth_url: z.url() })
  .openapi('AuthRequired', { description: 'A person has to open the address in a browser.' });

/** Null takes a property away. */
const Properties = z
  .record(
    z.string(),
    z.union([z.string(), z.number(), z.boolean(), z.null()]).transform((value) => value && String(value)),
  )
  .openapi({ type: 'object', additionalProperties: { type: ['string', 'number', 'boolean', 'null'] } });

const flags = {
  send_on_start: flag().optional(),
  send_on_completion: flag().optional(),
  send_on_failure: flag().optional(),
  properties: Properties.optional(),
};

const NewIntegration = z
  .object({
    integration: z.object({ hook_type: choice([FIRST_TYPE, ...OTHER_TYPES]), name: text(), ...flags }),
  })
  .openapi('NewIntegration');

const IntegrationChanges = z
  .object({ integration: z.object({ name: text().optional(), ...flags }) })
  .openapi('IntegrationChanges');
type Changes = z.infer<typeof IntegrationChanges>['integration'];

const tags = ['Integrations'];
const middleware: AccountMiddleware[] = [permit('integrations'), inProject];

const Created = z.union([Integration, AuthRequired]);
const CREATED = 'The new integration, or for the OAuth types where to authorise it.';

const createIntegration = createRoute({
  method: 'post',
  path: '/projects/{project}/integrations',
  tags,
  summary: 'Set up an integration',
  middleware,
  request: {
    params: z.object({ project: z.string() }),
    body: { required: true, content: { 'application/json': { schema: NewIntegration } } },
  },
  responses: {
    200: json(Created, CREATED),
    201: json(Created, CREATED),
    ...usualFailures,
    ...invalidFields,
  },
});

const updateIntegration = createRoute({
  method: 'patch',
  path: '/projects/{project}/integrations/{identifier}',
  tags,
  summary: 'Change an integration',
  middleware,
  request: {
    params: z.object({ project: z.string(), identifier: z.string() }),
    body: { required: true, content: { 'application/json': { schema: IntegrationChanges } } },
  },
  responses: {
    200: json(z.union([Integration, AuthRequired]), 'The integration, or where to authorise it again.'),
    ...usualFailures,
    ...invalidFields,
  },
});

/** A flag that the specification does not have, so the description of the routes leaves it out. */
const CheckFlag = z.object({
  integration: z.object({ send_on_check_failed: flag().optional().catch(undefined) }),
});

function readCheckFlag(body: unknown): { sendOnCheckFailed: boolean | undefined } {
  return { sendOnCheckFailed: CheckFlag.safeParse(body).data?.integration.send_on_check_failed };
}

function findIntegration(project: Project, identifier: string): IntegrationRecord {
  const integration = project.integrations.find((candidate) => candidate.identifier === identifier);
  if (integration === undefined) throw recordNotFound();
  return integration;
}

const path = '/projects/{project}/integrations';
const params = z.object({ project: z.string(), identifier: z.string() });
/** Operations beyond the specification, so the description of the routes leaves them out. */
const beyond = { hide: true, middleware, responses: { 200: { description: 'The record or records.' } } };
const listIntegrations = createRoute({ ...beyond, method: 'get', path });
const onePath = { ...beyond, path: `${path}/{identifier}`, request: { params } } as const;
const getIntegration = createRoute({ ...onePath, method: 'get' });
const deleteIntegration = createRoute({ ...onePath, method: 'delete' });

function addListed(app: AccountApp): void {
  app.openapi(listIntegrations, (c) => c.json(c.get('project').integrations.map(toListed)));
  app.openapi(getIntegration, (c) =>
    c.json(toListed(findIntegration(c.get('project'), c.req.valid('param').identifier))),
  );
  app.openapi(deleteIntegration, (c) => {
    const project = c.get('project');
    const integration = findIntegration(project, c.req.valid('param').identifier);
    project.integrations = project.integrations.filter((one) => one !== integration);
    return c.json({ status: 'deleted' });
  });
}

function toListed(integration: IntegrationRecord) {
  return { ...toIntegration(integration), send_on_check_failed: integration.sendOnCheckFailed ?? false };
}

/** Spec 4.8. */
export function addIntegrations(app: AccountApp): void {
  addListed(app);
  app.openapi(createIntegration, async (c) => {
    const { world, account } = c.env;
    const project = c.get('project');
    const { hook_type: hookType, name, properties = {}, ...sendOn } = c.req.valid('json').integration;
    const known = refuseBadProperties(account, hookType, properties);
    const isOauth = isOauthHook(hookType);
    const integration = addIntegration(world, project, {
      hookType,
      name,
      ...namedFlags(sendOn),
      ...readCheckFlag(await c.req.json()),
      properties: known,
      active: !isOauth,
    });
    if (isOauth) return c.json(handOver(world, account, project, integration), 200);
    return c.json(toIntegration(integration), 201);
  });
  app.openapi(updateIntegration, async (c) => {
    const { world, account } = c.env;
    const project = c.get('project');
    const integration = findIntegration(project, c.req.valid('param').identifier);
    applyChanges(c.env, integration, c.req.valid('json').integration);
    assignGiven(integration, readCheckFlag(await c.req.json()));
    const answer = integration.active
      ? toIntegration(integration)
      : handOver(world, account, project, integration);
    return c.json(answer, 200);
  });
}

function refuseBadProperties(
  account: Account,
  hookType: string,
  given: Record<string, unknown>,
): Record<string, string> {
  const properties = knownProperties(hookType, given);
  const faults = checkProperties(hookType, properties, account.integrationRules);
  if (Object.keys(faults).length > 0) throw invalid(faults);
  return properties;
}

function namedFlags(given: Omit<Changes, 'properties' | 'name'>) {
  return {
    sendOnStart: given.send_on_start,
    sendOnCompletion: given.send_on_completion,
    sendOnFailure: given.send_on_failure,
  };
}

/** Another channel or the like makes an OAuth integration ask for consent again. */
function applyChanges(
  { world, account }: { world: World; account: Account },
  integration: IntegrationRecord,
  { name, properties, ...sendOn }: Changes,
): void {
  if (properties !== undefined) {
    const { hookType } = integration;
    const merged = { ...integration.properties, ...properties };
    integration.properties = refuseBadProperties(account, hookType, merged);
    if (isOauthHook(hookType)) integration.active = false;
  }
  assignGiven(integration, { name, ...namedFlags(sendOn) });
  integration.updatedAt = world.clock.now();
}

function handOver(
  world: World,
  account: Account,
  project: Project,
  integration: IntegrationRecord,
): z.infer<typeof AuthRequired> {
  const token = createToken();
  world.handOvers.set(token, {
    account: account.name,
    project: project.identifier,
    integration: integration.identifier,
  });
  return { auth_required: true, auth_url: `${world.origin}/integrations/authorise/${token}` };
}

function toIntegration(integration: IntegrationRecord): z.infer<typeof Integration> {
  return {
    identifier: integration.identifier,
    hook_type: integration.hookType,
    name: integration.name,
    send_on_start: integration.sendOnStart,
    send_on_completion: integration.sendOnCompletion,
    send_on_failure: integration.sendOnFailure,
    ...showCheckFlag(integration),
    created_at: timestamp(integration.createdAt),
    updated_at: timestamp(integration.updatedAt),
  };
}

/** Shown to those who have sent it. */
function showCheckFlag({ sendOnCheckFailed }: IntegrationRecord): object {
  return sendOnCheckFailed === undefined ? {} : { send_on_check_failed: sendOnCheckFailed };
}
