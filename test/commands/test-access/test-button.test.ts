import { describe, expect } from 'vitest';
import { ask } from '../../support/asking.ts';
import { test } from '../../support/fixtures.ts';
import { CHANNEL, PEOPLE, TEAM } from '../../support/test-world.ts';

describe('"Test access" on a row of the projects', () => {
  test.override({ connected: true });

  test('tests the project of the row, and points to that run while it runs', async ({ world }) => {
    expect(await ask(world, '/deckhand projects')).toContain('Test access');
    const list = world.slack.ephemerals(TEAM, PEOPLE.member).at(-1);
    const row = { channel: CHANNEL, ts: list?.ts ?? '' };
    const button = /"action_id":"(test:project#\d+)"[^}]*}[^}]*storefront/.exec(JSON.stringify(list?.blocks));
    const click = () => world.as('member').click(row, { actionId: button?.[1] ?? '' });
    await click();
    await click();
    await world.slack.until(
      () => world.slack.messages(TEAM, CHANNEL).at(-1)?.text.includes('all 2 servers are reachable'),
      { timeoutMs: 8_000, what: 'the outcome of the run' },
    );
    expect(world.slack.messages(TEAM, CHANNEL)).toHaveLength(1);
    expect(world.slack.messages(TEAM, CHANNEL)[0]?.text).toContain('Storefront');
  });
});
