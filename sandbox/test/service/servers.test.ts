import { describe, expect, test } from 'vitest';
import { addAcme, startBench } from './caller.ts';

const SERVERS = '/projects/storefront/servers';
const site = {
  server: { name: 'Docs', protocol_type: 'static_hosting' },
  hosted_website_attributes: { subdomain: 'acme-docs', spa_mode: true },
};
const machine = { server: { name: 'Reports', protocol_type: 'managed_vps' }, region: 'fra1', size: 'small' };

async function openAcme() {
  const bench = await startBench({ sitesDomain: 'sites.example.org' });
  const parts = addAcme(bench);
  const caller = bench.as('acme', parts.member);
  const look = async (identifier: string) => (await caller.get(`${SERVERS}/${identifier}`)).body;
  return { ...bench, ...parts, caller, look };
}

describe('a static site', () => {
  test('shares its name with no other, in any account', async () => {
    const { caller, service, as } = await openAcme();
    await caller.post(SERVERS, site);
    const email = 'otto@example.com';
    const given = { name: 'other', users: [{ email }], projects: [{ name: 'Storefront' }] };
    const person = { email, apiKey: service.world.addAccount(given).users[0]?.apiKey };
    const answer = await as('other', person).post(SERVERS, site);
    expect(answer).toMatchObject({ status: 422, body: { subdomain: [expect.stringContaining('taken')] } });
  });
});

describe('a managed virtual server', () => {
  test('cannot stand in a region that is not listed, nor be of a size that nobody sells', async () => {
    const { caller } = await openAcme();
    const answer = await caller.post(SERVERS, { ...machine, region: 'syd1', size: 'vast' });
    expect([answer.status, Object.keys(answer.body)]).toEqual([422, ['region', 'size']]);
  });
});

describe('managed servers', () => {
  test('need the beta, and are limited by the plan', async () => {
    const { caller, service } = await openAcme();
    service.world.updateAccount({ account: 'acme', betaFeatures: false });
    expect((await caller.post(SERVERS, machine)).status).toBe(403);
    service.world.updateAccount({ account: 'acme', betaFeatures: true });
    service.world.updateAccount({ account: 'acme', managedServerLimit: 1 });
    await caller.post(SERVERS, machine);
    expect(await caller.post(SERVERS, site)).toMatchObject({ status: 422, body: { base: [/plan/] } });
  });

  test('are made only so fast, and the answer says when again', async () => {
    const { caller, service } = await openAcme();
    service.world.updateAccount({ account: 'acme', provisioningLimit: 1 });
    await caller.post(SERVERS, machine);
    service.clock.advance(1_000_000);
    const answer = await caller.post(SERVERS, site);
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '2600']);
    service.clock.advance(2_600_000);
    expect((await caller.post(SERVERS, site)).status).toBe(201);
  });
});

describe('a plain server', () => {
  test.each([
    [{}, { base: ['server is missing'] }],
    [{ server: {} }, { name: ["can't be blank"], protocol_type: ["can't be blank"] }],
    [{ server: { name: ' ', protocol_type: 'ssh' } }, { name: ["can't be blank"] }],
    [{ server: { name: 'x', protocol_type: 'ssh' } }, { hostname: ["can't be blank"] }],
    [{ server: { name: 'x', protocol_type: 'pigeon' } }, { protocol_type: [/must be one of/] }],
    [{ server: site.server }, { subdomain: ["can't be blank"] }],
    [{ ...site, hosted_website_attributes: { subdomain: 'No spaces' } }, { subdomain: [/lower-case/] }],
  ])('from %j is refused by field', async (body, fields) => {
    const { caller } = await openAcme();
    const answer = await caller.post(SERVERS, body);
    expect(answer.status).toBe(422);
    expect(answer.body).toMatchObject(fields);
  });
});
