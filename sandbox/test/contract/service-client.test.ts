import { afterEach, beforeEach, expect, test } from 'vitest';
import { ACTIVITY_RANGES, getActivity } from '../../../src/service/activity.ts';
import { type AccountClient, createService, type Service } from '../../../src/service/client.ts';

import {
  createIntegration,
  HOOK_TYPES,
  type HookProperty,
  propertiesOf,
  updateIntegration,
} from '../../../src/service/integrations.ts';
import { downloadInvoice, listInvoices } from '../../../src/service/invoices.ts';
import { enrollInBeta, getProfile, signUp } from '../../../src/service/profile.ts';
import { getTestAccess, listProjects, startTestAccess } from '../../../src/service/projects.ts';
import {
  createServer,
  getBuildConfiguration,
  getHostedResource,
  getServer,
  listHostedResources,
  listRegions,
  listServers,
  listSizes,
  managedStatus,
  syncHostedResource,
} from '../../../src/service/servers.ts';
import { failure, startTestClock } from '../../../test/service/wire.ts';
import { DEMO_IDS, DEMO_USERS } from '../../service/seed/demo-facts.ts';
import { type SimulatedService, startSimulatedService } from '../../service/server.ts';

let sandbox: SimulatedService;
let service: Service;

beforeEach(async () => {
  sandbox = await startSimulatedService({ seed: 'demo', speed: 0 });
  const { baseUrl, signupUrl } = sandbox;
  service = createService({ baseUrl, signupUrl, version: '1.2.3', clock: startTestClock() });
});

afterEach(async () => {
  await service.close();
  await sandbox.stop();
});

function as(user: keyof typeof DEMO_USERS): AccountClient {
  const { account, email, apiKey } = DEMO_USERS[user];
  return service.account({ account, email, apiKey });
}

test('who I am, and what there is', async () => {
  expect(await getProfile(as('member'))).toMatchObject({
    first_name: 'Ben',
    email_address: DEMO_USERS.member.email,
    account: { name: 'Acme', permalink: 'acme' },
  });
  const projects = await listProjects(as('member'));
  expect(projects.map(({ permalink }) => permalink)).toEqual(['storefront', 'billing-api', 'docs-site']);
  expect(await listServers(as('member'), 'storefront')).toHaveLength(7);
});

test('credentials and names that are wrong', async () => {
  const { email, apiKey } = DEMO_USERS.member;
  const stranger = service.account({ account: 'acme', email, apiKey: 'x'.repeat(40) });
  expect(await failure(getProfile(stranger))).toMatchObject({ kind: 'unauthorized' });
  const nowhere = service.account({ account: 'nobody', email, apiKey });
  expect(await failure(getProfile(nowhere))).toMatchObject({ kind: 'account_not_found' });
  expect(await failure(startTestAccess(nowhere, 'storefront'))).toMatchObject({ kind: 'account_not_found' });
  const missing = await failure(startTestAccess(as('member'), 'no-such-project'));
  expect(missing).toMatchObject({ kind: 'record_not_found' });
});

test('a run of the whole project, to its end', async () => {
  const { identifier } = await startTestAccess(as('member'), 'storefront');
  const running = await getTestAccess(as('member'), 'storefront', identifier);
  expect(running).toMatchObject({ status: 'running', completed_at: null, results: undefined });
  sandbox.clock.advance(60_000);
  const { status, results } = await getTestAccess(as('member'), 'storefront', identifier);
  expect([status, results?.repository?.status, results?.servers.length]).toEqual(['completed', 'ok', 7]);
  const failed = results?.servers.filter((server) => server.status === 'error');
  expect(failed).toMatchObject([{ name: 'web-3', message: expect.stringContaining('timed out') }]);
});

test('a run of one server has no repository', async () => {
  const [server] = (await listServers(as('member'), 'storefront')) ?? [];
  const { identifier } = await startTestAccess(as('member'), 'storefront', server?.identifier);
  sandbox.clock.advance(60_000);
  const { results } = await getTestAccess(as('member'), 'storefront', identifier);
  expect(results).toEqual({ servers: [expect.objectContaining({ name: server?.name, status: 'ok' })] });
});

test('a managed server, from its form to active', async () => {
  const admin = as('admin');
  const [region] = await listRegions(admin);
  const [size] = await listSizes(admin);
  expect(size?.currency).toBe('eur');
  const wanted = {
    protocol_type: 'managed_vps',
    name: 'Box',
    region: region?.slug ?? '',
    size: size?.slug ?? '',
  } as const;
  const server = await createServer(admin, 'storefront', wanted);
  expect(managedStatus(server)).toBe('provisioning');
  sandbox.clock.advance(600_000);
  const active = await getServer(admin, 'storefront', server.identifier);
  expect([managedStatus(active), typeof active.managed_vps?.ip_address]).toEqual(['active', 'string']);
  const site = { protocol_type: 'static_hosting', name: 'Docs', subdomain: 'acme-docs' } as const;
  const taken = await failure(createServer(admin, 'storefront', site));
  expect(taken.fields).toEqual({ subdomain: [expect.stringContaining('taken')] });
});

test('the beta, for each who may and may not', async () => {
  const refused = await failure(enrollInBeta(as('globexMember')));
  expect(refused).toMatchObject({ kind: 'admin_required', betaUrl: expect.stringMatching(/^http/) });
  const done = { beta_features: true };
  expect(await enrollInBeta(as('globexAdmin'), 'static_hosting')).toEqual(done);
  expect(await enrollInBeta(as('globexMember'))).toEqual(done);
});

test('hosted resources are listed, shown and refreshed', async () => {
  const admin = as('admin');
  expect(await listHostedResources(admin)).toHaveLength(2);
  expect(await syncHostedResource(admin, DEMO_IDS.stagingMachine)).toEqual({ status: 'sync_requested' });
  sandbox.clock.advance(600_000);
  expect(await getHostedResource(admin, DEMO_IDS.stagingMachine)).toMatchObject({ status: 'active' });
  expect(await failure(getHostedResource(admin, 'none'))).toMatchObject({ kind: 'record_not_found' });
});

test('a build configuration', async () => {
  const build = await getBuildConfiguration(as('member'), 'storefront', DEMO_IDS.storefrontBuild);
  expect(build.packages).toEqual({ node: '24', php: '8.4', composer: '2.9' });
  expect(build.servers.map(({ name }) => name)).toEqual(['web-1', 'web-2', 'web-3']);
});

const VARIANTS = HOOK_TYPES.flatMap((type) =>
  type.versions.length === 0 ? [{ type }] : type.versions.map((version) => ({ type, version })),
);
test.each(VARIANTS)('integration $type.label $version is accepted with its properties', async (variant) => {
  const { type, version } = variant as {
    type: (typeof HOOK_TYPES)[number];
    version?: 'cloud' | 'on_premise';
  };
  const known = propertiesOf(type, version);
  const properties = Object.fromEntries(known.map((property) => [property.key, exampleOf(property)]));
  const integration = {
    hook_type: type.label,
    name: 'Mine',
    properties: { ...properties, ...(version === undefined ? {} : { hook_version: version }) },
  };
  const result = await createIntegration(as('admin'), 'storefront', integration);
  expect(result.kind).toBe(type.oauth ? 'auth_required' : 'integration');
});

function exampleOf({ format, key }: HookProperty): string {
  if (format === 'url') return 'https://hooks.example.com/x';
  return format === 'chat_id' ? '@releases' : key;
}

test('an integration is changed, and a fault stands under its field', async () => {
  const result = await updateIntegration(as('admin'), 'storefront', DEMO_IDS.storefrontChat, {
    name: 'War room',
  });
  expect(result).toMatchObject({ integration: { name: 'War room', send_on_failure: true } });
  const nameless = await failure(
    createIntegration(as('admin'), 'storefront', { hook_type: 'http_req', name: '' }),
  );
  expect(nameless).toMatchObject({ kind: 'invalid', fields: { name: [expect.any(String)] } });
});

test.each(ACTIVITY_RANGES)('activity of %s, with and without figures', async (range) => {
  const { events, stats } = await getActivity(as('member'), { range, stats: true });
  expect(stats?.total_deployments).toEqual(expect.any(Number));
  expect(stats?.active_servers).toEqual(expect.any(Number));
  expect(await getActivity(as('member'), { range })).toEqual({ events, stats: undefined });
});

test('invoices and their PDFs are for billing managers', async () => {
  const [invoice] = await listInvoices(as('billing'));
  expect(invoice).toMatchObject({ currency: 'eur', total: '118.80', paid: false });
  const pdf = await downloadInvoice(as('billing'), invoice?.number ?? 0, invoice?.download_url);
  expect(pdf.subarray(0, 5).toString()).toBe('%PDF-');
  expect(await downloadInvoice(as('billing'), invoice?.number ?? 0)).toHaveLength(pdf.length);
  expect(await failure(downloadInvoice(as('billing'), 999_999))).toMatchObject({ kind: 'record_not_found' });
  expect(await failure(listInvoices(as('member')))).toMatchObject({ kind: 'forbidden' });
});

test('a new account works once its e-mail is verified', async () => {
  const email = 'nora@newcomer.example.com';
  const request = { email, password: 'a long enough one', terms_accepted: true, account_name: 'newcomer' };
  const { account, api_key, email_verified } = await signUp(service, request);
  expect([account.subdomain, email_verified]).toEqual(['newcomer', false]);
  const client = service.account({ account: account.subdomain, email, apiKey: api_key });
  expect(await failure(getProfile(client))).toMatchObject({ kind: 'unauthorized' });
  sandbox.world.verifyEmail({ account: 'newcomer', email });
  expect((await getProfile(client)).email_address).toBe(email);
  const again = await failure(
    signUp(service, { ...request, email: 'new@other.example.com', terms_accepted: false }),
  );
  expect(again).toMatchObject({ kind: 'invalid', status: 422, messages: [expect.any(String)] });
});
