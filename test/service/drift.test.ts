import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SimulatedService, startSimulatedService } from '../../sandbox/service/server.ts';
import { type Ended, MIN_ENV, runDeckhand } from '../support/run-deckhand.ts';
import { startWire } from './wire.ts';

function checkService(signupUrl?: string): Promise<Ended> {
  const address = signupUrl === undefined ? {} : { SERVICE_SIGNUP_URL: signupUrl };
  return runDeckhand({ args: ['--check-service'], env: { ...MIN_ENV, ...address } });
}

/** Runs the check against a description of somebody's own. */
async function checkAgainst(description: unknown): Promise<Ended> {
  await using wire = await startWire({ 'GET /docs.json': [{ json: description }] });
  return await checkService(wire.origin);
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
    expect(await checkService(service.signupUrl)).toEqual({
      code: 0,
      out: "Deckhand's calls agree with the service's description.\n",
      err: '',
    });
  });

  it('names an operation that is gone, and fields whose need changed', async () => {
    const { '/profile': _, ...paths } = published.paths;
    const signup = {
      post: {
        requestBody: {
          content: { 'application/json': { schema: { required: ['email', 'password', 'captcha'] } } },
        },
      },
    };
    const { code, err } = await checkAgainst({ ...published, paths: { ...paths, '/api/v1/signup': signup } });
    expect(code).toBe(65);
    expect(err.trim().split('\n')).toEqual([
      'POST /api/v1/signup requires captcha, which Deckhand does not always send.',
      'POST /api/v1/signup does not require terms_accepted any more.',
      'GET /profile is not in the description.',
    ]);
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
    ['a description that is none', { openapi: '3.1.0' }, 'could not be read'],
  ])('says %s in one line that is no fault', async (_, description, words) => {
    const { code, out } = await (description === undefined ? checkService() : checkAgainst(description));
    expect(code).toBe(0);
    expect(out).toContain(words);
    expect(out.trim().split('\n')).toHaveLength(1);
  });
});
