import process from 'node:process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SimulatedService, startSimulatedService } from '../../sandbox/service/server.ts';
import { checkService } from '../../src/cli/check-service.ts';
import { callProgram, type Program } from '../../src/cli/program.ts';
import { parseConfig } from '../../src/config.ts';
import { systemClock } from '../../src/core/time/clock.ts';
import { createService } from '../../src/service/client.ts';
import { MIN_ENV, runDeckhand } from '../support/run-deckhand.ts';
import { startWire } from './wire.ts';

const CHECK: Program = {
  command: 'deckhand',
  help: '',
  main: ({ env }) => checkService(parseConfig(env)),
};

/** Runs the check as `deckhand --check-service` does. */
function check(env: Record<string, string> = {}): ReturnType<typeof callProgram> {
  return callProgram(CHECK, [], { ...MIN_ENV, ...env });
}

/** Runs the check against a description of somebody's own. */
async function checkAgainst(description: unknown): ReturnType<typeof callProgram> {
  await using wire = await startWire({ 'GET /docs.json': [{ json: description }] });
  return await check({ SERVICE_SIGNUP_URL: wire.origin });
}

interface Description {
  paths: Record<string, Record<string, unknown>>;
  [part: string]: unknown;
}

describe('--check-service', () => {
  let service: SimulatedService;
  let published: Description;
  beforeAll(async () => {
    service = await startSimulatedService();
    published = (await (await fetch(`${service.signupUrl}/docs.json`)).json()) as Description;
  });
  afterAll(() => service.stop());

  it('finds no drift in the description of the simulated service', async () => {
    const env = { ...MIN_ENV, SERVICE_SIGNUP_URL: service.signupUrl };
    expect(await runDeckhand({ args: ['--check-service'], env })).toEqual({
      code: 0,
      out: "The service's description agrees with Deckhand's calls, but leaves out 3 of them and 1 required field.\n",
      err: '',
    });
  });

  it('reads the address of SERVICE_DESCRIPTION_URL instead of one below the sign-up’s', async () => {
    await using wire = await startWire({ 'GET /v2/openapi.json': [{ json: { paths: {} } }] });
    const SERVICE_DESCRIPTION_URL = `${wire.origin}/v2/openapi.json`;
    const { out } = await check({ SERVICE_SIGNUP_URL: service.signupUrl, SERVICE_DESCRIPTION_URL });
    expect(out).toContain('leaves out 20 of them');
  });

  const newServer = { required: ['name', 'protocol_type', 'owner'], properties: { name: {} } };
  it.each([
    ['/api/v1/signup', { required: ['email', 'password', 'captcha'] }, 'captcha'],
    ['/projects/{p}/servers', { required: ['server', 'colour'] }, 'colour'],
    // The object around the fields is not always marked.
    ['/projects/{p}/servers', { properties: { server: newServer } }, 'server.owner'],
    ['/projects/{p}/servers', { allOf: [{ $ref: '#/components/schemas/New' }] }, 'server.owner'],
    ['/projects/{p}/servers', { $ref: '#/components/schemas/New', required: ['colour'] }, 'colour'],
    ['/projects/{p}/servers', { oneOf: [{ required: ['a', 'b'] }, { required: ['b', 'c'] }] }, 'b'],
  ])('%s: names a newly required field in %j', async (path, schema, field) => {
    const { paths } = published;
    const kept = Object.entries(paths).filter(([key]) => key !== '/projects/{project}/servers');
    const operation = { requestBody: { content: { 'application/json': { schema } } } };
    const components = { schemas: { New: { properties: { server: newServer } } } };
    const changed = { ...Object.fromEntries(kept), [path]: { post: operation } };
    const { code, err } = await checkAgainst({ paths: changed, components });
    expect(code).toBe(65);
    const operationName = `POST ${path.replace('{p}', '{}')}`;
    expect(err).toContain(`${operationName} requires ${field}, which Deckhand does not always send.\n`);
  });

  it('reads OpenAPI 2 with a base path, other parameter names, suffixes and referenced bodies', async () => {
    const paths = Object.fromEntries(
      Object.entries(published.paths)
        .filter(([path]) => path !== '/api/v1/signup' && !path.includes('integrations'))
        .map(([path, item]) => [`${path.replaceAll('{project_id}', '{p}')}.json`, item]),
    );
    const body = (name: string) => ({ in: 'body', schema: { $ref: `#/definitions/${name}` } });
    const description = {
      swagger: '2.0',
      basePath: '/api/v1',
      paths: {
        ...paths,
        '/account/invoices/{n}.pdf': { get: {} },
        '/signup': { post: { parameters: [body('Signup')] } },
        '/projects/{p}/integrations': { post: { parameters: [body('NewIntegration')] } },
        '/projects/{p}/integrations/{i}': { patch: {} },
      },
      definitions: {
        Signup: { required: ['email', 'password', 'terms_accepted'], properties: { email: {} } },
        NewIntegration: {
          required: ['integration'],
          properties: { integration: { $ref: '#/definitions/Integration' } },
        },
        Integration: { required: ['hook_type', 'name'], properties: { name: {} } },
      },
    };
    expect(await checkAgainst(description)).toMatchObject({ code: 0, err: '' });
  });

  it.each([
    ['no address', undefined, 'SERVICE_SIGNUP_URL is not set'],
    ['a description that is none', { openapi: '3.1.0' }, 'it is not an OpenAPI document'],
  ])('says %s in one line that is no fault', async (_, description, words) => {
    const { code, out } = await (description === undefined ? check() : checkAgainst(description));
    expect(code).toBe(0);
    expect(out).toContain(words);
    expect(out.trim().split('\n')).toHaveLength(1);
  });
});

/** A good description with hostile parts, as text: objects would take long to make. */
function describeProfile({ profile = '{}', paths = '', rest = '' }): string {
  return `{"paths":{"/profile":{"get":${profile}}${paths}}${rest}}`;
}
function bodyOf(schema: string): string {
  return `{"requestBody":{"content":{"application/json":{"schema":${schema}}}}}`;
}
function nest(open: string, close: string, times: number): string {
  return `${open.repeat(times)}1${close.repeat(times)}`;
}
const chain = Array.from({ length: 60 }, (_, i) => {
  const next = `{"$ref":"#/s/s${i + 1}"}`;
  return `"s${i}":{"allOf":[${next},${next}]}`;
});

describe('a hostile description', () => {
  it.each([
    ['a path of braces', { paths: `,"${'{'.repeat(100_000)}":{"get":{}}` }],
    ['nested allOf', { profile: bodyOf(nest('{"allOf":[', ']}', 27_000)) }],
    ['a wide list of required fields', { profile: bodyOf(`{"required":[${'"a",'.repeat(400_000)}"b"]}`) }],
    ['a reference to itself', { profile: bodyOf('{"$ref":"#/a"}'), rest: ',"a":{"$ref":"#/a"}' }],
    ['references that double', { profile: bodyOf('{"$ref":"#/s/s0"}'), rest: `,"s":{${chain}}` }],
    ['a path that is a reference to itself', { paths: ',"/projects":{"$ref":"#/paths/~1projects"}' }],
    ['deep nesting', { rest: `,"x":${nest('[', ']', 900_000)}` }],
    ['very many names', { rest: `,"x":[${Array.from({ length: 130_000 }, (_, i) => `{"${i}":0}`)}]` }],
    ['very many paths', { paths: Array.from({ length: 150_000 }, (_, i) => `,"/${i}":0`).join('') }],
  ])('with %s holds nobody up, and is read', async (_, parts) => {
    await using wire = await startWire({ 'GET /docs.json': [{ raw: describeProfile(parts) }] });
    const service = createService({
      baseUrl: `${wire.origin}/{account}`,
      descriptionUrl: `${wire.origin}/docs.json`,
      version: '1',
      clock: systemClock,
    });
    const before = process.threadCpuUsage();
    const described = await service.description?.read();
    const { user, system } = process.threadCpuUsage(before);
    await service.close();
    expect(described).toHaveProperty('GET /profile');
    // Some 60 ms alone. Beside other tests the same work counts more.
    expect((user + system) / 1_000).toBeLessThan(250);
  });

  it('of more than 2 MB is one line, and no fault', async () => {
    await using wire = await startWire({ 'GET /docs.json': [{ raw: ' '.repeat(2.1 * 1024 * 1024) }] });
    const { code, out } = await check({ SERVICE_SIGNUP_URL: wire.origin });
    expect([code, out]).toEqual([
      0,
      "The service's description could not be read (it is larger than 2 MB).\n",
    ]);
  });
});
