import { describe, expect } from 'vitest';
import { test as watching } from '../../scheduler/channel.ts';
import { ask } from '../../support/asking.ts';
import { test } from '../../support/fixtures.ts';
import { ACCOUNT, CHANNEL, TEAM, type TestWorld } from '../../support/test-world.ts';

function rename(world: TestWorld): void {
  const { projects = [] } = world.service.world.state.accounts.get(ACCOUNT) ?? {};
  const storefront = projects.find(({ permalink }) => permalink === 'storefront');
  Object.assign(storefront ?? {}, { permalink: 'web-shop', name: 'Web shop' });
}

function failedDeployment(world: TestWorld, project: string): void {
  const endedAt = Date.now() - 60_000;
  world.service.world.addDeployment({ account: ACCOUNT, project, succeeded: false, endedAt, user: 'Kim' });
}

async function bind(world: TestWorld): Promise<void> {
  await world.as('admin').command(CHANNEL, '/deckhand use storefront');
  await untilSaid(world, 'bound this channel');
}

const channelTexts = (world: TestWorld) => world.slack.messages(TEAM, CHANNEL).map(({ text }) => text);

const untilSaid = (world: TestWorld, words: string) =>
  world.slack.until(() => channelTexts(world).some((text) => text.includes(words)), { what: words });
const untilTested = (world: TestWorld, name: string) => untilSaid(world, `${name}: both servers`);

/** Another project takes the permalink that became free. */
function takePermalink(world: TestWorld): void {
  const other = world.service.world.state.accounts.get(ACCOUNT)?.projects[1] ?? {};
  Object.assign(other, { permalink: 'storefront', name: 'Another' });
}

describe('after a project got another permalink and name', () => {
  test.override({ connected: true });

  test('the bound channel tests it, and shows its activity, under the new name', async ({ world }) => {
    await bind(world);
    rename(world);
    failedDeployment(world, 'web-shop');
    const activity = await ask(world, '/deckhand activity');
    expect(await ask(world, '/deckhand use', 'admin')).toContain('bound to *Web shop* in `acme`');
    expect(activity).toContain('*Web shop*> in `acme`: 1 event');
    expect(await ask(world, '/deckhand activity all')).not.toContain('*Web shop*> in `acme`');
    await world.as('member').command(CHANNEL, '/deckhand test');
    await untilTested(world, 'Web shop');
    expect(await ask(world, '/deckhand digest add daily 09:00 UTC', 'admin')).toContain('Web shop in');
  });

  test('"Test again" tests it under the new name, and no project that took its permalink', async ({
    world,
  }) => {
    await world.as('member').command(CHANNEL, '/deckhand test storefront');
    await untilTested(world, 'Storefront');
    rename(world);
    takePermalink(world);
    const root = world.slack.messages(TEAM, CHANNEL).at(-1);
    await world.as('member').click({ channel: CHANNEL, ts: root?.ts ?? '' }, { actionId: 'test:again' });
    await untilTested(world, 'Web shop');
    expect(channelTexts(world).join()).not.toContain('Another');
  });

  test('its guard and digest are listed, previewed and removed under the new name', async ({ world }) => {
    world.slack.invite(TEAM, CHANNEL, 'bot');
    for (const line of ['guard add storefront hourly', 'digest add daily 09:00 UTC --project storefront'])
      await ask(world, `/deckhand ${line}`, 'admin');
    rename(world);
    failedDeployment(world, 'web-shop');
    expect(await ask(world, '/deckhand guard list')).toContain('*Web shop*> in `acme`');
    expect(await ask(world, '/deckhand digest list')).toContain('*Web shop*> in `acme`');
    expect(await ask(world, '/deckhand digest preview', 'admin')).toContain(
      '*Web shop*> in `acme`: 1 deployment',
    );
    await world.as('admin').command(CHANNEL, '/deckhand guard remove Web shop');
    await untilSaid(world, 'removed the guard of Web shop');
  });

  test('its card, its channels in `list all` and the slash word alone name it anew', async ({ world }) => {
    world.slack.invite(TEAM, CHANNEL, 'bot');
    for (const line of ['guard add storefront hourly', 'digest add daily 09:00 UTC --project storefront'])
      await ask(world, `/deckhand ${line}`, 'admin');
    await bind(world);
    rename(world);
    await ask(world, '/deckhand projects');
    await untilSaid(world, 'A guard tests Web shop every hour.');
    expect(await ask(world, '/deckhand list all', 'admin')).toContain('Web shop');
    const start = await ask(world, '/deckhand');
    expect(start).toContain('Web shop');
    expect(start).not.toContain('Storefront');
  });

  test('the same digest is refused for it, and set up for a project that took its permalink', async ({
    world,
  }) => {
    const add = '/deckhand digest add daily 09:00 UTC --project';
    await ask(world, `${add} storefront`, 'admin');
    rename(world);
    takePermalink(world);
    // The list of projects is read anew.
    await ask(world, '/deckhand projects');
    expect(await ask(world, `${add} storefront`, 'admin')).toContain('digest of Another');
    expect(await ask(world, `${add} web-shop`, 'admin')).toContain('Already set up');
  });

  test.for(['/deckhand activity', '/deckhand test'])(
    '%s of a project that is gone says so, and not that nothing happened',
    async (line, { world }) => {
      await bind(world);
      world.service.world.state.accounts.get(ACCOUNT)?.projects.splice(0, 1);
      expect(await ask(world, line)).toContain('*Storefront* is no longer listed in `acme`');
    },
  );
});

watching('a watch that meets the new name of its project renames the guard of it', async ({ world }) => {
  for (const line of ['guard add storefront hourly', 'watch storefront failures'])
    await ask(world, `/deckhand ${line}`, 'admin');
  rename(world);
  failedDeployment(world, 'web-shop');
  await untilSaid(world, 'Guard: Web shop');
});

describe('where the service gives no identifiers', () => {
  test.override({ connected: true });

  test('the digest and the watch of a project whose name is gone say so', async ({ world }) => {
    const listed = { path: `/${ACCOUNT}/projects`, status: 200 };
    const before = world.service.faults.add({
      ...listed,
      body: [{ name: 'Storefront', permalink: 'storefront' }],
    });
    for (const line of ['digest add daily 09:00 UTC --project storefront', 'watch storefront failures'])
      await ask(world, `/deckhand ${line}`, 'admin');
    before.remove();
    world.service.faults.add({ ...listed, body: [{ name: 'Web shop', permalink: 'web-shop' }] });
    const preview = await ask(world, '/deckhand digest preview', 'admin');
    expect(preview).toContain('*Storefront* is no longer listed');
    expect(await ask(world, '/deckhand watch list')).toContain('*Storefront* is no longer listed');
  });
});
