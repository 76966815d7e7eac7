import { describe, expect, test } from 'vitest';
import {
  getServer,
  listHostedResources,
  listRegions,
  listServers,
  listSizes,
  managedStatus,
  syncHostedResource,
} from '../../src/service/servers.ts';
import { factLines, managedFacts } from '../../src/views/servers/server.ts';
import { failure, openWire, type Reply } from './wire.ts';

const SERVERS = '/acme/projects/store/servers';
describe('servers', () => {
  test('a machine with an empty static site beside it is shown as the machine it is', async () => {
    const machine = { status: 'provisioning', region: 'fra' };
    const record = { identifier: 'srv-1', protocol_type: 'managed_vps', managed_vps: machine };
    const json = { ...record, static_hosting: {} };
    await using wire = await openWire({ 'GET /acme/projects/shop/servers/srv-1': [{ json }] });
    const server = await getServer(wire.account, 'shop', 'srv-1');
    const shown = factLines(managedFacts(server));
    expect(managedStatus(server)).toBe('provisioning');
    expect(shown).toContain('provisioning');
    expect(shown).not.toMatch(/unknown|Subdomain/);
  });

  test.each<[string, Reply, object | undefined]>([
    ['an unknown method', { status: 404, json: { error_code: 'invalid_api_method' } }, undefined],
    ['403', { status: 403, json: {} }, undefined],
    ['400', { status: 400, json: { error: 'bad request' } }, undefined],
    ['a redirect', { status: 302, raw: '', headers: { location: '/login' } }, undefined],
    ['a web page', { raw: '<html>' }, undefined],
    ['another shape', { json: { rows: [] } }, undefined],
    ['401', { status: 401, json: {} }, { kind: 'unauthorized' }],
    ['503', { status: 503, json: {} }, { kind: 'busy', status: 503 }],
    ['500', { status: 500, json: {} }, { kind: 'unexpected', status: 500 }],
  ])('API 4.4 shows no list of servers: what %s on its path means', async (_what, reply, fault) => {
    await using wire = await openWire({ [`GET ${SERVERS}`]: [reply] });
    const list = listServers(wire.account, 'store', { retries: 0 });
    if (fault === undefined) expect(await list).toBeUndefined();
    else expect(await failure(list)).toMatchObject(fault);
  });
});

describe('hosted resources', () => {
  const BOX = {
    identifier: 'h-1',
    name: 'Box',
    region: 'eu-1',
    size: 'small',
    status: 'active',
    ip_address: '192.0.2.7',
    monthly_cost: '12.50',
    ssh_key: {
      identifier: 'k-1',
      title: 'Deploy',
      public_key: 'ssh-ed25519 AAAA',
      key_type: 'ed25519',
      fingerprint: 'f',
    },
    created_at: '2026-01-01T00:00:00Z',
    updated_at: '2026-01-02T00:00:00Z',
  };

  test('a static site is listed without what only a machine has', async () => {
    const site = { identifier: 'h-2', name: 'Site', kind: 'static_site', status: 'active' };
    await using wire = await openWire({ 'GET /acme/hosted_resources': [{ json: [BOX, site] }] });
    const none = { region: null, size: null, ip_address: null, monthly_cost: null, ssh_key: null };
    expect(await listHostedResources(wire.account)).toEqual([
      { ...BOX, kind: null },
      { ...site, ...none, created_at: null, updated_at: null },
    ]);
  });

  test.each<[string, Reply, string | null]>([
    ['no body', { status: 204, raw: '' }, null],
    ['words', { status: 202, json: { status: 'sync_requested' } }, 'sync_requested'],
    ['a record', { json: { status: { code: 'ok' } } }, null],
  ])('a sync that is answered with %s was requested', async (_what, reply, status) => {
    await using wire = await openWire({ 'POST /acme/hosted_resources/h-1/sync': [reply] });
    expect(await syncHostedResource(wire.account, 'h-1')).toEqual({ status });
  });

  const EU = { slug: 'eu-1', name: 'Europe' };
  const US = { slug: 'us-1', name: 'America', available: true };
  const FULL = { slug: 'ap-1', name: 'Asia', available: false };
  test.each([
    { regions: [EU, FULL, US] },
    { grouped_regions: { Europe: [EU], Elsewhere: [FULL, US] } },
    [EU, US, FULL],
  ])('regions in %j', async (json) => {
    await using wire = await openWire({ 'GET /acme/managed_hosting/regions': [{ json }] });
    expect(await listRegions(wire.account)).toMatchObject([EU, US]);
  });

  test('null for an empty list is none', async () => {
    const bodies = [{ regions: null }, { grouped_regions: null }, { grouped_regions: {} }];
    await using wire = await openWire({
      'GET /acme/managed_hosting/regions': bodies.map((json) => ({ json })),
      'GET /acme/managed_hosting/sizes': [{ json: { sizes: null } }],
    });
    for (const _ of bodies) expect(await listRegions(wire.account)).toEqual([]);
    expect(await listSizes(wire.account)).toEqual([]);
  });
});
