import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { BRISK, failing, mend } from '../support/faults.ts';
import { CHANNEL, EMAIL, openTestWorld, TEAM, type TestWorld } from '../support/test-world.ts';
import { editing, testing, whoami } from './support.ts';

describe('what is sent again', () => {
  let world: TestWorld;
  beforeAll(async () => {
    world = await openTestWorld(BRISK);
  });
  afterAll(() => world.stop());
  beforeEach(() => mend(world));

  const sent = (method: string, path: RegExp) =>
    world.service.requests.all.filter((request) => request.method === method && path.test(request.path))
      .length;

  it.each<[string, Parameters<typeof failing>[0]]>([
    ['503 with Retry-After', { status: 503, retryAfter: '0' }],
    ['429', { status: 429 }],
    ['500', { status: 500 }],
    ['a dropped connection', { drop: true }],
  ])('a GET that met %s, three times at most', async (_, fault) => {
    failing({ ...fault, times: 3 }, 'profile')(world);
    expect(await whoami(world)).toContain(EMAIL);
    expect(sent('GET', /profile/)).toBe(4);
    world.service.requests.clear();
    failing(fault, 'profile')(world);
    expect(await whoami(world)).not.toContain(EMAIL);
    expect(sent('GET', /profile/)).toBe(4);
  });

  it.each<[string, number, Parameters<typeof failing>[0]]>([
    ['500, once', 1, { status: 500 }],
    ['503 without Retry-After, once', 1, { status: 503 }],
    ['a dropped connection, once', 1, { drop: true }],
    ['a lost answer, once', 1, { drop: true, afterHandling: true }],
    ['an answer that is no JSON, once', 1, { badJson: true, afterHandling: true }],
    ['a refusal, once', 1, { status: 409, body: { error: 'No' } }],
  ])('a POST that met %s', async (_, times, fault) => {
    failing({ method: 'POST', ...fault }, 'projects/storefront/test_access')(world);
    await testing(world);
    expect(sent('POST', /test_access/)).toBe(times);
  });

  it.each<[string, Parameters<typeof failing>[0]]>([
    ['429', { status: 429 }],
    ['503 with Retry-After', { status: 503, retryAfter: '0' }],
  ])('a POST that met %s and was certainly not carried out', async (_, fault) => {
    failing({ method: 'POST', ...fault, times: 2 }, 'projects/storefront/test_access')(world);
    const roots = () => world.slack.messages(TEAM, CHANNEL);
    const { length } = roots();
    await world.as('member').command(CHANNEL, '/deckhand test storefront');
    await world.slack.until(() => roots()[length]?.text.includes('reachable'));
    expect(sent('POST', /test_access/)).toBe(3);
  });

  it.each<[string, number, Parameters<typeof failing>[0]]>([
    ['500, once', 1, { status: 500 }],
    ['a dropped connection, once', 1, { drop: true }],
    ['429, three times at most', 4, { status: 429 }],
  ])('a PATCH that met %s', async (_, times, fault) => {
    failing({ method: 'PATCH', ...fault }, 'projects/*/integrations/*')(world);
    await editing(world);
    expect(sent('PATCH', /integrations/)).toBe(times);
  });
});
