import { describe, expect, it } from 'vitest';
import { followsServer } from '../../../src/records/failure-rules.ts';
import type { WatchedServer } from '../../../src/records/schedules.ts';
import { ask } from '../../support/asking.ts';
import { test as base } from '../../support/fixtures.ts';
import { CHANNEL, TEAM, type TestWorld } from '../../support/test-world.ts';

const test = base.extend('connected', true);

const stored = async (world: TestWorld) => (await world.app.workspaces.open(TEAM).schedules.list('watch'))[0];
const watch = async (world: TestWorld, words: string) => {
  world.slack.invite(TEAM, CHANNEL, 'bot');
  await world.as('admin').command(CHANNEL, `/deckhand watch storefront ${words}`);
  await world.slack.until(() => JSON.stringify(world.slack.messages(TEAM, CHANNEL)).includes('Storefront'));
  return stored(world);
};

describe('the servers of a watch', () => {
  it.each<[Partial<WatchedServer>, string[], string[]]>([
    [{}, ['web-1', 'WEB-1', 'id-1'], ['web-2', 'web-10']],
    [{ names: ['web-1', 'web-2'] }, ['web-1', 'web-2'], ['staging']],
    [{ names: ['web-*'] }, ['web-1', 'web-27'], ['staging', 'xweb-1']],
    [{ names: ['staging'], isExcluded: true }, ['web-1'], ['staging']],
  ])('%j follows %j and not %j', (parts, followed, others) => {
    const server = { identifier: 'id-1', name: 'web-1', ...parts };
    for (const name of followed) expect(followsServer({ server }, name)).toBe(true);
    for (const name of others) expect(followsServer({ server }, name)).toBe(false);
  });

  test.for([
    ['--server web-1,web-2', 'the servers `web-1, web-2`'],
    ['--server web-*', 'the servers `web-*`'],
    ['--not web-2', 'all servers but `web-2`'],
  ] as const)('are typed as %s', async ([words, shown], { world }) => {
    expect(await watch(world, words)).toMatchObject({ server: { names: expect.any(Array) } });
    expect(await ask(world, '/deckhand watch list', 'admin')).toContain(shown);
  });

  test('are asked about if nothing knows the name', async ({ world }) => {
    const said = await ask(world, '/deckhand watch storefront --server wbe-1', 'admin');
    expect(said).toContain('There is no server `wbe-1` in `storefront`. It has `web-1`, `web-2`.');
    const both = await ask(world, '/deckhand watch storefront --server web-1 --not web-2', 'admin');
    expect(both).toContain('but not both');
    expect(await stored(world)).toBeUndefined();
  });
});

describe('projects that are called like a word', () => {
  test.override({
    worldOptions: {
      projects: ['all', 'none', 'hourly'].map((name) => ({ name, permalink: name, servers: [] })),
    },
  });

  test('can be bound, watched, guarded, quiet and unwatched, and `*` means all', async ({ world }) => {
    world.slack.invite(TEAM, CHANNEL, 'bot');
    const { channels, schedules } = world.app.workspaces.open(TEAM);
    const say = async (line: string, done: () => Promise<boolean>) => {
      // The next answer is then that of the next line.
      if (line.startsWith('use ')) await world.as('admin').command(CHANNEL, `/deckhand ${line}`);
      else await ask(world, `/deckhand ${line}`, 'admin');
      await expect.poll(done).toBe(true);
    };
    await say('use none', async () => (await channels.get(CHANNEL)).project?.permalink === 'none');
    await say('watch all', async () => (await schedules.list('watch'))[0]?.project?.permalink === 'all');
    await say('guard add hourly hourly', async () => (await schedules.list('guard')).length === 1);
    expect(await schedules.list('guard')).toMatchObject([{ project: { permalink: 'hourly' } }]);
    const isQuiet = async (line: string) =>
      (await ask(world, `/deckhand ${line}`, 'admin')).includes('Everything is quiet');
    expect(await isQuiet('quiet all')).toBe(false);
    expect(await isQuiet('quiet *')).toBe(true);
    const digest = (words: string) => ask(world, `/deckhand digest add daily 09:00 UTC ${words}`, 'admin');
    expect(await digest('--project all')).toContain('the digest of <');
    expect(await digest('--project *')).toContain('the digest of acme');
    expect(await ask(world, '/deckhand activity *', 'admin')).toContain('`acme`: nothing happened');
    expect(await ask(world, '/deckhand failing *', 'admin')).toContain('in the connected accounts');
    await say('digest remove *', async () => (await schedules.list('digest')).length === 0);
    await say('unwatch all', async () => (await schedules.list('watch')).length === 0);
    await say('use off', async () => (await channels.get(CHANNEL)).project === undefined);
  });
});
