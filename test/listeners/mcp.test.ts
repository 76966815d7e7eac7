import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { describe, expect, onTestFinished } from 'vitest';
import { noteOutcomes } from '../../src/scheduler/episodes/change-episodes.ts';
import { fastClock } from '../support/faults.ts';
import { test } from '../support/fixtures.ts';
import { openBrowser } from '../support/installing.ts';
import { sign } from '../support/signed.ts';
import { ACCOUNT, API_KEY, CHANNEL, EMAIL, PEOPLE, TEAM, type TestWorld } from '../support/test-world.ts';

const ON = { env: { MCP: 'on' } };
const NAMES = ['projects', 'failing', 'test_access', 'latest_run', 'activity', 'statistics', 'invoices'];

const NEWEST = { pin: '2026-07-28' } as const;

interface Sent {
  headers: Record<string, string>;
  body: string;
}

/** As Slack's MCP client signs, by the world's clock. */
function signed({ slack, app }: TestWorld, body: string, secret = slack.app.signingSecret): Sent {
  const offset = (app.parts.clock.now() - Date.now()) / 1000;
  const accept = 'application/json, text/event-stream';
  return { headers: { ...sign(secret, body, Math.round(offset)), accept }, body };
}

const send = (world: TestWorld, { headers, body }: Sent) =>
  fetch(`${world.origin}/mcp`, { method: 'POST', headers, body });

/** The SDK's own client, with Slack's signature on each request. */
async function assistant(
  world: TestWorld,
  { secret, mode = NEWEST }: { secret?: string; mode?: 'legacy' | typeof NEWEST } = {},
): Promise<Client> {
  const client = new Client({ name: 'slackbot', version: '1.0.0' }, { versionNegotiation: { mode } });
  const transport = new StreamableHTTPClientTransport(new URL(`${world.origin}/mcp`), {
    fetch: (url, init) => {
      const body = String(init?.body ?? '');
      const headers = {
        ...Object.fromEntries(new Headers(init?.headers)),
        ...signed(world, body, secret).headers,
      };
      return fetch(url, { ...init, headers });
    },
  });
  onTestFinished(() => client.close());
  await client.connect(transport);
  return client;
}

const slackOf = (user: string, team = TEAM, more: object = {}) => ({ user_id: user, team_id: team, ...more });

async function call(
  client: Client,
  name: string,
  args: object = {},
  slack: unknown = slackOf(PEOPLE.member),
) {
  const meta = slack === null ? {} : { _meta: { slack } };
  const answer = await client.callTool({ name, arguments: { ...args }, ...meta });
  const blocks = JSON.stringify((answer._meta?.slack as { blocks?: unknown } | undefined)?.blocks ?? []);
  return { isError: answer.isError === true, text: JSON.stringify(answer.content), blocks };
}

/** What a tool's text says, as the assistant reads it. */
async function read(client: Client, name: string, args: object = {}, slack?: object) {
  const { text } = await call(client, name, args, slack);
  return JSON.parse(JSON.parse(text)[0].text);
}

async function fail(world: TestWorld, channel: string, name: string, person?: string): Promise<void> {
  const subject = { kind: 'deployments', channel, account: ACCOUNT, project: name, name, person } as const;
  const failure = { kind: 'failure' as const, id: 'f1', at: Date.now(), lines: ['deploy failed'] };
  await noteOutcomes(world.app.workspaces.open(TEAM), subject, [failure]);
}

test('the endpoint is absent unless it is switched on', async ({ world }) => {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
  expect((await send(world, signed(world, body))).status).toBe(404);
});

describe('the MCP endpoint', () => {
  test.override({ worldOptions: ON, connected: true });

  test.for([
    ['the newest revision', NEWEST],
    ['an older one', 'legacy'],
  ] as const)(
    'has the seven tools, of which one starts something, in %s of the protocol',
    async ([, mode], { world }) => {
      const { tools } = await (await assistant(world, { mode })).listTools();
      expect(tools.map(({ name }) => name)).toEqual(NAMES);
      const changing = tools.filter(({ annotations }) => annotations?.readOnlyHint === false);
      expect(changing.map(({ name }) => name)).toEqual(['test_access']);
      expect(tools.every(({ annotations }) => annotations?.destructiveHint === false)).toBe(true);
    },
  );

  test('answers in JSON, also where the caller names no stream', async ({ world }) => {
    const { headers, body } = signed(world, JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }));
    const answer = await send(world, { headers: { ...headers, accept: '*/*' }, body });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json']);
    expect(await answer.text()).toContain('latest_run');
  });

  test('gives the assistant no invisible or endless names', async ({ world }) => {
    const name = `Sh\u202e\u{e0049}op ${'x'.repeat(1_000_000)}`;
    const path = `/${ACCOUNT}/projects`;
    world.service.faults.add({ path, status: 200, body: [{ name, permalink: 'shop' }] });
    const { text } = await call(await assistant(world), 'projects');
    expect(text).toContain('Shop xxx');
    expect(text.length).toBeLessThan(1_000);
  });

  test('tests access, waits for the outcome, and names what fails and why', async ({ world }) => {
    const client = await assistant(world);
    const requested = { project: 'storefront' };
    const { slack, runs } = world.app.workspaces.open(TEAM);
    const direct = await slack.openDirect(PEOPLE.admin);
    await world.as('admin').command(direct, '/deckhand test storefront');
    await expect.poll(async () => (await runs.newest(1))[0]?.status).toBe('completed');
    // Somebody else's direct message is theirs.
    expect((await call(client, 'latest_run', requested)).text).toContain('never tested');
    expect(await read(client, 'test_access', requested)).toMatchObject({
      test: 'started',
      state: 'completed',
      servers_reachable: 2,
      failing: [],
      next: 'Ask test_access for a new test.',
    });
    const server = { project: 'storefront', server: 'web-1' };
    world.service.world.setOutcome({ account: ACCOUNT, ...server, status: 'error', message: 'refused' });
    await call(client, 'test_access', server);
    const failing = [{ name: 'web-1', reason: 'refused' }];
    expect(await read(client, 'latest_run', requested)).toMatchObject({ servers_reachable: 1, failing });
    const { blocks } = await call(client, 'latest_run', server);
    expect(blocks).toContain('*web-1* in *Storefront*: :warning: unreachable');
    expect(blocks).toContain(':x: *web-1* refused');
    expect(world.slack.messages(TEAM, CHANNEL)).toEqual([]);
    const lines = await world.app.workspaces.open(TEAM).audit.latest(10);
    expect(JSON.stringify(lines)).toContain(`${ACCOUNT}/storefront`);
  });

  test('tells what fails in the conversation’s channel, else in all that the person may see', async ({
    world,
  }) => {
    const client = await assistant(world);
    for (const channel of [CHANNEL, 'C0BILLING']) world.slack.invite(TEAM, channel, 'bot');
    const direct = await world.app.workspaces.open(TEAM).slack.openDirect(PEOPLE.admin);
    const projects = async (slack: object) =>
      (await read(client, 'failing', {}, slack)).failing
        .map(({ project }: { project: string }) => project)
        .toSorted();
    expect(await projects(slackOf(PEOPLE.member))).toEqual([]);
    await fail(world, CHANNEL, 'Storefront');
    await fail(world, 'C0BILLING', 'Billing');
    await fail(world, direct, 'Own', PEOPLE.admin);
    expect(await projects(slackOf(PEOPLE.member))).toEqual(['Billing', 'Storefront']);
    expect(await projects(slackOf(PEOPLE.admin))).toEqual(['Billing', 'Own', 'Storefront']);
    // The conversation with the assistant is a direct message of its own.
    expect(await projects(slackOf(PEOPLE.member, TEAM, { channel_id: 'D0SLACKBOT' }))).toHaveLength(2);
    const here = slackOf(PEOPLE.member, TEAM, { channel_id: CHANNEL });
    const failing = { project: 'Storefront', what: 'the deployment failed', failures: 1 };
    const rows = async () => (await read(client, 'failing', {}, here)).failing;
    expect(await rows()).toEqual([expect.objectContaining({ ...failing, who_is_on_it: null })]);
    const { blocks } = await call(client, 'failing', {}, here);
    expect(blocks).toContain('*Storefront: the deployment');
    const [root] = world.slack.messages(TEAM, CHANNEL);
    await world.as('admin').click({ channel: CHANNEL, ts: root?.ts ?? '' }, { actionId: 'episode:claim' });
    await expect.poll(rows).toEqual([expect.objectContaining({ who_is_on_it: `<@${PEOPLE.admin}>` })]);
  });

  test('has with each answer what to ask next, and the blocks that people see', async ({ world }) => {
    const client = await assistant(world);
    world.service.world.updateUser({ account: ACCOUNT, email: EMAIL, billing: true });
    world.service.world.addInvoice({ account: ACCOUNT });
    for (const name of NAMES) {
      const user = name === 'invoices' ? PEOPLE.admin : PEOPLE.member;
      // Slack names them in each of these forms.
      const objects = { user: { id: user }, team: { id: TEAM }, channel: { id: CHANNEL } };
      const slack = /test|run/.test(name)
        ? objects
        : name === 'projects'
          ? { user, team: TEAM }
          : slackOf(user);
      const args = /test|run/.test(name) ? { project: 'storefront' } : {};
      const { text, blocks, isError } = await call(client, name, args, slack);
      expect({ name, isError }).toEqual({ name, isError: false });
      expect(text).toMatch(/\\"next\\":\\"\w/);
      expect(blocks).toContain('"type":"section"');
    }
    expect((await call(client, 'projects')).text).toContain('billing-api');
    expect((await call(client, 'activity', { range: 'today' })).text).toContain(ACCOUNT);
  });

  test('sums the invoices of a span of time, exactly', async ({ world }) => {
    const client = await assistant(world);
    world.service.world.updateUser({ account: ACCOUNT, email: EMAIL, billing: true });
    for (const total of ['0.10', '0.20', '-0.05'])
      world.service.world.addInvoice({ account: ACCOUNT, total, vat: '0.00' });
    const answer = await read(client, 'invoices', { when: 'this year' }, slackOf(PEOPLE.admin));
    expect(answer.sums).toEqual([
      expect.objectContaining({ account: ACCOUNT, invoices: 3, total: '0.25 USD', unpaid: 2 }),
    ]);
    const { isError } = await call(client, 'invoices', { when: 'whenever' }, slackOf(PEOPLE.admin));
    expect(isError).toBe(true);
  });

  test('counts the deployments of a project alone', async ({ world }) => {
    const client = await assistant(world);
    for (const [at, project] of ['storefront', 'billing-api', 'billing-api'].entries()) {
      const endedAt = world.service.clock.now() - at * 60_000;
      world.service.world.addDeployment({ account: ACCOUNT, project, succeeded: false, endedAt });
    }
    const args = { range: 'last_90_days', project: 'billing-api' };
    const figures = await read(client, 'statistics', args);
    expect(figures).toMatchObject({ project: 'Billing API', deployments: { total: 2, failed: 2 } });
    expect(figures).not.toHaveProperty('statistics');
    expect(JSON.stringify(await read(client, 'activity', args))).not.toContain('Storefront');
  });

  test.for([null, slackOf('../U0ANN')])(
    'does nothing for %j, which names no person',
    async (slack, { world }) => {
      const answer = await call(await assistant(world), 'projects', {}, slack);
      expect(answer).toMatchObject({ isError: true, text: expect.stringContaining('did not say who asks') });
    },
  );

  test('starts one test however often the same request comes', async ({ world }) => {
    const params = {
      name: 'test_access',
      arguments: { project: 'storefront' },
      _meta: { slack: slackOf(PEOPLE.member) },
    };
    const once = signed(world, JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }));
    expect(await (await send(world, once)).text()).toContain('started');
    await world.logged('"event":"follow_ended"');
    expect(await (await send(world, once)).text()).toContain('carried out already');
    const started = ({ method, path }: { method: string; path: string }) =>
      method === 'POST' && path.endsWith('/test_access');
    expect(world.service.requests.all.filter(started)).toHaveLength(1);
  });

  test('takes no request that Slack did not sign, or that is no request', async ({ world }) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
    expect((await send(world, signed(world, `${body} `, 'another secret'))).status).toBe(401);
    expect((await send(world, { ...signed(world, `${body}  `), body })).status).toBe(401);
    await expect(assistant(world, { secret: 'another secret' })).rejects.toThrow();
    for (const [odd, status] of [
      ['{', 400],
      [`[${body}]`, 400],
      ['{"hello":1}', 400],
      [`{"jsonrpc":"2.0","id":1,"method":"${'x'.repeat(1_600_000)}"}`, 413],
    ] as const)
      expect((await send(world, signed(world, odd))).status).toBe(status);
  });

  test('has no other tool, and finds nothing outside the account', async ({ world }) => {
    const client = await assistant(world);
    expect((await call(client, 'test_access')).text).toContain('Which project is meant?');
    for (const args of [{ project: '../../account/invoices' }, { project: { $ne: 1 } }, { account: 'other' }])
      expect(await call(client, 'latest_run', args)).toMatchObject({ isError: true });
    await expect(call(client, 'disconnect', { account: ACCOUNT })).rejects.toThrow('disconnect not found');
    expect(world.logs.join('')).not.toContain('$ne');
  });
});

describe('the MCP endpoint with a slow service', () => {
  test.override({
    worldOptions: { ...ON, clock: fastClock(20), serviceTimeoutMs: 600_000 },
    connected: true,
  });

  test('says that a test goes on which takes longer than fifteen seconds', async ({ world }) => {
    world.service.world.setRunOutcome({ account: ACCOUNT, project: 'storefront', durationMs: 3_600_000 });
    const client = await assistant(world);
    expect(await read(client, 'test_access', { project: 'storefront' })).toMatchObject({
      test: 'started',
      state: 'running',
      next: 'Ask latest_run for the outcome in a minute.',
    });
    expect((await read(client, 'test_access', { project: 'storefront' })).test).toBe('already running');
  });
});

describe('where many workspaces install Deckhand', () => {
  test.override({ worldOptions: { ...ON, byOauth: true } });

  test.for([
    ['its own, where its organisation has one too', 'T0WEST', true, 'Lighthouse'],
    ['that of its organisation, where it has none', 'T0EAST', true, 'storefront'],
    ['its own, where its organisation has none', 'T0WEST', false, 'Lighthouse'],
    ['none, where neither has one', 'T0EAST', false, 'is not installed in that'],
  ] as const)('a workspace is answered by %s', async ([, team, isOrganisation, words], { world }) => {
    const enterprise = { id: 'E0GROUP', name: 'House Group' };
    const beacon = { email: 'lee@example.com', apiKey: 'BeaconKey0BeaconKey0BeaconKey0BeaconKey0' };
    const projects = [{ name: 'Lighthouse', permalink: 'lighthouse' }];
    world.service.world.addAccount({ name: 'beacon', users: [{ ...beacon, role: 'admin' }], projects });
    for (const id of ['T0EAST', 'T0WEST']) {
      const users = [{ id: PEOPLE.member, is_admin: true }];
      world.slack.addWorkspace({ id, name: id, enterprise, installed: false, users, channels: [] });
    }
    const browser = openBrowser(world);
    await browser.install('T0WEST', PEOPLE.member);
    const connect = (id: string, key: { name: string; email: string; apiKey: string }) =>
      world.app.workspaces.open(id).accounts.connect({ ...key, createdBy: PEOPLE.member, state: 'ok' });
    await connect('T0WEST', { name: 'beacon', ...beacon });
    if (isOrganisation) {
      await browser.install('T0EAST', PEOPLE.member, { orgWide: true });
      await connect(enterprise.id, { name: ACCOUNT, email: EMAIL, apiKey: API_KEY });
    }
    const who = slackOf(PEOPLE.member, team, { enterprise_id: enterprise.id });
    const { text } = await call(await assistant(world), 'projects', {}, who);
    expect(text).toContain(words);
  });

  test('one that did not is told so', async ({ world }) => {
    const answer = await call(await assistant(world), 'projects', {}, slackOf(PEOPLE.member, 'T0NEVER'));
    expect(answer).toMatchObject({
      isError: true,
      text: expect.stringContaining('is not installed in that'),
    });
  });
});

describe('the projects of a large account', () => {
  const projects = Array.from({ length: 250 }, (_, at) => ({ name: `Shop ${at}`, permalink: `shop-${at}` }));
  test.override({ connected: true, worldOptions: { ...ON, projects } });

  test('come page by page, or by a part of their names', async ({ world }) => {
    const client = await assistant(world);
    const names: string[] = [];
    for (let page: number | undefined = 1; page !== undefined; ) {
      const answer: { projects: { permalink: string }[]; total: number; next_page?: number } = await read(
        client,
        'projects',
        { page },
      );
      expect(answer.total).toBe(250);
      names.push(...answer.projects.map(({ permalink }) => permalink));
      page = answer.next_page;
    }
    expect(new Set(names).size).toBe(250);
    const matches = await read(client, 'projects', { filter: 'shop 24' });
    expect(matches.projects).toHaveLength(11);
    expect(matches).not.toHaveProperty('next_page');
  });
});
