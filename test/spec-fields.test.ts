import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ask, enroll, openForm } from './support/asking.ts';
import { BRISK, failing, mend } from './support/faults.ts';
import {
  ACCOUNT,
  API_KEY,
  EMAIL,
  openTestWorld,
  PEOPLE,
  TEAM,
  type TestWorld,
} from './support/test-world.ts';

const AT = '2026-11-20T12:00:00Z';
const AT_TOKEN = `<!date^${Date.parse(AT) / 1000}^`;
const UPDATED = '2026-11-20T13:00:00Z';
const BILLED = '2026-11-02T12:00:00Z';

function answering(path: string, body: unknown, method = 'GET') {
  return failing({ method, status: 200, body }, path);
}

/** A field in an answer of the service, by the specification's section and name, and how a person reads it. */
interface Field {
  name: string;
  value: unknown;
  text: string;
}
const as = (name: string, value: unknown, text: string): Field => ({ name, value, text });

const PROFILE = {
  first_name: as('2.3 first_name', 'Ada', '*Ada Lane*'),
  last_name: as('2.3 last_name', 'Lane', '*Ada Lane*'),
  email_address: as('2.3 email_address', 'ada@example.org', 'ada@example.org'),
  account: { name: as('2.3 account.name', 'Acme Inc', 'Account *Acme Inc*'), permalink: 'acme-inc' },
};

const ELIGIBLE = '*Static hosting*  :white_check_mark: eligible';
const BETA = {
  email_address: 'ada@example.org',
  account: {
    name: 'Acme Inc',
    beta_features: as('2.3 account.beta_features', true, 'beta of managed servers is *on*'),
    static_hosting_eligible: as('2.3 account.static_hosting_eligible', true, ELIGIBLE),
    managed_vps_eligible: as(
      '2.3 account.managed_vps_eligible',
      false,
      '*Managed servers*  :x: not eligible',
    ),
  },
};

const SITE = {
  identifier: as('2.5 identifier', 'srv-1', 'Identifier `srv-1`'),
  name: as('2.5 name', 'Docs', '*Docs*'),
  protocol_type: as('2.5 protocol_type', 'static_hosting', 'static hosting'),
  static_hosting: {
    hosted_website_identifier: as(
      '2.5 static_hosting.hosted_website_identifier',
      'site-77',
      '*Website*  `site-77`',
    ),
    subdomain: as('2.5 static_hosting.subdomain', 'acme-docs', '*Subdomain*  `acme-docs`'),
    url: as('2.5 static_hosting.url', 'https://docs.example.net', '"url":"https://docs.example.net"'),
    spa_mode: as('2.5 static_hosting.spa_mode', true, '*Single-page app*  yes'),
    status: as('2.5 static_hosting.status', 'active', '*active*: running and ready'),
    active_deployment_uuid: as(
      '2.5 static_hosting.active_deployment_uuid',
      'dep-55',
      '*Active deployment*  `dep-55`',
    ),
  },
};

const MACHINE = {
  identifier: 'srv-2',
  name: 'Box',
  protocol_type: 'managed_vps',
  managed_vps: {
    hosted_resource_identifier: as(
      '2.5 managed_vps.hosted_resource_identifier',
      'res-33',
      '*Managed server*  `res-33`',
    ),
    status: as('2.5 managed_vps.status', 'suspended', '*suspended*: powered off'),
    ip_address: as('2.5 managed_vps.ip_address', '192.0.2.9', '*IP address*  `192.0.2.9`'),
    region: as('2.5 managed_vps.region', 'fra1', '*Region*  `fra1`'),
    size: as('2.5 managed_vps.size', 'medium', '*Size*  `medium`'),
  },
};

const RESOURCE = {
  identifier: as('2.6 identifier', 'res-33', 'Identifier `res-33`'),
  name: as('2.6 name', 'Box One', '*Box One*'),
  region: as('2.6 region', 'fra1', '*Region*  `fra1`'),
  size: as('2.6 size', 'medium', '*Size*  `medium`'),
  status: as('2.6 status', 'error', '*error*: broken, because'),
  ip_address: as('2.6 ip_address', '192.0.2.9', '*IP address*  `192.0.2.9`'),
  monthly_cost: as('2.6 monthly_cost', 24.5, '*Cost*  24.50 EUR a month'),
  ssh_key: {
    identifier: 'key-9',
    title: as('2.6 ssh_key.title', 'Deploy key', 'Deploy key'),
    public_key: as('2.6 ssh_key.public_key', 'ssh-ed25519 AAAAPublic', '`ssh-ed25519 AAAAPublic`'),
    key_type: as('2.6 ssh_key.key_type', 'ed25519', 'ed25519,'),
    fingerprint: as('2.6 ssh_key.fingerprint', 'SHA256:finger', '`SHA256:finger`'),
  },
  created_at: as('2.6 created_at', AT, `*Created*  ${AT_TOKEN}`),
  updated_at: as('2.6 updated_at', UPDATED, `*Updated*  <!date^${Date.parse(UPDATED) / 1000}^`),
};

const REGION = {
  slug: as('2.7 region.slug', 'fra1', '`fra1`'),
  name: as('2.7 region.name', 'Frankfurt', '*Frankfurt*'),
};

const SIZE = {
  slug: as('2.7 size.slug', 'm2', '"text":"m2"'),
  label: as('2.7 size.label', '2 vCPU', '"text":"2 vCPU"'),
  monthly_cost: as('2.7 size.monthly_cost', 7.6, '7.60 EUR'),
  currency: as('2.7 size.currency', 'eur', '7.60 EUR'),
};

const BUILT_SERVER = {
  identifier: 'srv-3',
  name: as('2.9 server.name', 'web-9', '*web-9*'),
  protocol_type: as('2.9 server.protocol_type', 'ssh', '*web-9*  ssh'),
  server_path: as('2.9 server.server_path', '/srv/current', '`/srv/current`'),
  last_revision: as('2.9 server.last_revision', 'abcdef0123456789', 'revision `abcdef0`'),
  preferred_branch: as('2.9 server.preferred_branch', 'release', 'branch `release`'),
  notify_email: as('2.9 server.notify_email', true, 'notifies by e-mail'),
  server_group_identifier: as('2.9 server.server_group_identifier', 'grp-1', 'group `grp-1`'),
  hostname: as('2.9 server.hostname', 'web-9.example.com', '`web-9.example.com:2222`'),
  port: as('2.9 server.port', 2222, ':2222`'),
  username: as('2.9 server.username', 'deployer', '`deployer`'),
  use_ssh_keys: as('2.9 server.use_ssh_keys', true, 'with SSH keys'),
  host_key: as('2.9 server.host_key', 'SHA256:hostkey', 'host key `SHA256:hostkey`'),
};

const BUILD = {
  identifier: as('2.9 identifier', 'bc-1', 'Identifier `bc-1`'),
  packages: as('2.9 packages', { node: '24.1' }, '*node*  `24.1`'),
  default: as('2.9 default', true, 'Default build configuration'),
  servers: as('2.9 servers', [BUILT_SERVER], '*1 server*'),
};

const DEPLOYED = { end_ref: 'fedcba9876543210', servers: ['web-9'] };
const EVENT = {
  event: as('2.11 event', 'deploy_failed', ':x: <!date'),
  properties: as('2.11 properties', DEPLOYED, '`fedcba9`  on web-9'),
  project: as('2.11 project', { name: 'Shop', permalink: 'shop', identifier: 'prj-1' }, '*Shop*'),
  user: as('2.11 user', 'Grace', 'by Grace'),
  created_at: as('2.11 created_at', AT, AT_TOKEN),
};

const STATS = {
  total_deployments: as('2.12 total_deployments', 1234, '1,234'),
  total_deployments_delta: as('2.12 total_deployments_delta', -7, '▼ 7'),
  success_rate: as('2.12 success_rate', 95.5, '95.5 %'),
  success_rate_delta: as('2.12 success_rate_delta', null, '95.5 %  —'),
  avg_duration: as('2.12 avg_duration', '1m 12s', '1m 12s'),
  active_servers: as('2.12 active_servers', 42, '*Active servers now*\\n42'),
};

const INVOICE = {
  number: as('2.13 number', 1001, '"text":"1001"'),
  kind: as('2.13 kind', 'subscription', '"text":"subscription"'),
  currency: as('2.13 currency', 'eur', '49.50 EUR'),
  total: as('2.13 total', '49.50', '49.50 EUR'),
  vat: as('2.13 vat', '8.25', '8.25 EUR'),
  paid: as('2.13 paid', true, '"text":"Nov 2, 2026"'),
  paid_at: as('2.13 paid_at', BILLED, '"text":"Nov 2, 2026"'),
  created_at: as('2.13 created_at', '2026-11-01T12:00:00Z', '"text":"Nov 1, 2026"'),
  download_url: 'https://elsewhere.example.com/1001.pdf',
};

const enrolled = as('2.4 beta_features', true, 'is enrolled in the beta of managed servers');
const withoutBeta = answering('profile', {
  email_address: 'ada@example.org',
  account: { name: 'Acme Inc', beta_features: false },
});
const noList = failing({ status: 404 }, 'projects/storefront/servers');
const sizes = [{ slug: 'medium', label: '2 vCPU', monthly_cost: 24.5, currency: 'eur' }];
const priced = answering('managed_hosting/sizes', { sizes });

/** Each command with the answer that it shows, and what it asks for besides. */
const SHOWN: ReadonlyArray<
  [command: string, path: string, body: unknown, besides?: (world: TestWorld) => void]
> = [
  ['whoami', 'profile', PROFILE],
  ['beta', 'profile', BETA],
  ['beta enroll', 'beta/enrollments', { enrolled: true, beta_features: enrolled }, withoutBeta],
  ['server show srv-1 storefront', 'projects/storefront/servers/srv-1', SITE, noList],
  ['server show srv-2 storefront', 'projects/storefront/servers/srv-2', MACHINE, noList],
  ['hosting show res-33 --key', 'hosted_resources/res-33', RESOURCE, priced],
  ['hosting regions', 'managed_hosting/regions', { regions: [REGION] }],
  ['hosting sizes', 'managed_hosting/sizes', { sizes: [SIZE] }],
  ['build bc-1 storefront', 'projects/storefront/build_configurations/bc-1', BUILD],
  ['activity last_30_days stats', 'activity', { events: [EVENT], stats: STATS }],
  ['invoices', 'account/invoices', [INVOICE]],
];

describe('a field of the specification', () => {
  let world: TestWorld;
  beforeAll(async () => {
    world = await openTestWorld(BRISK);
  });
  afterAll(() => world.stop());
  beforeEach(() => mend(world));

  describe.each(SHOWN)('on /deckhand %s', (command, path, body, besides) => {
    /** The answer of Deckhand, where the service says another value in one field. */
    async function say(changed?: string): Promise<string> {
      await mend(world);
      // What Deckhand has read of the feed before would be there too.
      await world.app.workspaces.open(TEAM).ledger.forget(ACCOUNT);
      besides?.(world);
      const isOrder = command === 'beta enroll';
      answering(path, fill(body, changed), isOrder ? 'POST' : 'GET')(world);
      return isOrder ? enroll(world) : ask(world, `/deckhand ${command}`, 'admin');
    }
    let said: string;
    beforeAll(async () => {
      said = await say();
    });
    it.each(listFields(body))(
      '$name reads $text, and otherwise where the service says otherwise',
      async ({ name, text }) => {
        expect(said).toContain(text);
        const other = await say(name);
        expect(other).not.toContain(text);
        expect(other).not.toContain('unexpected');
      },
    );
  });

  it('2.4 enrolled: beta_features decides where the two contradict each other', async () => {
    world.service.world.updateAccount({ account: ACCOUNT, betaFeatures: false });
    answering('beta/enrollments', { enrolled: false, beta_features: true }, 'POST')(world);
    expect(await enroll(world)).not.toContain('still off');
    await mend(world);
    answering('beta/enrollments', { enrolled: true, beta_features: false }, 'POST')(world);
    expect(await enroll(world)).toContain('still off');
  });

  it('2.13 download_url: followed for the PDF, never shown, and only on the account’s own host', async () => {
    answering('account/invoices', fill([INVOICE]))(world);
    expect(await ask(world, '/deckhand invoices', 'admin')).not.toContain('elsewhere');
    expect(await ask(world, '/deckhand invoices 1001', 'admin')).toContain('not on the account’s own host');
  });

  it('2.3 account.permalink, 2.6 ssh_key.identifier and 2.9 server.identifier: read, and shown to no one', async () => {
    answering('profile', fill(PROFILE))(world);
    expect(await ask(world, '/deckhand whoami', 'admin')).not.toContain('acme-inc');
    answering('hosted_resources/res-33', fill(RESOURCE))(world);
    expect(await ask(world, '/deckhand hosting show res-33 --key', 'admin')).not.toContain('key-9');
    answering('projects/storefront/build_configurations/bc-1', fill(BUILD))(world);
    expect(await ask(world, '/deckhand build bc-1 storefront', 'admin')).not.toContain('srv-3');
  });

  it('2.2: all that a sign-up answers is shown, the key but for its end', async () => {
    const body = {
      account: {
        identifier: 'acc-2',
        name: 'North Wind',
        subdomain: 'northwind',
        url: 'https://northwind.example.com',
      },
      api_key: `Secret${'x'.repeat(30)}Tail`,
      ssh_public_key: { id: 'k-1', public_key: 'ssh-ed25519 AAAANorth', fingerprint: 'SHA256:north' },
      oauth_urls: { codehost_a: 'https://northwind.example.com/oauth/a' },
      mcp_config: { account: 'northwind', api_key: `Secret${'x'.repeat(30)}Tail`, email: 'n@example.org' },
      email_verified: false,
    };
    world.service.faults.add({ path: '/api/v1/signup', status: 201, body });
    const ann = await openForm(world, 'signup');
    const form = { email: 'n@example.org', password: 'long enough', terms_accepted: ['true'] };
    await ann.submit('signup', form);
    const seen = () => JSON.stringify(world.slack.ephemerals(TEAM, PEOPLE.admin).at(-1) ?? '');
    await world.slack.until(() => seen().includes('northwind'));
    const sent = world.service.requests.all.find(({ path }) => path === '/api/v1/signup')?.body;
    expect(sent).toHaveProperty('client');
    expect(sent).not.toHaveProperty('utm_params');
    const said = seen().replaceAll('\\"', '"');
    for (const words of [
      '*North Wind* (`northwind`)',
      'ssh-ed25519 AAAANorth',
      'SHA256:north',
      '"url":"https://northwind.example.com/oauth/a"',
      'Verify your e-mail address first',
      '••••Tail',
      '"account": "northwind"',
      '"email": "n@example.org"',
    ])
      expect(said).toContain(words);
    for (const hidden of ['Secret', API_KEY, EMAIL, 'acc-2']) expect(said).not.toContain(hidden);
    expect(await world.app.workspaces.open(TEAM).accounts.get('northwind')).toMatchObject({
      state: 'unverified',
    });
    await world.app.workspaces.open(TEAM).accounts.disconnect('northwind');
  });
});

/** No answer of the service has a text. */
function isField(part: unknown): part is Field {
  return typeof part === 'object' && part !== null && 'text' in part;
}

function listFields(part: unknown): Field[] {
  if (isField(part)) return [part, ...listFields(part.value)];
  return typeof part === 'object' && part !== null ? Object.values(part).flatMap(listFields) : [];
}

/** The answer as the service sends it, with another value in the field of this name. */
function fill(part: unknown, changed?: string): unknown {
  if (isField(part)) return part.name === changed ? otherThan(part.value) : fill(part.value, changed);
  if (Array.isArray(part)) return part.map((item) => fill(item, changed));
  if (typeof part !== 'object' || part === null) return part;
  return Object.fromEntries(Object.entries(part).map(([name, inner]) => [name, fill(inner, changed)]));
}

/** Another value of the same kind; undefined, which leaves the field out, where there is none. */
function otherThan(value: unknown): unknown {
  if (value === null) return 12.5;
  if (typeof value === 'boolean') return !value;
  if (typeof value === 'number') return value + 1;
  if (typeof value !== 'string') return undefined;
  return /^\d{4}-\d\d-\d\dT/.test(value) ? '2001-02-03T04:05:06Z' : 'zzz';
}
