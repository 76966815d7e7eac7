import { describe, expect } from 'vitest';
import { ask, enroll } from './support/asking.ts';
import { test as base } from './support/fixtures.ts';
import { ACCOUNT, type TestWorld } from './support/test-world.ts';

const test = base.extend('connected', () => true);
const requests = ({ service }: TestWorld) =>
  service.requests.all.map(({ method, path, query }) => ({ line: `${method} ${path}`, query }));

describe('the service is asked', () => {
  base('for the projects with the new key, when an account is connected', async ({ world }) => {
    await world.connect();
    expect(requests(world).map(({ line }) => line)).toContain('GET /projects');
  });

  test('about a project by its permalink, its identifier or its name', async ({ world }) => {
    const [project] = world.service.world.state.accounts.get(ACCOUNT)?.projects ?? [];
    for (const reference of [project?.permalink, project?.identifier, project?.name])
      expect(await ask(world, `/deckhand server show web-1 ${reference}`)).toContain('*web-1*');
  });

  test('for activity with a range always, and with include=stats only where figures are wanted', async ({
    world,
  }) => {
    for (const words of ['30d', 'today stats', '']) await ask(world, `/deckhand activity ${words}`);
    const queries = requests(world).filter(({ line }) => line === 'GET /activity');
    expect(queries.map(({ query }) => query)).toEqual([
      { range: 'last_30_days' },
      { range: 'today', include: 'stats' },
      { range: 'last_7_days' },
    ]);
  });

  test('for the profile before anybody is enrolled in the beta', async ({ world }) => {
    world.service.world.updateAccount({ account: ACCOUNT, betaFeatures: false });
    await enroll(world);
    const lines = requests(world).map(({ line }) => line);
    expect(lines.indexOf('GET /profile')).toBeGreaterThanOrEqual(0);
    expect(lines.indexOf('GET /profile')).toBeLessThan(lines.indexOf('POST /beta/enrollments'));
  });
});
