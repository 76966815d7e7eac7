import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ann } from './commands/integrations/support.ts';
import { ask, enroll } from './support/asking.ts';
import { ACCOUNT, openTestWorld, type TestWorld } from './support/test-world.ts';

/** What Deckhand asks of the service, seen from there. */
describe('the service is asked', () => {
  let house: TestWorld;
  let whileConnecting: string[];
  beforeAll(async () => {
    house = await openTestWorld();
    await house.connect();
    whileConnecting = asked().map(({ line }) => line);
  });
  afterAll(() => house.stop());
  beforeEach(() => house.service.requests.clear());

  const asked = () =>
    house.service.requests.all.map(({ method, path, query }) => ({ line: `${method} ${path}`, query }));

  it('for the projects with the new key, when an account is connected', () => {
    expect(whileConnecting).toContain('GET /projects');
  });

  it('about a project by its permalink, its identifier or its name', async () => {
    const [project] = house.service.world.state.accounts.get(ACCOUNT)?.projects ?? [];
    for (const reference of [project?.permalink, project?.identifier, project?.name]) {
      expect(await ask(house, `/deckhand server show web-1 ${reference}`, 'admin')).toContain('*web-1*');
    }
  });

  it('for activity with a range always, and with include=stats only where figures are wanted', async () => {
    await ask(house, '/deckhand activity 30d', 'admin');
    await ask(house, '/deckhand activity today stats', 'admin');
    await ask(house, '/deckhand activity', 'admin');
    const queries = asked().filter(({ line }) => line === 'GET /activity');
    expect(queries.map(({ query }) => query)).toEqual([
      { range: 'last_30_days' },
      { range: 'today', include: 'stats' },
      { range: 'last_7_days' },
    ]);
  });

  it('for the profile before anybody is enrolled in the beta', async () => {
    house.service.world.updateAccount({ account: ACCOUNT, betaFeatures: false });
    await enroll(house);
    const lines = asked().map(({ line }) => line);
    expect(lines.indexOf('GET /profile')).toBeGreaterThanOrEqual(0);
    expect(lines.indexOf('GET /profile')).toBeLessThan(lines.indexOf('POST /beta/enrollments'));
  });

  it.each(['send_on_start', 'send_on_completion', 'send_on_failure'])(
    'to change %s alone, where it alone was changed',
    async (flag) => {
      const hook = house.service.world.addIntegration({
        account: ACCOUNT,
        project: 'storefront',
        name: `Hook of ${flag}`,
        properties: { url: 'https://a.example.com' },
      });
      const me = ann(house);
      await me.open(`integration edit ${hook.identifier} storefront`);
      const before = me.told().length;
      await me.submit({ flags: [flag] });
      await house.slack.until(() => me.told().length > before);
      expect(me.sent('PATCH')).toEqual([{ integration: { [flag]: true } }]);
    },
  );
});
