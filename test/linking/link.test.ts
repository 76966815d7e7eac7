import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { createUserLinks } from '../../src/records/user-links.ts';
import { openStore } from '../../src/store/open-store.ts';
import { ask } from '../support/asking.ts';
import {
  formOn,
  linkButton,
  openLinkable,
  openLinkBrowser,
  PATH,
  PUBLIC_URL,
  SECRET,
} from '../support/linking.ts';
import { createManualClock, type ManualClock } from '../support/manual-clock.ts';
import { storedText } from '../support/stored-text.ts';
import { temporarySqlite } from '../support/temporary.ts';
import { EMAIL, PEOPLE, TEAM, type TestWorld } from '../support/test-world.ts';

const MINUTE = 60_000;

describe('linking', () => {
  let world: TestWorld;
  let clock: ManualClock;
  let browser: ReturnType<typeof openLinkBrowser>;
  beforeEach(async () => {
    clock = createManualClock(Date.now());
    world = await openLinkable({ clock });
    browser = openLinkBrowser(world);
  });
  afterEach(() => world.stop());

  /** Goes on to the service, which approves; the address that the browser is sent back to. */
  const approve = async () => browser.decide((await browser.go(await linkButton(world))).location, 'approve');
  const link = async () => browser.open(await approve());

  it('goes once from the command through the browser to a direct message, with no secret anywhere, and is seen and taken back', async () => {
    await world.connect();
    expect(await ask(world, '/deckhand whoami')).toContain('is not linked');
    const identity = world.slack.ephemerals(TEAM, PEOPLE.member).at(-1)?.text ?? '';
    expect(identity.split('in Deckhand')).toHaveLength(2);
    const start = await linkButton(world);
    const away = await browser.go(start);
    const authorise = new URL(away.location);
    expect(authorise.origin).toBe(world.service.authUrl);
    expect(Object.fromEntries(authorise.searchParams)).toMatchObject({
      client_id: 'deckhand',
      response_type: 'code',
      redirect_uri: `${PUBLIC_URL}/service/oauth/callback`,
      scope: 'email_address assignments',
      code_challenge_method: 'S256',
    });
    expect(away.headers.get('set-cookie')).toMatch(
      /^__Host-deckhand-link-\S+=\S+; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax; Secure$/,
    );
    const callback = await browser.decide(away.location, 'approve');
    const done = await browser.open(callback);
    expect(done.status).toBe(200);
    expect(done.text).toContain('“Ben Member” is linked');
    expect(done.text).toContain('return to Slack');
    expect(done.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(done.headers.get('cache-control')).toBe('no-store');
    await world.slack.until(() => world.slack.dms(TEAM, PEOPLE.member).length === 1);
    expect(world.slack.dms(TEAM, PEOPLE.member)[0]?.text).toContain('Linked. Commands still use');
    const again = await browser.open(callback);
    expect([again.status, (await browser.open(start)).status]).toEqual([410, 410]);
    expect(again.text).toContain('already used');
    expect(await ask(world, '/deckhand whoami')).toContain('Linked <!date^');
    const { grants } = world.service.world.state;
    expect(grants).toMatchObject([
      { email: EMAIL, scopes: ['email_address', 'assignments'], revoked: false },
    ]);
    // `client_secret_post`: the client in the body, and no Basic header.
    const exchange = world.service.requests.all.find(({ path }) => path.endsWith('/oauth/token'));
    expect(exchange).toMatchObject({ method: 'POST', status: 200, user: undefined });
    expect(exchange?.body).toMatchObject({
      client_id: 'deckhand',
      client_secret: expect.stringMatching(/./),
    });
    const { code = '', state = '' } = Object.fromEntries(new URL(callback).searchParams);
    const places = {
      log: world.logs.join('\n'),
      database: await storedText(world.config.STORE_URL),
      slack: JSON.stringify(world.slack.calls),
      page: done.text,
    };
    for (const [place, text] of Object.entries(places))
      for (const secret of [grants[0]?.accessToken ?? '', code, state, SECRET])
        expect(secret !== '' && text.includes(secret), `a secret stands in the ${place}`).toBe(false);

    const unlinked = await ask(world, '/deckhand unlink');
    expect(unlinked).toContain('authorised applications at the service');
    expect(await world.app.workspaces.open(TEAM).links.get(PEOPLE.member)).toBeUndefined();
    expect(await ask(world, '/deckhand unlink')).toContain('You are not linked');
  });

  it('says why it shows no e-mail address, and blames no scope that is granted', async () => {
    // Deckhand knows by now that the person is of this workspace.
    await ask(world, '/deckhand help');
    world.slack.fault({ method: 'users.info', error: 'user_not_found' });
    const page = await browser.open(await linkButton(world));
    expect(page.text).toContain('Slack shows no e-mail address of this user');
    expect(page.text).not.toContain('users:read.email');
  });

  it('asks before it begins: a page names the person and the workspace, and goes on by its own form only', async () => {
    const start = await linkButton(world);
    const page = await browser.open(start);
    expect(page.status).toBe(200);
    expect(page.text).toContain('“Ben Member” (ben@house.example) of the workspace “House”');
    expect(page.text).toContain('A link lends no API key');
    expect(page.text).toContain('Continue only if that Slack user is you');
    expect(page.headers.get('content-security-policy')).toContain("form-action 'self' https:");
    expect(page.headers.get('set-cookie')).toMatch(/^__Host-deckhand-ask-.*HttpOnly; SameSite=Lax; Secure$/);
    const form = formOn(page.text);
    const elsewhere = openLinkBrowser(world);
    const posts = [
      await elsewhere.open(`${PUBLIC_URL}${PATH}`, form),
      await browser.open(`${PUBLIC_URL}${PATH}`, { ...form, token: '' }),
      await browser.open(`${PUBLIC_URL}${PATH}`, { ...form, ticket: 'made-up' }),
      await browser.open(`${PUBLIC_URL}${PATH}`),
    ];
    expect(posts.map(({ status, location }) => [status, location])).toEqual([
      [403, ''],
      [403, ''],
      [400, ''],
      [400, ''],
    ]);
    const other = formOn((await browser.open(await linkButton(world, 'admin'))).text);
    const crossed = await browser.open(`${PUBLIC_URL}${PATH}`, { ...form, token: other.token ?? '' });
    expect(crossed.status).toBe(403);
    expect((await browser.open(`${PUBLIC_URL}${PATH}`, form)).status).toBe(303);
    await expectNoLink(world);
  });

  it('offers to undo the link in the direct message, and never undoes a later one', async () => {
    await link();
    await world.slack.until(() => world.slack.dms(TEAM, PEOPLE.member).length === 1);
    const [first] = world.slack.dms(TEAM, PEOPLE.member);
    await clock.advance(MINUTE);
    await link();
    await world.slack.until(() => world.slack.dms(TEAM, PEOPLE.member).length === 2);
    const ben = world.as('member');
    await ben.click(placeOf(first), { actionId: 'link:undo' });
    await world.slack.until(() =>
      world.slack.dms(TEAM, PEOPLE.member)[0]?.text.includes('removed or replaced'),
    );
    const { links, audit } = world.app.workspaces.open(TEAM);
    expect(await links.get(PEOPLE.member)).toBeDefined();
    await ben.click(placeOf(world.slack.dms(TEAM, PEOPLE.member)[1]), { actionId: 'link:undo' });
    await world.slack.until(() =>
      world.slack.dms(TEAM, PEOPLE.member)[1]?.text.includes('Your link is removed'),
    );
    expect(await links.get(PEOPLE.member)).toBeUndefined();
    expect((await audit.latest(1)).map(({ entry }) => entry.what)).toEqual(['unlink']);
  });

  it('ends only in the browser that began it, within ten minutes, and if the person says yes', async () => {
    const denied = await browser.go(await linkButton(world));
    const cancelled = await browser.open(await browser.decide(denied.location, 'deny'));
    const stolen = await approve();
    const other = await openLinkBrowser(world).open(stolen);
    expect((await browser.open(stolen)).status).toBe(410);
    const start = await linkButton(world);
    const callback = await browser.decide((await browser.go(start)).location, 'approve');
    await clock.advance(10 * MINUTE);
    const late = await browser.open(callback);
    expect([cancelled, other, late].map(({ status, text }) => [status, text])).toEqual([
      [403, expect.stringContaining('The link was cancelled')],
      [403, expect.stringContaining('another browser')],
      [410, expect.stringContaining('took too long')],
    ]);
    expect((await browser.open(start)).status).toBe(410);
    await expectNoLink(world);
  });

  it('refuses what nobody began, and repeats nothing of it', async () => {
    const markup = '%3Cscript%3E';
    const queries = ['code=abc&state=made-up', 'code=abc', `state=${markup}&error_description=${markup}`];
    for (const query of queries) {
      const page = await browser.open(`${PUBLIC_URL}/service/oauth/callback?${query}`);
      expect(page.status).toBe(400);
      expect(page.text).toContain('Unknown link');
      expect(page.text).not.toContain('<script');
    }
  });

  it('keeps people apart: another’s state links that person only', async () => {
    const [ann, ben] = [await linkButton(world, 'admin'), await linkButton(world, 'member')];
    const away = await browser.go(ben);
    await browser.go(ann);
    await browser.open(await browser.decide(away.location, 'approve'));
    expect(await world.app.workspaces.open(TEAM).links.get(PEOPLE.admin)).toBeUndefined();
    expect(await world.app.workspaces.open(TEAM).links.get(PEOPLE.member)).toBeDefined();
  });

  it.each([
    ['refuses the code', { status: 400, body: { error: 'invalid_grant' } }, 'The service refused'],
    ['drops the connection', { drop: true }, 'cannot be reached'],
  ])('has a page for a service that %s', async (_, fault, words) => {
    const callback = await approve();
    world.service.faults.add({ path: '/oauth/token', ...fault });
    const page = await browser.open(callback);
    expect(page.status).toBe(502);
    expect(page.text).toContain(words);
    await world.logged('"event":"link_failed"');
    await expectNoLink(world);
  });

  it('has a page for a service that cannot be reached at the start, and goes on when it can', async () => {
    const start = await linkButton(world);
    world.service.faults.add({ path: '/.well-known/**', drop: true, times: 1 });
    expect((await browser.go(start)).text).toContain('cannot be reached');
    const away = await browser.go(start);
    expect((await browser.open(await browser.decide(away.location, 'approve'))).status).toBe(200);
  });

  it('works without metadata, by the addresses that the service documents', async () => {
    world.service.faults.add({ path: '/.well-known/**', status: 404, body: {} });
    const away = await browser.go(await linkButton(world));
    expect(away.location).toContain(`${world.service.authUrl}/oauth/authorize?`);
    expect(away.location).not.toContain('code_challenge');
    expect((await browser.open(await browser.decide(away.location, 'approve'))).status).toBe(200);
  });

  it.each([
    ['has metadata without endpoints', metadata()],
    ['names a token endpoint over plain http elsewhere', metadata('http://login.example.com')],
  ])('does not link at a service that %s', async (_, fault) => {
    world.service.faults.add({ path: '/.well-known/**', ...fault });
    const page = await browser.go(await linkButton(world));
    expect(page.status).toBe(502);
    expect(page.text).toContain('answered unexpectedly');
    await expectNoLink(world);
  });

  it.each<[string, object, number?]>([
    ['odd types', { token_type: 7, refresh_token: [], expires_in: 'soon', scope: {}, extra: { a: 1 } }],
    ['the status 201', { scope: ['email_address'], refresh_token: '' }, 201],
  ])('takes a token answer with %s', async (_, more, status = 200) => {
    const callback = await approve();
    const headers = { 'content-type': 'application/json' };
    const body = { access_token: 'canary', ...more };
    world.service.faults.add({ path: '/oauth/token', status, body, headers });
    expect((await browser.open(callback)).status).toBe(200);
    expect(await world.app.workspaces.open(TEAM).links.get(PEOPLE.member)).toBeDefined();
  });
});

it('deletes the tokens that release 1.0.0 stored, once the link is read', async () => {
  const url = await temporarySqlite();
  const store = await openStore(url);
  onTestFinished(() => store.close());
  const clock = createManualClock(0);
  const old = { [`sealed${'Tokens'}`]: 'k1:canary', email: EMAIL, linkedAt: 7, expiresAt: 8 };
  await store.of(TEAM).collection('links', z.looseObject({})).put(PEOPLE.member, old);
  const links = createUserLinks({ store: store.of(TEAM), clock });
  expect(await storedText(url)).toContain('canary');
  expect(await links.get(PEOPLE.member)).toEqual({ email: EMAIL, linkedAt: 7 });
  await store.sweep();
  expect(await storedText(url)).not.toContain('canary');
  expect(await links.get(PEOPLE.member)).toEqual({ email: EMAIL, linkedAt: 7 });
});

function placeOf(message: { channel: string; ts: string } | undefined) {
  return { channel: message?.channel ?? '', ts: message?.ts ?? '' };
}

async function expectNoLink({ app, slack }: TestWorld): Promise<void> {
  expect(await app.workspaces.open(TEAM).links.get(PEOPLE.member)).toBeUndefined();
  expect(slack.dms(TEAM, PEOPLE.member)).toEqual([]);
}

/** An answer of the main site in place of its own; endpoints that are not given are left out. */
function metadata(token?: string) {
  const authorization_endpoint = 'https://login.example.com/oauth/authorize';
  const endpoints = token && { authorization_endpoint, token_endpoint: `${token}/oauth/token` };
  const headers = { 'content-type': 'application/json' };
  return { status: 200, headers, body: { issuer: 'https://login.example.com', ...(endpoints || {}) } };
}
