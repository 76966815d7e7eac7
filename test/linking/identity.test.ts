import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ask } from '../support/asking.ts';
import { linkButton, openLinkable, openLinkBrowser } from '../support/linking.ts';
import { ACCOUNT, CHANNEL, EMAIL, PEOPLE, TEAM, type TestWorld } from '../support/test-world.ts';

describe('a service that says who is linked', () => {
  const BOOKS = { email: 'books@example.com', apiKey: 'BookKey000BookKey000BookKey000BookKey000' };
  let world: TestWorld;
  beforeEach(async () => {
    world = await openLinkable({ connected: true });
    world.service.world.addUser({ account: ACCOUNT, ...BOOKS, billing: true });
    const { accounts } = world.app.workspaces.open(TEAM);
    const key = { name: ACCOUNT, ...BOOKS, createdBy: PEOPLE.admin, state: 'ok' } as const;
    await accounts.connect({ ...key, purpose: 'billing' });
  });
  afterEach(() => world.stop());

  const headers = { 'content-type': 'application/json' };
  const token = (more: object = {}) =>
    world.service.faults.add({
      path: '/oauth/token',
      status: 200,
      headers,
      body: { access_token: 'CanaryToken', token_type: 'Bearer', ...more },
    });
  const usersOf = async (act: () => Promise<unknown>) => {
    world.service.requests.clear();
    await act();
    return [...new Set(world.service.requests.all.map(({ user }) => user))];
  };

  async function linkBen(): Promise<string> {
    const browser = openLinkBrowser(world);
    const away = await browser.go(await linkButton(world));
    await browser.open(await browser.decide(away.location, 'approve'));
    await world.slack.until(() => world.slack.dms(TEAM, PEOPLE.member).length === 1);
    return world.slack.dms(TEAM, PEOPLE.member)[0]?.text ?? '';
  }

  /** The metadata with one more address: to ask with the token, or to revoke it at. */
  async function nameEndpoint(name: 'userinfo' | 'revocation'): Promise<void> {
    const { siteUrl, faults } = world.service;
    const found = await fetch(`${siteUrl}/.well-known/oauth-authorization-server`);
    const body = { ...Object(await found.json()), [`${name}_endpoint`]: `${siteUrl}/oauth/${name}` };
    faults.add({ path: '/.well-known/**', status: 200, headers, body });
  }

  it.each([
    ['in its token answer', { email_address: BOOKS.email }, undefined],
    ['where its metadata says to ask', {}, { status: 200, headers, body: { email: BOOKS.email } }],
  ])(
    '%s fills in the form for a key of one’s own, and lends no key, though a connected one is of that user',
    async (_, told, answer) => {
      expect(await usersOf(() => ask(world, '/deckhand projects'))).toEqual([EMAIL]);
      token(told);
      if (answer !== undefined) {
        await nameEndpoint('userinfo');
        world.service.faults.add({ path: '/oauth/userinfo', ...answer });
      }
      expect((await linkBen()).replaceAll('\u2060', '')).toContain(`Linked. You are ${BOOKS.email}`);
      expect(await usersOf(() => ask(world, '/deckhand projects'))).toEqual([EMAIL]);
      const said = await ask(world, '/deckhand whoami');
      expect(said).toContain('You use the shared key');
      expect(said).toContain(`You are ${BOOKS.email} at the service`);
      await world.as('member').command(CHANNEL, `/deckhand connect ${ACCOUNT}`);
      await world.slack.until(() => world.as('member').openView());
      expect(JSON.stringify(world.as('member').openView()?.content.blocks)).toContain(
        `"initial_value":"${BOOKS.email}"`,
      );
      await ask(world, '/deckhand unlink');
      expect(await usersOf(() => ask(world, '/deckhand projects'))).toEqual([EMAIL]);
    },
  );

  it('links one user of the service to one person of a workspace, and says so to the second', async () => {
    token({ email_address: BOOKS.email });
    await linkBen();
    token({ email_address: BOOKS.email.toUpperCase() });
    const browser = openLinkBrowser(world);
    const away = await browser.go(await linkButton(world, 'billing'));
    const end = await browser.open(await browser.decide(away.location, 'approve'));
    expect(end.status).toBe(409);
    expect(end.text).toContain('Another person of your Slack workspace is linked to that user');
    const { links, audit } = world.app.workspaces.open(TEAM);
    expect(await links.get(PEOPLE.billing)).toBeUndefined();
    expect((await audit.latest(1)).map(({ entry }) => entry)).toMatchObject([
      { requestedBy: PEOPLE.billing, what: 'link', result: 'refused' },
    ]);
    await ask(world, '/deckhand unlink');
    token({ email_address: BOOKS.email });
    const again = await browser.go(await linkButton(world, 'billing'));
    expect((await browser.open(await browser.decide(again.location, 'approve'))).status).toBe(200);
  });

  it.each([
    ['says that the address is not verified', { email: BOOKS.email, email_verified: false }, undefined],
    ['gives an address that is none', { email_address: '<!channel>' }, undefined],
    ['fails when it is asked', {}, { status: 500, body: {} }],
  ])('but %s leaves the keys as they were, and the person reads so', async (_, told, answer) => {
    token(told);
    if (answer !== undefined) {
      await nameEndpoint('userinfo');
      world.service.faults.add({ path: '/oauth/userinfo', ...answer });
    }
    expect(await linkBen()).toContain('Linked. Commands still use');
    expect(await ask(world, '/deckhand whoami')).toContain('You use the shared key');
    expect(await usersOf(() => ask(world, '/deckhand projects'))).toEqual([EMAIL]);
  });

  it('claims the name that the service tells, and gives it back with the link', async () => {
    const name = 'Ben Builder';
    token({ email: BOOKS.email, name });
    expect((await linkBen()).replaceAll('\u2060', '')).toContain(`You are ${name} (${BOOKS.email})`);
    expect(await ask(world, '/deckhand me')).toContain(`a deployment by *${name}* fails`);
    expect(await ask(world, `/deckhand me ${name}`, 'admin')).toContain('has claimed the name');
    await ask(world, '/deckhand unlink');
    expect(await ask(world, `/deckhand me`)).toContain('Choose your name');
  });

  it('keeps the name that a person has claimed before, and another’s', async () => {
    await world.app.workspaces.open(TEAM).names.claim(ACCOUNT, PEOPLE.admin, 'Ben Builder');
    token({ name: 'Ben Builder' });
    expect(await linkBen()).toContain('You are Ben Builder');
    expect(await ask(world, '/deckhand me', 'admin')).toContain('a deployment by *Ben Builder* fails');
    await ask(world, '/deckhand unlink');
    expect(await ask(world, '/deckhand me', 'admin')).toContain('a deployment by *Ben Builder* fails');
  });

  it.each([
    ['a service that names an address for it', 200],
    ['a service that refuses it', 400],
    ['a service that fails', 503],
  ])('revokes the tokens once they have told who the person is: %s', async (_, status) => {
    token({ refresh_token: 'CanaryRefresh', email: BOOKS.email });
    await nameEndpoint('revocation');
    const body = { error: 'unsupported_token_type' };
    world.service.faults.add({ path: '/oauth/revocation', status, headers, body, times: 9 });
    expect(await linkBen()).toContain('You are');
    const sent = () => world.service.requests.all.filter(({ path }) => path === '/oauth/revocation');
    // The refresh token and the access token, whose text the service hides.
    await expect.poll(() => sent().length).toBe(status === 200 ? 2 : 1);
    expect(sent()[0]?.body).toMatchObject({ client_id: 'deckhand', token: '[hidden]' });
    if (status !== 200) await world.logged('"event":"link_token_not_revoked"');
    expect(world.logs.join()).not.toContain('Canary');
  });
});
