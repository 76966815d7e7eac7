import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SCOPE_NAMES } from '../../src/slack/scopes.ts';
import { ask, openForm } from '../support/asking.ts';
import { openBrowser } from '../support/installing.ts';
import { createManualClock, type ManualClock } from '../support/manual-clock.ts';
import { storedText } from '../support/stored-text.ts';
import { openTestWorld, PEOPLE, TEAM, type TestWorld } from '../support/test-world.ts';

const MINUTE = 60_000;

describe('installing', () => {
  let world: TestWorld;
  let clock: ManualClock;
  let browser: ReturnType<typeof openBrowser>;
  beforeEach(async () => {
    clock = createManualClock(Date.now());
    world = await openTestWorld({ byOauth: true, clock });
    browser = openBrowser(world);
  });
  afterEach(() => world.stop());

  it('goes from the page over Slack to a direct message with the first step, and makes the installer an admin', async () => {
    const withGroups = new URL(await browser.begin('Add with user groups'));
    expect(withGroups.searchParams.get('scope')?.split(',')).toContain('usergroups:read');
    const page = await browser.open(`${world.origin}/slack/install`);
    expect(page.status).toBe(200);
    expect(page.headers.get('set-cookie')).toMatch(
      /^deckhand-install=\S+; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax$/,
    );
    expect(page.headers.get('content-security-policy')).not.toContain('unsafe');
    const authorize = new URL(await browser.begin());
    expect(Object.fromEntries(authorize.searchParams)).toMatchObject({
      client_id: world.slack.app.clientId,
      redirect_uri: `${world.origin}/slack/oauth_redirect`,
      scope: SCOPE_NAMES.join(','),
    });

    const end = await browser.install(TEAM, PEOPLE.member);

    expect(end.status).toBe(200);
    expect(end.text).toContain('It is ready in “House”');
    await world.slack.until(() => world.slack.dms(TEAM, PEOPLE.member).length > 0);
    const greeting = JSON.stringify(world.slack.dms(TEAM, PEOPLE.member));
    expect(greeting).toContain('Connect an account');
    await openForm(world, 'connect', 'connect', 'member');
  });

  it('says when Slack refuses the code, or cannot be reached, or the person says no', async () => {
    const back = new URL(world.as('admin').install(await browser.begin()));
    back.searchParams.set('code', 'forged');
    const refused = await browser.open(back.href);
    world.slack.fault({ method: 'oauth.v2.access', status: 503 });
    const unreachable = await browser.install(TEAM, PEOPLE.admin);
    const cancelled = await browser.install(TEAM, PEOPLE.admin, { allow: false });
    expect([refused, unreachable, cancelled].map(({ status, text }) => [status, text])).toEqual([
      [502, expect.stringContaining('Slack refused')],
      [502, expect.stringContaining('cannot be reached')],
      [403, expect.stringContaining('was cancelled')],
    ]);
    expect(world.logs.join('')).not.toContain('forged');
    expect(await world.app.parts.installations.token(TEAM)).toBeUndefined();
  });

  it('answers what was never begun with a page that repeats nothing of it', async () => {
    for (const [query, status] of [
      ['?code=x', 400],
      ['?code=x&state=%22%3E%3Cscript%3Ealert(1)%3C/script%3E', 400],
      ['', 400],
      ['?error=%3Cscript%3E', 502],
    ] as const) {
      const end = await browser.open(`${world.origin}/slack/oauth_redirect${query}`);
      expect(end.status).toBe(status);
      expect(end.text).not.toContain('script');
    }
  });

  it('stores nothing of who asks for the page, comes back in another browser or after ten minutes', async () => {
    const before = await storedText(world.config.STORE_URL);
    for (let visit = 0; visit < 20; visit += 1) await browser.open(`${world.origin}/slack/install`);
    const back = world.as('admin').install(await browser.begin());
    const elsewhere = await openBrowser(world).open(back);
    await clock.advance(10 * MINUTE);
    const late = await browser.open(back);
    expect([elsewhere, late].map(({ status, text }) => [status, text])).toEqual([
      [403, expect.stringContaining('This is another browser')],
      [410, expect.stringContaining('This took too long')],
    ]);
    expect(await storedText(world.config.STORE_URL)).toBe(before);
  });

  it('counts a state once, whatever came of it', async () => {
    const back = world.as('admin').install(await browser.begin());
    expect((await browser.open(back)).status).toBe(200);
    const again = await browser.open(back);
    expect([again.status, again.text]).toEqual([410, expect.stringContaining('already used')]);

    const refused = new URL(world.as('admin').install(await browser.begin()));
    const good = refused.href;
    const cookies = new Map(browser.jar);
    refused.searchParams.set('code', 'forged');
    expect((await browser.open(refused.href)).text).toContain('Slack refused');
    for (const [name, value] of cookies) browser.jar.set(name, value);
    expect((await browser.open(good)).text).toContain('already used');
  });

  it('tells a workspace that it is not installed in what to do, and welcomes it at once', async () => {
    await browser.install(TEAM, PEOPLE.admin);
    await world.app.parts.store.erase(TEAM);
    expect(await ask(world, '/deckhand connect', 'member')).toContain(
      'no longer installed in this workspace',
    );
    // Deckhand remembers for a second that it may store no command of this workspace.
    expect(await ask(world, '/deckhand use none', 'member')).toContain('was taken out');
    expect((await browser.install(TEAM, PEOPLE.admin)).text).toContain('It is ready in “House”');
  });
});

it('has no install page where the environment holds the token', async () => {
  const world = await openTestWorld();
  for (const path of ['/slack/install', '/slack/oauth_redirect'])
    expect((await fetch(`${world.origin}${path}`)).status).toBe(404);
  await world.stop();
});

it('sets a cookie of its own host alone where browsers come from outside', async () => {
  const world = await openTestWorld({ byOauth: true, env: { PUBLIC_URL: 'https://deckhand.test' } });
  const page = await fetch(`${world.origin}/slack/install`);
  expect(page.headers.get('set-cookie')).toMatch(
    /^__Host-deckhand-install=\S+; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax; Secure$/,
  );
  await world.stop();
});
