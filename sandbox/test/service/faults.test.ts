import { describe, expect, test } from 'vitest';
import { addAcme, startBench } from './caller.ts';

const RUNS = '/projects/storefront/test_access';

async function openAcme() {
  const bench = await startBench();
  const parts = addAcme(bench);
  return { ...bench, ...parts, caller: bench.as('acme', parts.member) };
}

describe('a fault', () => {
  test('meets the given requests, as often as told, and no others', async () => {
    const { caller, service } = await openAcme();
    const path = '/acme/projects/*/test_access/*';
    const fault = service.faults.add({ method: 'get', path, status: 503, times: 2 });
    const { body } = await caller.post(RUNS);
    const look = async () => (await caller.get(`${RUNS}/${body.identifier}.json`)).status;
    expect([await look(), await look(), await look()]).toEqual([503, 503, 200]);
    expect(fault.hits()).toBe(2);
  });

  test('can be taken back, alone or with all others', async () => {
    const { caller, service } = await openAcme();
    const first = service.faults.add({ path: '/acme/profile', status: 500 });
    service.faults.add({ path: '/acme/projects', status: 500 });
    first.remove();
    expect((await caller.get('/profile')).status).toBe(200);
    expect((await caller.get('/projects')).body.error_code).toBe('internal_error');
    service.faults.clear();
    expect((await caller.get('/projects')).status).toBe(200);
  });

  test('answers what it is told to, Retry-After included', async () => {
    const { caller, service } = await openAcme();
    const retryAfter = 'Wed, 11 Mar 2026 10:00:00 GMT';
    service.faults.add({ path: '/acme/profile', retryAfter });
    const busy = await caller.get('/profile');
    expect([busy.status, busy.headers.get('retry-after')]).toEqual([503, retryAfter]);
    const answer = { status: 404, body: { error_code: 'x' } };
    service.faults.add({ path: '/acme/projects', ...answer, headers: { 'x-a': 'b' } });
    const own = await caller.get('/projects');
    expect(own).toMatchObject(answer);
    expect(own.headers.get('x-a')).toBe('b');
  });

  test('can break the JSON', async () => {
    const { service } = await openAcme();
    service.faults.add({ path: '/acme/profile', badJson: true });
    const response = await fetch(`${service.origin}/acme/profile`);
    expect(response.headers.get('content-type')).toBe('application/json');
    await expect(response.json()).rejects.toThrow(SyntaxError);
  });

  test('can drop the connection before the work is done, or after', async () => {
    const { caller, service, project } = await openAcme();
    service.faults.add({ path: `/acme${RUNS}`, drop: true, times: 1 });
    await expect(caller.post(RUNS)).rejects.toThrow('fetch failed');
    expect(project.testRuns.size).toBe(0);
    service.faults.add({ path: `/acme${RUNS}`, drop: true, afterHandling: true, times: 1 });
    await expect(caller.post(RUNS)).rejects.toThrow('fetch failed');
    expect(project.testRuns.size).toBe(1);
    expect(service.requests.all.filter(({ dropped }) => dropped)).toHaveLength(2);
  });

  test('can hold the answer back until the service stops', async () => {
    const { caller, service } = await openAcme();
    service.faults.add({ path: '/acme/profile', delayMs: 600_000 });
    const arrived = service.requests.nextArrival(({ path }) => path === '/profile');
    const answer = expect(caller.get('/profile')).rejects.toThrow('fetch failed');
    expect((await arrived).status).toBeUndefined();
    await service.stop();
    await answer;
  });

  test('that only delays lets the real answer through', async () => {
    const { caller, service } = await openAcme();
    service.faults.add({ path: '/acme/**', delayMs: 1 });
    expect((await caller.get('/profile')).status).toBe(200);
  });

  test('with a misspelt key is refused, so that no test passes without its fault', async () => {
    const { service } = await openAcme();
    expect(() => service.faults.add({ path: '/x', staus: 500 } as never)).toThrow(/staus/);
  });
});
