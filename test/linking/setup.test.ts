import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { ask } from '../support/asking.ts';
import { linkButton, openLinkable, openLinkBrowser } from '../support/linking.ts';
import { openTestWorld, PEOPLE, TEAM, type TestWorld } from '../support/test-world.ts';

describe('linking where the endpoints have an origin of their own', () => {
  let world: TestWorld;
  let browser: ReturnType<typeof openLinkBrowser>;
  beforeEach(async () => {
    world = await openLinkable({ oauth: { ownAuthOrigin: true, oauthIss: true } });
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
    expect(await world.app.workspaces.open(TEAM).links.get(PEOPLE.member)).toBeUndefined();
    expect(world.slack.dms(TEAM, PEOPLE.member)).toEqual([]);
  });
});

describe('linking', () => {
  async function open(env: Record<string, string>): Promise<TestWorld> {
    const world = await openLinkable({ env });
    onTestFinished(() => world.stop());
    return world;
  }

  it('asks the origin of SERVICE_AUTH_URL for the metadata where no main site is named', async () => {
    const world = await open({ SERVICE_SITE_URL: '' });
    const browser = openLinkBrowser(world);
    const away = await browser.go(await linkButton(world));
    expect((await browser.open(await browser.decide(away.location, 'approve'))).status).toBe(200);
  });

  it('says which variable is missing', async () => {
    const world = await open({ PUBLIC_URL: '' });
    expect(await ask(world, '/deckhand link')).toContain('PUBLIC_URL');
    expect((await fetch(`${world.origin}/service/oauth/callback?state=x`)).status).toBe(404);
  });

  it('is absent without an OAuth client', async () => {
    const world = await openTestWorld();
    onTestFinished(() => world.stop());
    expect(await ask(world, '/deckhand help')).not.toContain('unlink');
  });
});
