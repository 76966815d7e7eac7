import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ServiceError } from '../../src/core/errors.ts';
import { getActivity } from '../../src/service/activity.ts';
import { type AccountClient, createService } from '../../src/service/client.ts';
import {
  getHostedResource,
  listHostedResources,
  listRegions,
  listSizes,
} from '../../src/service/hosted-resources.ts';
import { createIntegration } from '../../src/service/integrations.ts';
import { downloadInvoice, listInvoices } from '../../src/service/invoices.ts';
import { enrollInBeta, getProfile } from '../../src/service/profile.ts';
import { getTestAccess, listProjects, startTestAccess } from '../../src/service/projects.ts';
import {
  createServer as createManagedServer,
  getBuildConfiguration,
  getServer,
  listServers,
} from '../../src/service/servers.ts';
import { signUp } from '../../src/service/signup.ts';
import { anyText } from '../support/arbitraries.ts';
import { byLength } from '../support/length.ts';
import { KEY, startTestClock } from './wire.ts';

interface Hostile {
  status: number;
  headers: Record<string, string>;
  body: string | Buffer;
}

/** Keys of the records, so that random values land where they are read. */
const KEYS = [
  ...[
    'account',
    'name',
    'identifier',
    'permalink',
    'status',
    'created_at',
    'results',
    'repository',
    'servers',
  ],
  ...['events', 'stats', 'properties', 'project', 'sizes', 'regions', 'grouped_regions', 'slug', 'packages'],
  ...['number', 'total', 'paid', 'api_key', 'integration', 'auth_required', 'auth_url', 'server', 'ssh_key'],
  ...['errors', 'error', 'error_code', 'message', 'base', '__proto__', 'constructor'],
];

const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { maxDepth: 4 },
    fc.jsonValue(),
    fc.constantFrom(true, 'ok', 'running'),
    tie('list'),
    tie('record'),
  ),
  list: fc.array(tie('any'), { maxLength: 4 }),
  record: fc.dictionary(fc.constantFrom(...KEYS), tie('any'), { maxKeys: 8 }),
})).any;

const hostile: fc.Arbitrary<Hostile> = fc.record({
  status: fc.oneof(
    fc.constant(200),
    fc.integer({ min: 200, max: 599 }).filter((code) => code !== 204),
  ),
  headers: fc.dictionary(
    fc.constantFrom('retry-after', 'content-type', 'content-encoding', 'location', 'link'),
    fc.stringMatching(/^[ -~]{0,40}$/),
  ),
  body: fc.oneof(
    value.map((json) => JSON.stringify(json)),
    anyText(),
    fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
  ),
});

test('whatever the service answers, a call gives a value or a ServiceError', async () => {
  let reply: Hostile = { status: 200, headers: {}, body: '' };
  const server = createServer((_request, response) => {
    response.writeHead(reply.status, reply.headers).end(reply.body);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const options = {
    baseUrl: `${origin}/{account}`,
    signupUrl: origin,
    version: '1',
    clock: startTestClock(),
  };
  const service = createService(options);
  const account = service.account({ account: 'acme', email: 'ada@example.com', apiKey: KEY });
  const calls = [
    ...callsOf(account),
    () => signUp(service, { email: 'a', password: 'b', terms_accepted: true }),
  ];

  const property = fc.asyncProperty(hostile, fc.constantFrom(...calls), async (answer, call) => {
    reply = answer;
    const outcome = await call().catch((error: unknown) => error);
    const isExpected = !(outcome instanceof Error) || outcome instanceof ServiceError;
    expect(isExpected, String(outcome)).toBe(true);
  });
  await fc.assert(property, { numRuns: byLength(250, 5_000) });
  await service.close();
  server.close();
});

function callsOf(account: AccountClient): Array<() => Promise<unknown>> {
  const site = { protocol_type: 'static_hosting', name: 'x', subdomain: 'x' } as const;
  const fast = { retries: 0 };
  return [
    () => getProfile(account, fast),
    () => listProjects(account, fast),
    () => startTestAccess(account, 'p', undefined, fast),
    () => getTestAccess(account, 'p', 'r', fast),
    () => getServer(account, 'p', 's', fast),
    () => listServers(account, 'p', fast),
    () => createManagedServer(account, 'p', site, fast),
    () => listHostedResources(account, fast),
    () => getHostedResource(account, 'h', fast),
    () => listRegions(account, fast),
    () => listSizes(account, fast),
    () => enrollInBeta(account, undefined, fast),
    () => getBuildConfiguration(account, 'p', 'b', fast),
    () => createIntegration(account, 'p', { hook_type: 'http_req', name: 'x' }, fast),
    () => getActivity(account, { stats: true }, fast),
    () => listInvoices(account, fast),
    () => downloadInvoice(account, 1, null, fast),
  ];
}
