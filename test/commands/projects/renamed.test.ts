import { describe, expect } from 'vitest';
import { ask } from '../../support/asking.ts';
import { test } from '../../support/fixtures.ts';
import { ACCOUNT, CHANNEL, TEAM, type TestWorld } from '../../support/test-world.ts';

function storefront(world: TestWorld) {
  const project = world.service.world.state.accounts.get(ACCOUNT)?.projects[0];
  if (project?.permalink !== 'storefront') throw new Error('the world has another first project');
  return project;
}

function rename(world: TestWorld): void {
  Object.assign(storefront(world), { permalink: 'web-shop', name: 'Web shop' });
}

function failedDeployment(world: TestWorld, project: string): void {
  const endedAt = Date.now() - 60_000;
  world.service.world.addDeployment({ account: ACCOUNT, project, succeeded: false, endedAt, user: 'Kim' });
}

async function bind(world: TestWorld): Promise<void> {
  await world.as('admin').command(CHANNEL, '/deckhand use storefront');
  await world.slack.until(() => channelTexts(world).some((text) => text.includes('bound this channel')));
}

const channelTexts = (world: TestWorld) => world.slack.messages(TEAM, CHANNEL).map(({ text }) => text);

async function untilTested(world: TestWorld, name: string): Promise<void> {
  await world.slack.until(() => channelTexts(world).some((text) => text.includes(`${name}: all`)), {
    what: `a test of ${name}`,
    timeoutMs: 8_000,
  });
}

describe('after a project got another permalink and name', () => {
  test.override({ connected: true });

  test('the bound channel tests it, and shows its activity, under the new name', async ({ world }) => {
    await bind(world);
    rename(world);
    failedDeployment(world, 'web-shop');
    const activity = await ask(world, '/deckhand activity');
    expect(await ask(world, '/deckhand use', 'admin')).toContain('bound to *Web shop* in `acme`');
    expect(activity).toContain('*Web shop* in `acme`: 1 event');
    await world.as('member').command(CHANNEL, '/deckhand test');
    await untilTested(world, 'Web shop');
    await world.as('admin').command(CHANNEL, '/deckhand digest add daily 09:00 UTC');
    await world.slack.until(() => channelTexts(world).some((text) => text.includes('*Web shop* in')));
  });

  test('"Run again" tests it under the new name, and no project that took its permalink', async ({
    world,
  }) => {
    await world.as('member').command(CHANNEL, '/deckhand test storefront');
    await untilTested(world, 'Storefront');
    rename(world);
    Object.assign(world.service.world.state.accounts.get(ACCOUNT)?.projects[1] ?? {}, {
      permalink: 'storefront',
      name: 'Another',
    });
    const root = world.slack.messages(TEAM, CHANNEL).at(-1);
    await world.as('member').click({ channel: CHANNEL, ts: root?.ts ?? '' }, { actionId: 'test:again' });
    await untilTested(world, 'Web shop');
    expect(channelTexts(world).join()).not.toContain('Another');
  });

  test('its guard and digest are listed and removed under the new name', async ({ world }) => {
    world.slack.invite(TEAM, CHANNEL, 'bot');
    const said = () => channelTexts(world).join('\n');
    await world.as('admin').command(CHANNEL, '/deckhand guard add storefront hourly');
    await world.slack.until(() => said().includes('is checked every hour'));
    await world.as('admin').command(CHANNEL, '/deckhand digest add daily 09:00 UTC --project storefront');
    await world.slack.until(() => said().includes('the digest of'));
    rename(world);
    expect(await ask(world, '/deckhand guard list')).toContain('*Web shop* in `acme`');
    expect(await ask(world, '/deckhand digest list')).toContain('*Web shop* in `acme`');
    await world.as('admin').command(CHANNEL, '/deckhand guard remove Web shop');
    await world.slack.until(() => said().includes('removed the guard of *Web shop*'));
  });

  test('its digest has its deployments under the new name, and the form opens with it', async ({ world }) => {
    await world.as('admin').command(CHANNEL, '/deckhand digest add daily 09:00 UTC --project storefront');
    await world.slack.until(() => channelTexts(world).some((text) => text.includes('digest')));
    rename(world);
    failedDeployment(world, 'web-shop');
    const preview = await ask(world, '/deckhand digest preview', 'admin');
    expect(preview).toContain('*Web shop* in `acme`: 1 deployment');
    expect(await ask(world, '/deckhand digest list', 'admin')).toContain('Web shop');
  });

  test('the same digest is refused for it, and set up for a project that took its permalink', async ({
    world,
  }) => {
    const add = '/deckhand digest add daily 09:00 UTC --project';
    await world.as('admin').command(CHANNEL, `${add} storefront`);
    await world.slack.until(() => channelTexts(world).some((text) => text.includes('digest')));
    rename(world);
    Object.assign(world.service.world.state.accounts.get(ACCOUNT)?.projects[1] ?? {}, {
      permalink: 'storefront',
      name: 'Another',
    });
    // The list of projects is read anew.
    await ask(world, '/deckhand projects');
    await world.as('admin').command(CHANNEL, `${add} storefront`);
    await world.slack.until(() => channelTexts(world).some((text) => text.includes('digest of *Another*')), {
      timeoutMs: 5_000,
    });
    expect(await ask(world, `${add} web-shop`, 'admin')).toContain('Already set up');
  });

  test.for([
    ['activity', '/deckhand activity'],
    ['a test', '/deckhand test'],
  ] as const)(
    '%s of a project that is gone says so, and not that nothing happened',
    async ([_, line], { world }) => {
      await bind(world);
      world.service.world.state.accounts.get(ACCOUNT)?.projects.splice(0, 1);
      const answer = await ask(world, line);
      expect(answer).toContain('*Storefront* is no longer listed in `acme`');
    },
  );
});

describe('a project with a typographic apostrophe in its name', () => {
  const projects = [{ name: 'Joe’s Shop', permalink: 'shop' }];
  test.override({ worldOptions: { projects } });

  test('is listed for a filter that has a straight one', async ({ world }) => {
    await world.connect();
    expect(await ask(world, "/deckhand projects joe's")).toContain('1 project');
  });
});

describe('where the service gives no identifiers', () => {
  test.override({ connected: true });

  test('the digest and the watch of a project whose name is gone say so', async ({ world }) => {
    const listed = { path: `/${ACCOUNT}/projects`, status: 200 };
    const before = world.service.faults.add({
      ...listed,
      body: [{ name: 'Storefront', permalink: 'storefront' }],
    });
    await world.as('admin').command(CHANNEL, '/deckhand digest add daily 09:00 UTC --project storefront');
    await world.slack.until(() => channelTexts(world).some((text) => text.includes('digest')));
    await world.as('admin').command(CHANNEL, '/deckhand watch storefront failures');
    await world.slack.until(() => channelTexts(world).some((text) => text.includes('fail and recover')));
    before.remove();
    world.service.faults.add({ ...listed, body: [{ name: 'Web shop', permalink: 'web-shop' }] });
    const preview = await ask(world, '/deckhand digest preview', 'admin');
    expect(preview).toContain('*Storefront* is no longer listed');
    expect(await ask(world, '/deckhand watch list')).toContain('*Storefront* is no longer listed');
  });
});
