import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { answerTo } from '../../support/asking.ts';
import {
  ACCOUNT,
  CHANNEL,
  EMAIL,
  openTestWorld,
  PEOPLE,
  TEAM,
  type TestWorld,
} from '../../support/test-world.ts';

const POST = { method: 'POST', path: `/${ACCOUNT}/projects/storefront/servers` } as const;
const SITE = { name: 'shop', subdomain: 'shop-front' };

describe('server add', () => {
  let house: TestWorld;
  beforeEach(async () => {
    house = await openTestWorld({ speed: 0 });
    await house.connect();
  });
  afterEach(() => house.stop());

  const ann = () => house.as('admin');
  const view = () => JSON.stringify(ann().openView()?.content ?? {});
  const shows = (words: string) => house.slack.until(() => view().includes(words));
  const posts = () =>
    house.service.requests.all.filter(({ method, path }) => method === 'POST' && path.endsWith('/servers'));
  const roots = () => house.slack.messages(TEAM, CHANNEL);
  const thread = () => house.slack.thread(TEAM, CHANNEL, roots()[0]?.ts ?? '').map(({ text }) => text);

  async function open(line = '/deckhand server add storefront'): Promise<void> {
    await ann().command(CHANNEL, line);
    await house.slack.until(() => ann().openView()?.content.callback_id === 'server.add');
  }

  /** Waits for the look-ups of the opened form, so that nothing is drawn anew under a test's hands. */
  async function openFilled(line?: string): Promise<void> {
    const looked = house.service.requests.next(({ path }) => path === '/profile');
    const drawn = house.slack.until(() => house.slack.calls.some(({ method }) => method === 'views.update'));
    await open(line);
    await looked;
    await drawn;
  }

  async function confirmSite(): Promise<void> {
    await openFilled();
    await ann().submit('server.add', SITE);
    await shows('Create this server?');
  }

  it('makes a static site: previewed, confirmed, shown and followed to its address', async () => {
    await openFilled();
    await ann().click(
      { viewId: ann().openView()?.id ?? '' },
      { actionId: 'subdomain', selected: 'https://Shop-Front.sites.example.net' },
    );
    await shows('The address will be `https://shop-front.sites.example.net`');
    await ann().submit('server.add', { ...SITE, spa_mode: ['true'] });
    await shows('*Address*  `https://shop-front.sites.example.net`');
    expect(posts()).toHaveLength(0);
    await ann().submit('server.add');
    await shows('The service has taken the order');
    expect(posts().map(({ body }) => body)).toEqual([
      {
        server: { name: 'shop', protocol_type: 'static_hosting' },
        hosted_website_attributes: { subdomain: 'shop-front', spa_mode: true },
      },
    ]);
    expect(roots()[0]?.text).toContain('*shop* in *Storefront*: provisioning');
    house.service.clock.advance(10_000);
    await house.slack.until(() => roots()[0]?.text.includes(': active') === true);
    await house.slack.until(() => thread().length === 2);
    expect(thread()[0]).toContain('taken the order for *shop*');
    expect(thread()[1]).toContain(
      'running and ready for deployments, at https://shop-front.sites.example.net',
    );
    expect(JSON.stringify(roots()[0]?.blocks)).toContain('"url":"https://shop-front.sites.example.net"');
    expect(roots()).toHaveLength(1);
  });

  it('makes a managed VPS, with its total on the confirmation', async () => {
    await openFilled();
    await ann().click(
      { viewId: ann().openView()?.id ?? '' },
      { actionId: 'protocol_type', selected: 'managed_vps' },
    );
    await shows('2 vCPU, 4 GB, $24.00 a month');
    expect(view()).not.toContain('Sydney');
    await ann().submit('server.add', { name: 'box', region: 'fra1', size: 'medium' });
    await shows('*Total*  *$24.00 a month*');
    expect(posts()).toHaveLength(0);
    await ann().submit('server.add');
    await house.slack.until(() => roots().length === 1);
    expect(posts()[0]?.body).toEqual({
      server: { name: 'box', protocol_type: 'managed_vps' },
      region: 'fra1',
      size: 'medium',
    });
    house.service.clock.advance(20_000);
    await house.slack.until(() => roots()[0]?.text.includes(': active') === true);
    const root = JSON.stringify(roots()[0]?.blocks);
    expect(root).toMatch(/\*IP address\* {2}`203\.0\.113\.\d+`/);
    expect(root).toContain('*Cost*  $24.00 a month');
    expect(root).toContain('Test this server');
  });

  it.each(['error', 'suspended', 'disabled', 'destroying'] as const)(
    'follows a server that ends as %s no further',
    async (status) => {
      house.service.world.setProvisioning({ account: ACCOUNT, protocol: 'static_hosting', status });
      await confirmSite();
      await ann().submit('server.add');
      await house.slack.until(() => roots().length === 1);
      house.service.clock.advance(10_000);
      await house.slack.until(() => roots()[0]?.text.includes(`: ${status}`) === true);
      await house.logged('following a server ended');
      expect(thread().at(-1)).toContain(`*${status}*: `);
    },
  );

  it('opens at once though the service hangs, and draws what it can', async () => {
    house.service.faults.add({ path: `/${ACCOUNT}/**`, delayMs: 1_500 });
    house.service.requests.clear();
    await open();
    expect(view()).toContain('"block_id":"name"');
    expect(view()).toContain('"block_id":"subdomain"');
    expect(house.service.requests.all.filter(({ status }) => status !== undefined)).toEqual([]);
  });

  it('keeps the form where the look-up fails, and says why', async () => {
    house.service.faults.add({ path: `/${ACCOUNT}/profile`, status: 403, body: {} });
    await open();
    await shows('The service refused');
    expect(view()).toContain('"block_id":"subdomain"');
  });

  it('goes back to change something, with everything still there', async () => {
    await confirmSite();
    await ann().click({ viewId: ann().openView()?.id ?? '' }, { actionId: 'server.add:back' });
    await shows('"initial_value":"shop-front"');
    await ann().submit('server.add', { name: 'other' });
    await shows('*Name*  other');
    expect(posts()).toHaveLength(0);
  });

  it('asks for the project where several could be meant', async () => {
    await openFilled('/deckhand server add');
    const place = { viewId: ann().openView()?.id ?? '' };
    await ann().suggest(place, { actionId: 'project', query: 'store' });
    await ann().submit('server.add', { ...SITE, project: 'storefront' });
    await shows('*Project*  Storefront of `acme`');
  });

  it.each([
    [{ subdomain: 'not a label!' }, { subdomain: 'Use letters, digits and hyphens' }],
    [{ subdomain: '-shop' }, { subdomain: 'Use letters, digits and hyphens' }],
    [{ name: '   ' }, { name: 'Give the server a name.' }],
  ])('refuses %j under its field', async (wrong, errors) => {
    await openFilled();
    const answer = await ann().submit('server.add', { ...SITE, ...wrong });
    expect(answer.errors).toMatchObject(
      Object.fromEntries(
        Object.entries(errors).map(([field, said]) => [field, expect.stringContaining(said)]),
      ),
    );
  });

  it('brings the form back with the service’s faults under their fields, and creates once it is right', async () => {
    const { service } = house;
    service.faults.add({
      ...POST,
      status: 422,
      body: { subdomain: ['has <already> been taken'], base: ['Plan & limit'] },
      times: 1,
    });
    await confirmSite();
    await ann().submit('server.add');
    await shows('"block_id":"subdomain:error"');
    expect(view()).toContain('has &lt;already&gt; been taken');
    expect(view()).toContain('Plan &amp; limit');
    expect(view()).toContain('"initial_value":"shop-front"');
    await ann().submit('server.add', { subdomain: 'shop-two' });
    await shows('Create this server?');
    await ann().submit('server.add');
    await house.slack.until(() => roots().length === 1);
    expect(posts()).toHaveLength(2);
    expect(service.world.state.accounts.get(ACCOUNT)?.projects[0]?.servers).toHaveLength(3);
  });

  it('can be ordered again where it was certainly not made', async () => {
    house.service.faults.add({ ...POST, status: 503, retryAfter: '600', times: 1 });
    await confirmSite();
    await ann().submit('server.add');
    await shows('The service is busy right now.');
    expect(roots()).toHaveLength(0);
    await ann().submit('server.add');
    await house.slack.until(() => roots().length === 1);
  });

  it.each([
    ['drops the answer', { drop: true, afterHandling: true }],
    ['breaks off its answer', { badJson: true, afterHandling: true }],
    ['fails in the middle', { status: 500, afterHandling: true }],
  ])('says honestly that it does not know where the service %s, and never asks twice', async (_, fault) => {
    house.service.faults.add({ ...POST, ...fault });
    await confirmSite();
    const said = await answerTo(house, 'admin', () => ann().submit('server.add'));
    expect(said).toContain('I cannot tell whether it was created');
    expect(said).toContain('`/deckhand server show \\"shop\\" storefront`');
    await shows('I cannot tell whether it was created');
    expect(posts()).toHaveLength(1);
    expect(roots()).toHaveLength(0);
  });

  it('never asks again after a kill between the request and its answer, and says so', async () => {
    const { engine, clock } = house.app.parts;
    const said = await answerTo(house, 'admin', () =>
      engine.send('add-server', {
        workspace: TEAM,
        user: PEOPLE.admin,
        viewId: 'V0GONE',
        draft: {
          channel: CHANNEL,
          account: ACCOUNT,
          project: { permalink: 'storefront', name: 'Storefront' },
          protocol: 'managed_vps',
          wanted: { protocol_type: 'managed_vps', name: 'box', region: 'fra1', size: 'small' },
          order: 'order-1',
        },
        orderedAt: clock.now(),
        asked: true,
      }),
    );
    expect(said).toContain('I was stopped while I asked the service to create *box*');
    expect(said).toContain('`/deckhand hosting list`');
    expect(posts()).toHaveLength(0);
  });

  it('creates once, however often the confirmation is pressed', async () => {
    await confirmSite();
    await Promise.all([ann().submit('server.add'), ann().submit('server.add')]);
    await house.slack.until(() => roots().length === 1);
    expect(posts()).toHaveLength(1);
  });

  it('is for operators', async () => {
    const said = await answerTo(house, 'member', () =>
      house.as('member').command(CHANNEL, '/deckhand server add storefront'),
    );
    expect(said).toContain('This needs the role *operator*');
  });

  it('leaves the thread alone where the channel wants none', async () => {
    await house.app.workspaces
      .open(TEAM)
      .channels.change(CHANNEL, (current) => ({ ...current, threads: false }));
    await confirmSite();
    await ann().submit('server.add');
    await house.slack.until(() => roots().length === 1);
    house.service.clock.advance(10_000);
    await house.logged('following a server ended');
    expect(thread()).toEqual([]);
  });

  it('is picked up after a kill, and tells nothing twice', async () => {
    const { engine, clock } = house.app.parts;
    await confirmSite();
    await ann().submit('server.add');
    await house.slack.until(() => thread().length === 1);
    house.service.clock.advance(10_000);
    await house.logged('following a server ended');
    const made = house.service.world.state.accounts.get(ACCOUNT)?.projects[0]?.servers.at(-1);
    house.logs.length = 0;
    await engine.send('follow-provisioning', {
      workspace: TEAM,
      target: {
        account: ACCOUNT,
        project: { permalink: 'storefront', name: 'Storefront' },
        server: { identifier: made?.identifier, name: 'shop' },
      },
      askedBy: PEOPLE.admin,
      channel: CHANNEL,
      rootTs: roots()[0]?.ts,
      startedAt: clock.now(),
      threads: true,
      told: ['ordered'],
      telling: 'status:active',
    });
    await house.logged('following a server ended');
    expect(thread()).toHaveLength(2);
    expect(await house.app.parts.metrics.text()).toMatch(/^deckhand_reply_uncertain_total 1$/m);
  });

  it('stops where the root message is gone', async () => {
    await confirmSite();
    await ann().submit('server.add');
    await house.slack.until(() => roots().length === 1);
    house.slack.fault({ method: 'chat.update', error: 'message_not_found' });
    await house.logged('the message of a new server is gone');
  });

  it.each([
    [401, 'was revoked or rotated'],
    [403, 'The service refused'],
    [404, 'See what there is'],
  ])('ends with the reason on a %i while polling', async (status, reason) => {
    await confirmSite();
    house.service.faults.add({
      method: 'GET',
      path: `/${ACCOUNT}/projects/storefront/servers/*`,
      status,
      body: { error_code: status === 404 ? 'record_not_found' : 'no' },
    });
    await ann().submit('server.add');
    await house.slack.until(() => JSON.stringify(roots()[0]?.blocks ?? '').includes(reason));
  });

  it('goes on through a service that fails for a while', async () => {
    await confirmSite();
    const path = `/${ACCOUNT}/projects/storefront/servers/*`;
    house.service.faults.add({ method: 'GET', path, status: 500, times: 2 });
    house.service.faults.add({ method: 'GET', path, badJson: true, times: 1 });
    await ann().submit('server.add');
    await house.slack.until(() => roots().length === 1);
    house.service.clock.advance(10_000);
    await house.slack.until(() => roots()[0]?.text.includes(': active') === true);
  });

  describe('where the account is not enrolled in the beta', () => {
    beforeEach(() => {
      house.service.world.updateAccount({ account: ACCOUNT, betaFeatures: false });
    });
    const press = (actionId: string) => ann().click({ viewId: ann().openView()?.id ?? '' }, { actionId });

    it('offers to enrol in place, and goes on with the form', async () => {
      await open();
      await shows('is not enrolled');
      await press('server.add:enroll');
      await shows('"block_id":"subdomain"');
      expect(house.service.world.state.accounts.get(ACCOUNT)?.betaFeatures).toBe(true);
    });

    it('hands over where the key is not an administrator’s', async () => {
      house.service.world.updateUser({ account: ACCOUNT, email: EMAIL, role: 'member' });
      await open();
      await shows('is not enrolled');
      await press('server.add:enroll');
      await shows('Only an administrator of the account');
      expect(view()).toContain(`${house.service.origin}/${ACCOUNT}/beta_features`);
      const viewId = ann().openView()?.id ?? '';
      await ann().click({ viewId }, { actionId: 'beta:tell', selected: PEOPLE.billing });
      await house.slack.until(() => house.slack.dms(TEAM, PEOPLE.billing).length === 1);
    });
  });
});

describe('a server that takes longer than it is followed', () => {
  it('is no longer followed, until somebody asks to check again', async () => {
    const house = await openTestWorld({ speed: 0, env: { FOLLOW_TIMEOUT_MINUTES: '0.01' } });
    try {
      await house.connect();
      const ann = house.as('admin');
      await ann.command(CHANNEL, '/deckhand server add storefront');
      await house.slack.until(() => ann.openView()?.content.callback_id === 'server.add');
      await ann.submit('server.add', SITE);
      await house.slack.until(() => JSON.stringify(ann.openView()?.content).includes('Create this server?'));
      await ann.submit('server.add');
      const root = () => house.slack.messages(TEAM, CHANNEL)[0];
      await house.slack.until(() => root()?.text.includes('no longer followed') === true);
      house.service.clock.advance(10_000);
      await ann.click({ channel: CHANNEL, ts: root()?.ts ?? '' }, { actionId: 'server.add:check' });
      await house.slack.until(() => root()?.text.includes(': active') === true);
      await house.slack.until(() => house.slack.thread(TEAM, CHANNEL, root()?.ts ?? '').length === 2);
    } finally {
      await house.stop();
    }
  });
});
