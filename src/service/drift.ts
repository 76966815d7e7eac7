import { z } from 'zod';
import { ServiceError } from '../core/errors.ts';
import { isObject } from '../core/json.ts';
import { type Endpoint, requestJson } from './call.ts';

/** Operations that Deckhand calls, with the required fields of docs/service-api.md. Undefined: it shows no payload. */
const OPERATIONS: ReadonlyArray<[operation: string, required: readonly string[] | undefined]> = [
  ['POST /api/v1/signup', ['email', 'password', 'terms_accepted']],
  ['POST /beta/enrollments', []],
  ['GET /profile', []],
  ['GET /projects', []],
  ['POST /projects/{}/servers', undefined],
  ['GET /projects/{}/servers/{}', []],
  ['GET /hosted_resources', []],
  ['GET /hosted_resources/{}', []],
  ['POST /hosted_resources/{}/sync', []],
  ['GET /managed_hosting/regions', []],
  ['GET /managed_hosting/sizes', []],
  ['POST /projects/{}/test_access', []],
  ['POST /projects/{}/servers/{}/test_access', []],
  ['GET /projects/{}/test_access/{}', []],
  ['GET /projects/{}/build_configurations/{}', []],
  ['POST /projects/{}/integrations', ['integration.hook_type', 'integration.name']],
  ['PATCH /projects/{}/integrations/{}', []],
  ['GET /activity', []],
  ['GET /account/invoices', []],
  ['GET /account/invoices/{}.pdf', []],
];

/** OpenAPI 2 or 3. A part of another shape counts as absent. */
const Description = z.looseObject({
  paths: z.record(z.string(), z.unknown()),
  basePath: z.string().catch(''),
  servers: z.array(z.looseObject({ url: z.string() })).catch([]),
});
type Description = z.infer<typeof Description>;

/** Reads the machine-readable description, {signup_url}/docs.json. API 1.7 (docs/service-api.md). @throws ServiceError */
function getDescription(signup: Endpoint): Promise<Description> {
  const call = { operation: 'getDescription', path: ['docs.json'], scope: 'signup' as const };
  return requestJson(signup, Description, call);
}

/** Describes the differences between the description and Deckhand's calls, a sentence each. */
export function findDrift(description: Description): string[] {
  const described = readOperations(description);
  return OPERATIONS.flatMap(([operation, required]) => {
    const fields = described.get(operation);
    if (fields === undefined) return [`${operation} is not in the description.`];
    if (required === undefined) return [];
    const added = fields.filter((field) => !required.includes(field));
    const dropped = required.filter((field) => !fields.includes(field));
    return [
      ...added.map((field) => `${operation} requires ${field}, which Deckhand does not always send.`),
      ...dropped.map((field) => `${operation} does not require ${field} any more.`),
    ];
  });
}

/** Reads the required fields by operation. A path counts with and without the base paths of the description. */
function readOperations(description: Description): Map<string, string[]> {
  const { paths, basePath, servers } = description;
  const bases = servers.map(({ url }) => url.replace(/^[a-z]+:\/\/[^/]*/i, ''));
  const operations = new Map<string, string[]>();
  for (const [path, item] of Object.entries(paths)) {
    if (!isObject(item)) continue;
    for (const method of ['get', 'post', 'patch']) {
      const operation = item[method];
      if (!isObject(operation)) continue;
      const fields = listRequired(
        description,
        [...listAt(item.parameters), ...listAt(operation.parameters)],
        operation,
      );
      for (const base of ['', basePath, ...bases])
        operations.set(`${method.toUpperCase()} ${normalizePath(base + path)}`, fields);
    }
  }
  return operations;
}

/** Ignores names of parameters, `.json` and a slash at the end. */
function normalizePath(path: string): string {
  const plain = path.replace(/\{[^{}]*\}/g, '{}').replace(/:\w+/g, '{}');
  return plain.replace(/\/+/g, '/').replace(/(?:\.json|\.\{\}|\(\.\{\}\))?\/?$/, '');
}

function listRequired(
  description: Description,
  parameters: readonly unknown[],
  operation: Record<string, unknown>,
): string[] {
  const fields: string[] = [];
  for (const parameter of parameters.map((one) => resolve(description, one))) {
    if (parameter.in === 'body') fields.push(...collectRequired(description, parameter.schema));
    else if (parameter.required === true && (parameter.in === 'query' || parameter.in === 'formData'))
      fields.push(String(parameter.name));
  }
  const content = resolve(description, operation.requestBody).content;
  const [body] = isObject(content) ? Object.values(content) : [];
  return [...new Set([...fields, ...collectRequired(description, isObject(body) ? body.schema : undefined)])];
}

/** The API's bodies are flat, or have one object around their fields. */
const DEEPEST = 2;

function collectRequired(description: Description, schema: unknown, depth = 1): string[] {
  const { required, properties, allOf } = resolve(description, schema);
  const own = listAt(required).flatMap((name) => {
    const property = isObject(properties) ? properties[String(name)] : undefined;
    const inner = depth < DEEPEST ? collectRequired(description, property, depth + 1) : [];
    const isObjectType = isObject(resolve(description, property).properties);
    return isObjectType ? inner.map((field) => `${name}.${field}`) : [String(name)];
  });
  const parts =
    depth < DEEPEST + 1 ? listAt(allOf).flatMap((part) => collectRequired(description, part, depth + 1)) : [];
  return [...own, ...parts];
}

/** Follows a reference within the description. */
function resolve(description: Description, part: unknown): Record<string, unknown> {
  if (!isObject(part)) return {};
  if (typeof part.$ref !== 'string') return part;
  const steps = part.$ref.replace(/^#\//, '').split('/');
  const target = steps.reduce<unknown>(
    (at, step) => (isObject(at) && Object.hasOwn(at, step) ? at[step] : undefined),
    description,
  );
  return isObject(target) ? target : {};
}

function listAt(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The differences, or the reason why there is no comparison. */
export type DriftReport = { drift: readonly string[] } | { note: string };

/** Compares Deckhand's calls with the service's description. A missing description is not an error. */
export async function checkDrift(signup: Endpoint | undefined): Promise<DriftReport> {
  if (signup === undefined)
    return { note: 'SERVICE_SIGNUP_URL is not set, so there is no description to compare with.' };
  try {
    return { drift: findDrift(await getDescription(signup)) };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return { note: `The service's description could not be read (${error.status ?? error.kind}).` };
  }
}
