import { describe, expect } from 'vitest';
import { openForm } from '../support/asking.ts';
import { HASTY } from '../support/faults.ts';
import { test } from '../support/fixtures.ts';
import { ACCOUNT, CHANNEL, CREDENTIALS, PEOPLE, TEAM, type TestWorld } from '../support/test-world.ts';

describe('what takes its time', () => {
  test.override({ worldOptions: HASTY });

  const said = (world: TestWorld) => world.slack.ephemerals(TEAM, PEOPLE.member).map(({ text }) => text);

  test('what takes its time as a command says so after two seconds, and from ten on for how long', async ({
    world,
  }) => {
    await world.connect();
    world.service.faults.add({ path: `/${ACCOUNT}/profile`, delayMs: 2_500, times: 1 });
    await world.as('member').command(CHANNEL, '/deckhand whoami');
    await world.slack.until(() =>
      said(world).some((text) => /Still working on it: \/deckhand whoami/.test(text)),
    );
    await world.slack.until(() => said(world).some((text) => text.includes('10 s so far')));
    await world.slack.until(() => said(world).some((text) => text.includes('ann@example.com')));
    expect(said(world)).toHaveLength(1);
    // The note goes away if the channel sees the answer.
    world.service.faults.add({ path: `/${ACCOUNT}/projects`, delayMs: 500, times: 1 });
    await world.as('member').command(CHANNEL, '/deckhand test storefront');
    await world.slack.until(() => said(world).some((text) => text.includes('/deckhand test')));
    await world.slack.until(() => world.slack.messages(TEAM, CHANNEL).length === 1);
    await world.slack.until(() => said(world).length === 1);
  });

  test('what takes its time as a choice in a form shows there alone, not in the channel behind it', async ({
    world,
  }) => {
    await world.connect();
    const ann = await openForm(world, 'server add storefront', 'server.add');
    const shown = () => JSON.stringify(ann.openView()?.content.blocks ?? []);
    world.service.faults.add({ path: `/${ACCOUNT}/managed_hosting/sizes`, delayMs: 1_000, times: 1 });
    const viewId = ann.openView()?.id ?? '';
    await ann.click({ viewId }, { actionId: 'protocol_type', selected: 'managed_vps' });
    await world.slack.until(() => shown().includes('Looking up the regions'));
    await world.slack.until(() => shown().includes('"size"'));
    const toldBehind = world.slack.ephemerals(TEAM, PEOPLE.admin).map(({ text }) => text);
    expect(toldBehind.filter((text) => text.includes('Still working'))).toEqual([]);
  });

  test('what takes its time as a form says for how long, until the outcome takes its place', async ({
    world,
  }) => {
    const ann = await openForm(world, 'connect');
    world.service.faults.add({ path: `/${ACCOUNT}/profile`, delayMs: 2_500, times: 1 });
    await ann.submit('connect', CREDENTIALS);
    const shown = () => JSON.stringify(ann.openView()?.content.blocks ?? []);
    expect(shown()).toContain('One moment');
    await world.slack.until(() => shown().includes('10 s so far'));
    await world.slack.until(() => shown().includes('Done'));
  });
});
