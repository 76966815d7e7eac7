import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ask } from '../support/asking.ts';
import { linkButton, openLinkable, openLinkBrowser } from '../support/linking.ts';
import { openTestWorld, PEOPLE, TEAM, type TestWorld } from '../support/test-world.ts';

describe('linking where the endpoints have an origin of their own', () => {
  let world: TestWorld;
  let browser: ReturnType<typeof openLinkBrowser>;
  beforeEach(async () => {
    world = await openLinkable({ authorisation: { ownAuthOrigin: true, oauthIss: true } });
    browser = openLinkBrowser(world);
  });
  afterEach(() => world.stop());

  it('asks the main site for the metadata, keeps PKCE and takes the issuer that it names', async () => {
    const away = await browser.go(await linkButton(world));
    const discovery = world.service.requests.all.find(({ path }) => path.includes('.well-known'));
    expect(discovery?.path).toBe('/.well-known/oauth-authorization-server');
    expect(away.location.split('?')[0]).toBe(`${world.service.authUrl}/oauth/authorize`);
    expect(new URL(away.location).searchParams.get('code_challenge_method')).toBe('S256');
    const callback = await browser.decide(away.location, 'approve');
    expect(new URL(callback).searchParams.get('iss')).toBe(world.service.siteUrl);
    expect((await browser.open(callback)).status).toBe(200);
    expect(await world.app.workspaces.open(TEAM).links.get(PEOPLE.member)).toBeDefined();
  });

  it.each([
    ['names another issuer', (url: URL) => url.searchParams.set('iss', 'https://login.example.com')],
    ['leaves the issuer out', (url: URL) => url.searchParams.delete('iss')],
  ])('refuses a callback that %s', async (_, change) => {
    const away = await browser.go(await linkButton(world));
    const callback = new URL(await browser.decide(away.location, 'approve'));
    change(callback);
    const page = await browser.open(callback.href);
    expect(page.status).toBe(502);
    await expectNoLink(world);
  });
});

it('asks the origin of SERVICE_AUTH_URL for the metadata where no main site is named', async () => {
  const world = await openLinkable({ env: { SERVICE_SITE_URL: '' } });
  const browser = openLinkBrowser(world);
  try {
    const away = await browser.go(await linkButton(world));
    expect((await browser.open(await browser.decide(away.location, 'approve'))).status).toBe(200);
  } finally {
    await world.stop();
  }
});

describe('linking that is not set up', () => {
  it('says which variable is missing', async () => {
    const world = await openLinkable({ env: { PUBLIC_URL: '' } });
    try {
      expect(await ask(world, '/deckhand link')).toContain('PUBLIC_URL');
      const page = await fetch(`${world.origin}/service/oauth/callback?state=x`);
      expect(page.status).toBe(404);
    } finally {
      await world.stop();
    }
  });

  it('is absent without an OAuth client', async () => {
    const world = await openTestWorld();
    try {
      expect(await ask(world, '/deckhand help')).not.toContain('unlink');
    } finally {
      await world.stop();
    }
  });
});

async function expectNoLink({ app, slack }: TestWorld): Promise<void> {
  expect(await app.workspaces.open(TEAM).links.get(PEOPLE.member)).toBeUndefined();
  expect(slack.dms(TEAM, PEOPLE.member)).toEqual([]);
}
