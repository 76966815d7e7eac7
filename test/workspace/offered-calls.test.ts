import { describe, expect } from 'vitest';
import { z } from 'zod';
import { DAY_MS, systemClock } from '../../src/core/time/clock.ts';
import { requestJson } from '../../src/service/call.ts';
import type { AccountClient } from '../../src/service/client.ts';
import { BRISK } from '../support/faults.ts';
import { test } from '../support/fixtures.ts';
import { ACCOUNT, API_KEY, EMAIL, PEOPLE, TEAM, type TestWorld } from '../support/test-world.ts';

let passedMs = 0;
const time = { ...systemClock, now: () => systemClock.now() + passedMs };

const LIST = 'GET /projects/{}/integrations';
const PATH = `/${ACCOUNT}/projects/storefront/integrations`;
const [NO_SUCH_CALL, NO_SUCH_RECORD] = ['invalid_api_method', 'record_not_found'].map((error_code) => {
  return { path: PATH, status: 404, body: { error_code } };
});

/** The answer of the service, or undefined without a call or after a refusal. */
async function callService({ app }: TestWorld, keyUse = {}): Promise<unknown> {
  const { accounts, offered } = app.workspaces.open(TEAM);
  return offered.use(await accounts.resolve(keyUse, ACCOUNT), LIST, (client: AccountClient) =>
    requestJson(client, z.unknown(), {
      operation: 'listIntegrations',
      path: ['projects', 'storefront', 'integrations'],
    }),
  );
}

async function isOffered({ app }: TestWorld): Promise<boolean> {
  const { accounts, offered } = app.workspaces.open(TEAM);
  return offered.has(await accounts.resolve({}, ACCOUNT), 'integrations');
}

describe('an operation beyond the outline', () => {
  test.override({ connected: true, worldOptions: { env: BRISK.env, time } });

  test('is called only if the description lists it', async ({ world }) => {
    const fault = world.service.faults.add({ path: PATH, status: 200, body: ['listed'] });
    expect([await isOffered(world), await callService(world)]).toEqual([true, ['listed']]);
    const described = world.service.faults.add({ path: '/docs.json', status: 200, body: { paths: {} } });
    passedMs += DAY_MS;
    expect([await isOffered(world), await callService(world)]).toEqual([false, undefined]);
    expect(fault.hits()).toBe(1);
    described.remove();
    world.service.world.setDescription({ description: 'none' });
    passedMs += DAY_MS;
    expect([await isOffered(world), await callService(world)]).toEqual([false, undefined]);
    expect(fault.hits()).toBe(1);
  });

  test.for([
    ['403', { path: PATH, status: 403, body: { error_code: 'forbidden' } }],
    ['a 404 for the call', NO_SUCH_CALL],
    ['a 404 without a body', { path: PATH, status: 404, body: '' }],
  ] as const)('is not called for a day after %s, in any process', async ([, refusal], { world }) => {
    const fault = world.service.faults.add(refusal ?? { path: PATH });
    await expect.poll(() => isOffered(world)).toBe(true);
    expect(await callService(world)).toBeUndefined();
    await world.restart(async () => {});
    expect([await isOffered(world), await callService(world), fault.hits()]).toEqual([false, undefined, 1]);
    passedMs += DAY_MS;
    expect([await isOffered(world), await callService(world), fault.hits()]).toEqual([true, undefined, 2]);
  });

  test('that was refused to one key is called with another', async ({ world }) => {
    const { accounts } = world.app.workspaces.open(TEAM);
    const key = { name: ACCOUNT, email: EMAIL, apiKey: API_KEY, createdBy: PEOPLE.member };
    await accounts.connect({ ...key, purpose: 'mine', state: 'ok' });
    const fault = world.service.faults.add({ path: PATH, status: 403, times: 1 });
    world.service.faults.add({ path: PATH, status: 200, body: ['listed'] });
    expect(await callService(world, { user: PEOPLE.member })).toBeUndefined();
    expect(await callService(world)).toEqual(['listed']);
    expect(await callService(world, { user: PEOPLE.member })).toBeUndefined();
    passedMs += 1;
    await accounts.connect({ ...key, purpose: 'mine', state: 'ok' });
    expect(await callService(world, { user: PEOPLE.member })).toEqual(['listed']);
    expect(fault.hits()).toBe(1);
  });

  test('is called again after a record was not found, and after a failure', async ({ world }) => {
    const absent = world.service.faults.add(NO_SUCH_RECORD ?? { path: PATH });
    await expect(callService(world)).rejects.toThrow('record_not_found');
    absent.remove();
    const away = world.service.faults.add({ path: PATH, status: 401, body: {} });
    await expect(callService(world)).rejects.toThrow('unauthorized');
    away.remove();
    world.service.faults.add({ path: PATH, status: 200, body: ['listed'] });
    expect([await isOffered(world), await callService(world)]).toEqual([true, ['listed']]);
  });
});
