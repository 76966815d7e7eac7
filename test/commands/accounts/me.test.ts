import { describe, expect } from 'vitest';
import { ask } from '../../support/asking.ts';
import { test } from '../../support/fixtures.ts';
import { ACCOUNT, CHANNEL, PEOPLE, TEAM, type TestWorld } from '../../support/test-world.ts';

const workspaceOf = (world: TestWorld) => world.app.workspaces.open(TEAM);

describe('me', () => {
  test.override({ connected: true });

  test('shows, changes and ends a person’s own name', async ({ world }) => {
    expect(await ask(world, '/deckhand me')).toContain('You have claimed no name at `acme`');
    expect(await ask(world, '/deckhand me Kim Lee')).toContain('You are *Kim Lee* at `acme`');
    expect(await ask(world, '/deckhand me Kim Other')).toContain('*Kim Other*');
    expect(await ask(world, '/deckhand me')).toContain('You are *Kim Other* at `acme`');
    expect(await ask(world, '/deckhand me none')).toContain('do not mention you any more');
    expect(await ask(world, '/deckhand me none')).toContain('You have claimed no name');
    const entries = (await workspaceOf(world).audit.latest(3)).map(({ entry }) => entry);
    expect(entries).toMatchObject([1, 2, 3].map(() => ({ who: PEOPLE.member, what: 'me', target: ACCOUNT })));
  });

  test('gives a name to the first who claims it, in any letter case', async ({ world }) => {
    await ask(world, '/deckhand me Kim Lee');
    const refused = await ask(world, '/deckhand me  KIM lee', 'billing');
    expect(refused).toContain(`<@${PEOPLE.member}> has claimed the name \`Kim Lee\` already`);
    expect(await ask(world, '/deckhand me', 'billing')).toContain('You have claimed no name');
    expect([...(await workspaceOf(world).names.mentions(ACCOUNT))]).toEqual([['kim lee', PEOPLE.member]]);
  });

  test('makes no markup of a hostile name', async ({ world }) => {
    const said = await ask(world, '/deckhand me <!channel> *bold* `code`');
    expect(said).not.toContain('<!channel>');
    expect(await ask(world, '/deckhand me', 'admin')).not.toContain('<!channel>');
  });

  test('shows everybody’s names to admins alone, who may release one for another person', async ({
    world,
  }) => {
    await ask(world, '/deckhand me Kim Lee');
    expect(await ask(world, '/deckhand me', 'billing')).not.toContain('Kim Lee');
    const all = await ask(world, '/deckhand me', 'admin');
    expect(all).toContain(`*Kim Lee* is <@${PEOPLE.member}>`);
    const ts = world.slack.ephemerals(TEAM, PEOPLE.admin).at(-1)?.ts ?? '';
    await world.as('admin').click({ channel: CHANNEL, ts }, { actionId: `me:release#${PEOPLE.member}` });
    await world.slack.until(() =>
      world.slack.ephemerals(TEAM, PEOPLE.admin).some(({ text }) => text.includes('is free again')),
    );
    expect(await ask(world, '/deckhand me Kim Lee', 'billing')).toContain('You are *Kim Lee*');
  });
});

describe('accounts default', () => {
  test.override({ connected: true });

  test('sets the account that is meant where none is named, for admins', async ({ world }) => {
    const second = { name: 'globex', email: 'ops@globex.example', apiKey: 'g'.repeat(40) };
    const { accounts, audit } = workspaceOf(world);
    await accounts.connect({ ...second, connectedBy: PEOPLE.admin, state: 'ok' });
    expect(await ask(world, '/deckhand accounts')).toMatch(/\*acme\* {2}_default_/);
    expect(await ask(world, '/deckhand accounts default globex')).toContain('needs the role *admin*');
    expect(await ask(world, '/deckhand accounts default GLOBEX', 'admin')).toContain(
      '*globex* is the default',
    );
    expect(await ask(world, '/deckhand accounts')).toMatch(/\*globex\* {2}_default_/);
    expect((await accounts.resolve({ user: PEOPLE.member })).name).toBe('globex');
    expect((await audit.latest(1)).map(({ entry }) => entry)).toMatchObject([
      { who: PEOPLE.admin, what: 'accounts default', target: 'globex', result: 'done' },
    ]);
  });

  test('refuses an account that is not connected, or that has no shared key', async ({ world }) => {
    expect(await ask(world, '/deckhand accounts default initech', 'admin')).toContain('No account named');
    const own = { name: 'globex', email: 'ben@globex.example', apiKey: 'g'.repeat(40) };
    await workspaceOf(world).accounts.connect({
      ...own,
      connectedBy: PEOPLE.member,
      state: 'ok',
      purpose: 'mine',
    });
    expect(await ask(world, '/deckhand accounts default globex', 'admin')).toContain('no shared key');
    expect(await workspaceOf(world).accounts.defaultName()).toBe(ACCOUNT);
  });
});
