import { describe, expect } from 'vitest';
import { answerTo } from '../../support/asking.ts';
import { test } from '../../support/fixtures.ts';
import { sendPayload } from '../../support/signed.ts';
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

const MACHINE = { protocol_type: 'managed_vps', name: 'box', region: 'fra1', size: 'small' };

/** The data of the job that carries out a confirmed order. */
function orderOf(
  { app }: TestWorld,
  wanted: typeof MACHINE | (typeof SITE & { protocol_type: string; spa_mode: boolean }),
  { asked, ...more }: { asked: boolean; created?: object; shown?: object },
) {
  const draft = {
    channel: CHANNEL,
    account: ACCOUNT,
    project: { permalink: 'storefront', name: 'Storefront' },
    protocol: wanted.protocol_type,
    wanted,
    order: 'order-1',
  };
  const orderedAt = app.parts.clock.now();
  return { workspace: TEAM, user: PEOPLE.admin, viewId: 'V0GONE', draft, orderedAt, asked, ...more };
}

describe('server add', () => {
  test.override({ worldOptions: { speed: 0 }, connected: true });

  const ann = (world: TestWorld) => world.as('admin');
  const view = (world: TestWorld) => JSON.stringify(ann(world).openView()?.content ?? {});
  const shows = (world: TestWorld, words: string) => world.slack.until(() => view(world).includes(words));
  const posts = (world: TestWorld) =>
    world.service.requests.all.filter(({ method, path }) => method === 'POST' && path.endsWith('/servers'));
  const roots = (world: TestWorld) => world.slack.messages(TEAM, CHANNEL);
  const thread = (world: TestWorld) =>
    world.slack.thread(TEAM, CHANNEL, roots(world)[0]?.ts ?? '').map(({ text }) => text);

  async function jobsDone(world: TestWorld, queue: string, count: number): Promise<void> {
    const line = `deckhand_jobs_total{queue="${queue}",outcome="done"} ${count}`;
    await expect.poll(() => world.app.parts.metrics.text(), { timeout: 20_000 }).toContain(line);
  }

  async function open(world: TestWorld, line = '/deckhand server add storefront'): Promise<void> {
    await ann(world).command(CHANNEL, line);
    await world.slack.until(() => ann(world).openView()?.content.callback_id === 'server.add');
  }

  /** Waits for the look-ups of the opened form, so that nothing is drawn anew under a test's hands. */
  async function openFilled(world: TestWorld, line?: string): Promise<void> {
    const looked = world.service.requests.next(({ path }) => path === '/profile');
    const drawn = world.slack.until(() => world.slack.calls.some(({ method }) => method === 'views.update'));
    await open(world, line);
    await looked;
    await drawn;
  }

  async function confirmSite(world: TestWorld): Promise<void> {
    await openFilled(world);
    await ann(world).submit('server.add', SITE);
    await shows(world, 'Create this server?');
  }

  test('server add makes a static site: previewed, confirmed, shown and followed to its address', async ({
    world,
  }) => {
    await openFilled(world);
    await ann(world).click(
      { viewId: ann(world).openView()?.id ?? '' },
      { actionId: 'subdomain', selected: 'https://Shop-Front.sites.example.net' },
    );
    await shows(world, 'The address will be `https://shop-front.sites.example.net`');
    await ann(world).submit('server.add', { ...SITE, spa_mode: ['true'] });
    await shows(world, '*Address*  `https://shop-front.sites.example.net`');
    expect(posts(world)).toHaveLength(0);
    await ann(world).submit('server.add');
    await shows(world, 'The service has accepted the order');
    expect(posts(world).map(({ body }) => body)).toEqual([
      {
        server: { name: 'shop', protocol_type: 'static_hosting' },
        hosted_website_attributes: { subdomain: 'shop-front', spa_mode: true },
      },
    ]);
    expect(roots(world)[0]?.text).toContain('*shop* in *Storefront*: provisioning');
    world.service.clock.advance(10_000);
    await world.slack.until(() => roots(world)[0]?.text.includes(': active') === true);
    await world.slack.until(() => thread(world).length === 2);
    expect(thread(world)[0]).toContain('accepted the order for *shop*');
    const [, ready] = world.slack.thread(TEAM, CHANNEL, roots(world)[0]?.ts ?? '');
    expect(JSON.stringify(ready?.blocks)).toContain(
      'running and ready for deployments, at https://shop-front.sites.example.net',
    );
    expect(JSON.stringify(roots(world)[0]?.blocks)).toContain('"url":"https://shop-front.sites.example.net"');
    expect(roots(world)).toHaveLength(1);
  });

  test('server add follows a server whose record gives an address for notify_email', async ({ world }) => {
    await confirmSite(world);
    const body = {
      identifier: 77,
      name: 'shop',
      protocol_type: 'static_hosting',
      notify_email: 'ops@example.com',
      port: false,
      static_hosting: { status: 'provisioning', subdomain: 'shop-front', spa_mode: 'false', url: 5 },
    };
    world.service.faults.add({ ...POST, status: 201, body });
    await ann(world).submit('server.add');
    await shows(world, 'The service has accepted the order');
    expect(roots(world)[0]?.text).toContain('*shop* in *Storefront*: provisioning');
  });

  test('server add makes a managed VPS, with its total on the confirmation', async ({ world }) => {
    await openFilled(world);
    await ann(world).click(
      { viewId: ann(world).openView()?.id ?? '' },
      { actionId: 'protocol_type', selected: 'managed_vps' },
    );
    await shows(world, '2 vCPU, 4 GB, 24.00 USD a month');
    await ann(world).submit('server.add', { name: 'box', region: 'fra1', size: 'medium' });
    await shows(world, '*Total*  *24.00 USD a month*');
    expect(posts(world)).toHaveLength(0);
    await ann(world).submit('server.add');
    await world.slack.until(() => roots(world).length === 1);
    expect(posts(world)[0]?.body).toEqual({
      server: { name: 'box', protocol_type: 'managed_vps' },
      region: 'fra1',
      size: 'medium',
    });
    world.service.clock.advance(20_000);
    await world.slack.until(() => roots(world)[0]?.text.includes(': active') === true);
    const root = JSON.stringify(roots(world)[0]?.blocks);
    expect(root).toMatch(/\*IP address\* {2}`203\.0\.113\.\d+`/);
    expect(root).toContain('*Cost*  24.00 USD a month');
    expect(root).toContain('Test this server');
  });

  test('server add takes all fields of a kind that was picked with them', async ({ world }) => {
    await openFilled(world);
    const { id, content } = ann(world).openView() ?? {};
    const fields = {
      name: { type: 'plain_text_input', value: 'box' },
      protocol_type: { type: 'static_select', selected_option: { value: 'managed_vps' } },
      region: { type: 'static_select', selected_option: { value: 'fra1' } },
      size: { type: 'static_select', selected_option: { value: 'medium' } },
    };
    const values = Object.fromEntries(
      Object.entries(fields).map(([field, value]) => [field, { [field]: value }]),
    );
    const { text } = await sendPayload(world, {
      type: 'view_submission',
      team: { id: TEAM },
      user: { id: PEOPLE.admin, team_id: TEAM },
      trigger_id: '1.2.all-at-once',
      view: { ...content, id, hash: 'h1', state: { values } },
    });
    expect(text).toContain('*Total*  *24.00 USD a month*');
  });

  test.for(['error', 'suspended', 'disabled', 'destroying'] as const)(
    'server add follows a server that ends as %s no further',
    async (status, { world }) => {
      world.service.world.setProvisioning({ account: ACCOUNT, protocol: 'static_hosting', status });
      await confirmSite(world);
      await ann(world).submit('server.add');
      await world.slack.until(() => roots(world).length === 1);
      world.service.clock.advance(10_000);
      await world.slack.until(() => roots(world)[0]?.text.includes(`: ${status}`) === true);
      await world.logged('following a server ended');
      expect(thread(world).at(-1)).toContain(`*${status}*: `);
    },
  );

  test('server add opens at once though the service hangs, and draws what it can', async ({ world }) => {
    world.service.faults.add({ path: `/${ACCOUNT}/**`, delayMs: 1_500 });
    world.service.requests.clear();
    await open(world);
    expect(view(world)).toContain('"block_id":"name"');
    expect(view(world)).toContain('"block_id":"subdomain"');
    expect(world.service.requests.all.filter(({ status }) => status !== undefined)).toEqual([]);
  });

  test('server add keeps the form where the look-up fails, and says why', async ({ world }) => {
    world.service.faults.add({ path: `/${ACCOUNT}/profile`, status: 403, body: {} });
    await open(world);
    await shows(world, 'The service refused');
    expect(view(world)).toContain('"block_id":"subdomain"');
  });

  test('server add goes back to change something, with everything still there', async ({ world }) => {
    await confirmSite(world);
    await ann(world).click({ viewId: ann(world).openView()?.id ?? '' }, { actionId: 'server.add:back' });
    await shows(world, '"initial_value":"shop-front"');
    await ann(world).submit('server.add', { name: 'other' });
    await shows(world, '*Name*  other');
    expect(posts(world)).toHaveLength(0);
  });

  test('server add asks for the project where several could be meant', async ({ world }) => {
    await openFilled(world, '/deckhand server add');
    const place = { viewId: ann(world).openView()?.id ?? '' };
    await ann(world).suggest(place, { actionId: 'project', query: 'store' });
    await ann(world).submit('server.add', { ...SITE, project: 'storefront' });
    await shows(world, '*Project*  Storefront of `acme`');
  });

  test.for([
    [{ subdomain: 'not a label!' }, { subdomain: 'Use letters, digits and hyphens' }],
    [{ subdomain: '-shop' }, { subdomain: 'Use letters, digits and hyphens' }],
    [{ name: '   ' }, { name: 'Give the server a name.' }],
  ] as const)('server add refuses %j under its field', async ([wrong, errors], { world }) => {
    await openFilled(world);
    const answer = await ann(world).submit('server.add', { ...SITE, ...wrong });
    expect(answer.errors).toMatchObject(
      Object.fromEntries(
        Object.entries(errors).map(([field, said]) => [field, expect.stringContaining(said)]),
      ),
    );
  });

  test('server add brings the form back with the service’s faults under their fields, and creates once it is right', async ({
    world,
  }) => {
    const { service } = world;
    service.faults.add({
      ...POST,
      status: 422,
      body: { subdomain: ['has <already> been taken'], base: ['Plan & limit'] },
      times: 1,
    });
    await confirmSite(world);
    await ann(world).submit('server.add');
    await shows(world, '"block_id":"subdomain:error"');
    expect(view(world)).toContain('has &lt;already&gt; been taken');
    expect(view(world)).toContain('Plan &amp; limit');
    expect(view(world)).toContain('"initial_value":"shop-front"');
    await ann(world).submit('server.add', { subdomain: 'shop-two' });
    await shows(world, 'Create this server?');
    await ann(world).submit('server.add');
    await world.slack.until(() => roots(world).length === 1);
    expect(posts(world)).toHaveLength(2);
    expect(service.world.state.accounts.get(ACCOUNT)?.projects[0]?.servers).toHaveLength(3);
  });

  test('server add can be ordered again where it was certainly not made', async ({ world }) => {
    world.service.faults.add({ ...POST, status: 503, retryAfter: '600', times: 1 });
    await confirmSite(world);
    await ann(world).submit('server.add');
    await shows(world, 'The service is busy.');
    expect(roots(world)).toHaveLength(0);
    await ann(world).submit('server.add');
    await world.slack.until(() => roots(world).length === 1);
  });

  const lostAnswers = [
    ['drops the answer', { drop: true, afterHandling: true }],
    ['breaks off its answer', { badJson: true, afterHandling: true }],
    ['fails in the middle', { status: 500, afterHandling: true }],
  ] as const;
  const LIST = { method: 'GET', path: `/${ACCOUNT}/projects/storefront/servers` };

  test.for(lostAnswers)(
    'server add finds the server by its name where the service %s, and follows it',
    async ([_, fault], { world }) => {
      world.service.faults.add({ ...POST, ...fault });
      await confirmSite(world);
      await ann(world).submit('server.add');
      await world.slack.until(() => roots(world)[0]?.text.includes('*shop* in *Storefront*'));
      expect(posts(world)).toHaveLength(1);
      expect(await world.app.parts.metrics.text()).toContain(
        'deckhand_request_uncertain_total{operation="createServer"} 1',
      );
    },
  );

  test.for(lostAnswers)(
    'server add says honestly that it does not know where the service %s and lists no servers, and never asks twice',
    async ([_, fault], { world }) => {
      world.service.faults.add({ ...POST, ...fault });
      world.service.faults.add({ ...LIST, status: 403, body: {} });
      await confirmSite(world);
      const said = await answerTo(world, 'admin', () => ann(world).submit('server.add'));
      expect(said).toContain('it is not known whether it was created');
      expect(said).toContain('`/deckhand server show \\"shop\\" storefront`');
      await shows(world, 'it is not known whether it was created');
      expect(posts(world)).toHaveLength(1);
      expect(roots(world)).toHaveLength(0);
    },
  );

  test('server add takes no older server of the same name for the one whose answer was lost', async ({
    world,
  }) => {
    const older = {
      ...LIST,
      status: 200,
      body: [{ identifier: 'old', name: 'shop', protocol_type: 'static_hosting' }],
    };
    world.service.faults.add(older);
    world.service.faults.add({ ...POST, drop: true });
    await confirmSite(world);
    const said = await answerTo(world, 'admin', () => ann(world).submit('server.add'));
    expect(said).toContain('it is not known whether it was created');
    expect(roots(world)).toHaveLength(0);
  });

  test('server add never asks again after a kill between the request and its answer, and says so', async ({
    world,
  }) => {
    const { engine } = world.app.parts;
    const said = await answerTo(world, 'admin', () =>
      engine.send('add-server', orderOf(world, MACHINE, { asked: true })),
    );
    expect(said).toContain('Deckhand was stopped while it asked the service to create *box*');
    expect(said).toContain('`/deckhand hosting list`');
    expect(posts(world)).toHaveLength(0);
  });

  test('server add creates once, however often the confirmation is pressed', async ({ world }) => {
    await confirmSite(world);
    await Promise.all([ann(world).submit('server.add'), ann(world).submit('server.add')]);
    await world.slack.until(() => roots(world).length === 1);
    expect(posts(world)).toHaveLength(1);
  });

  test('server add creates once, also where a kill has the form carried out again after the order has ended', async ({
    world,
  }) => {
    const { engine } = world.app.parts;
    const order = () =>
      engine.send('add-server', orderOf(world, MACHINE, { asked: false }), { key: 'order-1' });
    await order();
    await jobsDone(world, 'add-server', 1);
    expect(await order()).toBe(false);
    expect(posts(world)).toHaveLength(1);
    expect(roots(world)).toHaveLength(1);
  });

  test('server add posts nothing twice where a kill has it carried out again after its follower has ended', async ({
    world,
  }) => {
    const { engine } = world.app.parts;
    await confirmSite(world);
    await ann(world).submit('server.add');
    await world.slack.until(() => roots(world).length === 1);
    world.service.clock.advance(10_000);
    await jobsDone(world, 'follow-provisioning', 1);
    const made = world.service.world.state.accounts.get(ACCOUNT)?.projects[0]?.servers.at(-1);
    const [root] = roots(world);
    const ordered = orderOf(
      world,
      { protocol_type: 'static_hosting', ...SITE, spa_mode: false },
      {
        asked: true,
        created: { identifier: made?.identifier, name: 'shop' },
        shown: { channel: CHANNEL, ts: root?.ts },
      },
    );
    await engine.send('add-server', ordered);
    await jobsDone(world, 'add-server', 2);
    await expect
      .poll(async () => (await engine.stats()).queues['follow-provisioning']?.running, { timeout: 20_000 })
      .toBe(0);
    expect(thread(world)).toHaveLength(2);
    expect(roots(world)).toEqual([root]);
  });

  test('server add is for operators', async ({ world }) => {
    const said = await answerTo(world, 'member', () =>
      world.as('member').command(CHANNEL, '/deckhand server add storefront'),
    );
    expect(said).toContain('This needs the role *operator*');
  });

  test('server add leaves the thread alone where the channel wants none', async ({ world }) => {
    await world.app.workspaces
      .open(TEAM)
      .channels.change(CHANNEL, (current) => ({ ...current, threads: false }));
    await confirmSite(world);
    await ann(world).submit('server.add');
    await world.slack.until(() => roots(world).length === 1);
    world.service.clock.advance(10_000);
    await world.logged('following a server ended');
    expect(thread(world)).toEqual([]);
  });

  test('server add is picked up after a kill, and tells nothing twice', async ({ world }) => {
    const { engine, clock } = world.app.parts;
    await confirmSite(world);
    await ann(world).submit('server.add');
    await world.slack.until(() => thread(world).length === 1);
    world.service.clock.advance(10_000);
    await world.logged('following a server ended');
    const made = world.service.world.state.accounts.get(ACCOUNT)?.projects[0]?.servers.at(-1);
    world.logs.length = 0;
    await engine.send('follow-provisioning', {
      workspace: TEAM,
      target: {
        account: ACCOUNT,
        project: { permalink: 'storefront', name: 'Storefront' },
        server: { identifier: made?.identifier, name: 'shop' },
      },
      askedBy: PEOPLE.admin,
      channel: CHANNEL,
      rootTs: roots(world)[0]?.ts,
      startedAt: clock.now(),
      threads: true,
      told: ['ordered'],
      telling: 'status:active',
    });
    await world.logged('following a server ended');
    expect(thread(world)).toHaveLength(2);
    expect(await world.app.parts.metrics.text()).toMatch(/^deckhand_reply_uncertain_total 1$/m);
  });

  test('server add stops where the root message is gone', async ({ world }) => {
    await confirmSite(world);
    await ann(world).submit('server.add');
    await world.slack.until(() => roots(world).length === 1);
    world.slack.fault({ method: 'chat.update', error: 'message_not_found' });
    await world.logged('"event":"follow_abandoned"');
  });

  test.for([
    [401, 'was revoked or rotated'],
    [403, 'The service refused'],
    [404, 'See what there is'],
  ] as const)(
    'server add ends with the reason on a %i while polling',
    async ([status, reason], { world }) => {
      await confirmSite(world);
      world.service.faults.add({
        method: 'GET',
        path: `/${ACCOUNT}/projects/storefront/servers/*`,
        status,
        body: { error_code: status === 404 ? 'record_not_found' : 'no' },
      });
      await ann(world).submit('server.add');
      await world.slack.until(() => JSON.stringify(roots(world)[0]?.blocks ?? '').includes(reason));
    },
  );

  test('server add goes on through a service that fails for a while', async ({ world }) => {
    await confirmSite(world);
    const path = `/${ACCOUNT}/projects/storefront/servers/*`;
    world.service.faults.add({ method: 'GET', path, status: 500, times: 2 });
    world.service.faults.add({ method: 'GET', path, badJson: true, times: 1 });
    await ann(world).submit('server.add');
    await world.slack.until(() => roots(world).length === 1);
    world.service.clock.advance(10_000);
    await world.slack.until(() => roots(world)[0]?.text.includes(': active') === true);
  });

  describe('where the account is not enrolled in the beta', () => {
    test.beforeEach(({ world }) => {
      world.service.world.updateAccount({ account: ACCOUNT, betaFeatures: false });
    });
    const press = (world: TestWorld, actionId: string) =>
      ann(world).click({ viewId: ann(world).openView()?.id ?? '' }, { actionId });

    test('server add where the account is not enrolled in the beta offers to enrol in place, and goes on with the form', async ({
      world,
    }) => {
      await open(world);
      await shows(world, 'is not enrolled');
      await press(world, 'server.add:enroll');
      await shows(world, '"block_id":"subdomain"');
      expect(world.service.world.state.accounts.get(ACCOUNT)?.betaFeatures).toBe(true);
    });

    test('server add where the account is not enrolled in the beta hands over where the key is not an administrator’s', async ({
      world,
    }) => {
      world.service.world.updateUser({ account: ACCOUNT, email: EMAIL, role: 'member' });
      await open(world);
      await shows(world, 'is not enrolled');
      await press(world, 'server.add:enroll');
      await shows(world, 'Only an administrator of the account');
      expect(view(world)).toContain(`${world.service.origin}/${ACCOUNT}/beta_features`);
      const viewId = ann(world).openView()?.id ?? '';
      await ann(world).click({ viewId }, { actionId: 'beta:tell', selected: PEOPLE.billing });
      await world.slack.until(() => world.slack.dms(TEAM, PEOPLE.billing).length === 1);
    });
  });
});

describe('a server that takes longer than it is followed', () => {
  test('a server that takes longer than it is followed is no longer followed, until somebody asks to check again', async () => {
    const world = await openTestWorld({ speed: 0, connected: true, env: { FOLLOW_TIMEOUT_MINUTES: '0.01' } });
    try {
      const ann = world.as('admin');
      await ann.command(CHANNEL, '/deckhand server add storefront');
      await world.slack.until(() => ann.openView()?.content.callback_id === 'server.add');
      await ann.submit('server.add', SITE);
      await world.slack.until(() => JSON.stringify(ann.openView()?.content).includes('Create this server?'));
      await ann.submit('server.add');
      const root = () => world.slack.messages(TEAM, CHANNEL)[0];
      await world.slack.until(() => root()?.text.includes('no longer followed') === true);
      world.service.clock.advance(10_000);
      await ann.click({ channel: CHANNEL, ts: root()?.ts ?? '' }, { actionId: 'server.add:check' });
      await world.slack.until(() => root()?.text.includes(': active') === true);
      await world.slack.until(() => world.slack.thread(TEAM, CHANNEL, root()?.ts ?? '').length === 2);
    } finally {
      await world.stop();
    }
  });
});
