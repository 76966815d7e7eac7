import { describe, expect } from 'vitest';
import { ask } from '../../support/asking.ts';
import { test } from '../../support/fixtures.ts';
import { ACCOUNT, CHANNEL, PEOPLE, TEAM, type TestWorld } from '../../support/test-world.ts';

const workspaceOf = (world: TestWorld) => world.app.workspaces.open(TEAM);

describe('me', () => {
  test.override({ connected: true });

  /** A name that the events hold is taken at once, and any other after a click. */
  async function claim(world: TestWorld, name: string, who: 'member' | 'billing' = 'member') {
    const said = await ask(world, `/deckhand me ${name}`, who);
    if (!said.includes('Nobody called')) return said;
    const ts = world.slack.ephemerals(TEAM, PEOPLE[who]).at(-1)?.ts ?? '';
    await world.as(who).click({ channel: CHANNEL, ts }, { actionId: 'me:claim' });
    const answer = () => world.slack.ephemerals(TEAM, PEOPLE[who]).at(-1)?.text ?? '';
    await world.slack.until(() => !answer().includes('Nobody called'));
    return answer();
  }

  test('asks before it takes a name that no event holds, and shows, changes and ends it', async ({
    world,
  }) => {
    expect(await ask(world, '/deckhand me Kim Lee')).toContain(
      'Nobody called *Kim Lee* has deployed in `acme` lately. Choose your name, or use this one anyway.',
    );
    expect([...(await workspaceOf(world).names.mentions(ACCOUNT))]).toEqual([]);
    expect(await claim(world, 'Kim Lee')).toContain('a deployment by Kim Lee fails');
    await claim(world, 'Kim Other');
    expect(await ask(world, '/deckhand me')).toContain('a deployment by *Kim Other* fails');
    expect(await ask(world, '/deckhand me none')).toContain('do not mention you any more');
    expect(await ask(world, '/deckhand me none')).toContain('You have no name in `acme`');
    const entries = (await workspaceOf(world).audit.latest(3)).map(({ entry }) => entry);
    expect(entries).toMatchObject(
      [1, 2, 3].map(() => ({ requestedBy: PEOPLE.member, what: 'me', target: ACCOUNT })),
    );
  });

  test('gives a name to the first who claims it, however it is written, until an admin releases it', async ({
    world,
  }) => {
    await claim(world, 'Kim Lee');
    for (const name of [' KIM lee', 'Ｋｉｍ Ｌｅｅ', 'KimLee', 'K i m　Lee', '𝐊𝐢𝐦 𝐋𝐞𝐞'])
      expect(await ask(world, `/deckhand me ${name}`, 'billing')).toContain(
        `<@${PEOPLE.member}> has claimed the name \`Kim Lee\` already`,
      );
    expect(await ask(world, '/deckhand me', 'billing')).toContain('Choose your name in');
    expect([...(await workspaceOf(world).names.mentions(ACCOUNT))]).toEqual([['kimlee', PEOPLE.member]]);
    expect(await ask(world, '/deckhand me', 'billing')).not.toContain('Kim Lee');
    const all = await ask(world, '/deckhand me', 'admin');
    expect(all).toContain(`*Kim Lee* is <@${PEOPLE.member}>`);
    const ts = world.slack.ephemerals(TEAM, PEOPLE.admin).at(-1)?.ts ?? '';
    await world.as('admin').click({ channel: CHANNEL, ts }, { actionId: `me:release#${PEOPLE.member}` });
    await world.slack.until(() =>
      world.slack.ephemerals(TEAM, PEOPLE.admin).some(({ text }) => text.includes('is free again')),
    );
    expect(await claim(world, 'Kim Lee', 'billing')).toContain('a deployment by Kim Lee fails');
  });
});

describe('accounts default', () => {
  test.override({ connected: true });

  test('sets the account to use if none is named, if it is connected and has a shared key', async ({
    world,
  }) => {
    const second = { name: 'globex', email: 'ops@globex.example', apiKey: 'g'.repeat(40) };
    const { accounts, audit } = workspaceOf(world);
    await accounts.connect({ ...second, createdBy: PEOPLE.admin, state: 'ok' });
    expect(await ask(world, '/deckhand accounts')).toMatch(/\*acme\* {2}_default_/);
    expect(await ask(world, '/deckhand accounts default GLOBEX', 'admin')).toContain(
      '*globex* is the default',
    );
    expect(await ask(world, '/deckhand accounts')).toMatch(/\*globex\* {2}_default_/);
    expect((await accounts.resolve({ user: PEOPLE.member })).name).toBe('globex');
    expect((await audit.latest(1)).map(({ entry }) => entry)).toMatchObject([
      { requestedBy: PEOPLE.admin, what: 'accounts default', target: 'globex', result: 'done' },
    ]);
    expect(await ask(world, '/deckhand accounts default initech', 'admin')).toContain('No account named');
    const own = { name: 'own', email: 'ben@globex.example', apiKey: 'g'.repeat(40) };
    await accounts.connect({ ...own, createdBy: PEOPLE.member, state: 'ok', purpose: 'mine' });
    expect(await ask(world, '/deckhand accounts default own', 'admin')).toContain('no shared key');
    expect(await accounts.defaultName()).toBe('globex');
  });
});
