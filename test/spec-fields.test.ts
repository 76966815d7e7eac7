import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ask, enroll } from './support/asking.ts';
import { BRISK, failing, mend } from './support/faults.ts';
import {
  ACCOUNT,
  API_KEY,
  CHANNEL,
  EMAIL,
  openTestWorld,
  PEOPLE,
  TEAM,
  type TestWorld,
} from './support/test-world.ts';

/**
 * Every field that the specification's section 2 has answered, by its number and name, and how a person meets it.
 * Each record holds the section's fields and nothing else.
 */
type Fields = ReadonlyArray<[field: string, shown: string]>;

const AT = '2026-11-20T12:00:00Z';
const AT_TOKEN = `<!date^${Date.parse(AT) / 1000}^`;
const BILLED = '2026-11-02T12:00:00Z';

function answering(path: string, body: object, method = 'GET') {
  return failing({ method, status: 200, body }, path);
}

const PROFILE = {
  first_name: 'Ada',
  last_name: 'Lane',
  email_address: 'ada@example.org',
  account: {
    name: 'Acme Inc',
    permalink: 'acme-inc',
    beta_features: true,
    static_hosting_eligible: true,
    managed_vps_eligible: false,
  },
};

const SITE = {
  identifier: 'srv-1',
  name: 'Docs',
  protocol_type: 'static_hosting',
  static_hosting: {
    hosted_website_identifier: 'site-77',
    subdomain: 'acme-docs',
    url: 'https://acme-docs.sites.example.net',
    spa_mode: true,
    status: 'active',
    active_deployment_uuid: 'dep-55',
  },
};

const MACHINE = {
  identifier: 'srv-2',
  name: 'Box',
  protocol_type: 'managed_vps',
  managed_vps: {
    hosted_resource_identifier: 'res-33',
    status: 'suspended',
    ip_address: '192.0.2.9',
    region: 'fra1',
    size: 'medium',
  },
};

const RESOURCE = {
  identifier: 'res-33',
  name: 'Box One',
  region: 'fra1',
  size: 'medium',
  status: 'error',
  ip_address: '192.0.2.9',
  monthly_cost: 24.5,
  ssh_key: {
    identifier: 'key-9',
    title: 'Deploy key',
    public_key: 'ssh-ed25519 AAAAPublic',
    key_type: 'ed25519',
    fingerprint: 'SHA256:finger',
  },
  created_at: AT,
  updated_at: '2026-11-20T13:00:00Z',
};

const BUILD = {
  identifier: 'bc-1',
  packages: { node: '24.1' },
  default: true,
  servers: [
    {
      identifier: 'srv-3',
      name: 'web-9',
      protocol_type: 'ssh',
      server_path: '/srv/current',
      last_revision: 'abcdef0123456789abcdef0123456789abcdef01',
      preferred_branch: 'release',
      notify_email: true,
      server_group_identifier: 'grp-1',
      hostname: 'web-9.example.com',
      port: 2222,
      username: 'deployer',
      use_ssh_keys: true,
      host_key: 'SHA256:hostkey',
    },
  ],
};

const EVENT = {
  event: 'deploy_failed',
  properties: { end_ref: 'fedcba9876543210', servers: ['web-9'] },
  project: { name: 'Shop', permalink: 'shop', identifier: 'prj-1' },
  user: 'Grace',
  created_at: AT,
};

const STATS = {
  total_deployments: 1234,
  total_deployments_delta: -7,
  success_rate: 95.5,
  success_rate_delta: null,
  avg_duration: '1m 12s',
  active_servers: 42,
};

const INVOICE = {
  number: 1001,
  kind: 'subscription',
  currency: 'eur',
  total: '49.50',
  vat: '8.25',
  paid: true,
  paid_at: BILLED,
  created_at: '2026-11-01T12:00:00Z',
  download_url: 'https://elsewhere.example.com/1001.pdf',
};

/** Records that one answer of the service fills and one command shows. */
const SHOWN: ReadonlyArray<[command: string, given: (world: TestWorld) => void, fields: Fields]> = [
  [
    'whoami',
    answering('profile', PROFILE),
    [
      ['2.3 first_name', '*Ada Lane*'],
      ['2.3 last_name', '*Ada Lane*'],
      ['2.3 email_address', 'ada@example.org'],
      ['2.3 account.name', 'Account *Acme Inc*'],
    ],
  ],
  [
    'beta',
    answering('profile', PROFILE),
    [
      ['2.3 account.beta_features', 'beta of managed servers is *on*'],
      ['2.3 account.static_hosting_eligible', '*Static hosting*  :white_check_mark: eligible'],
      ['2.3 account.managed_vps_eligible', '*Managed servers*  :x: not eligible'],
    ],
  ],
  [
    'beta enroll',
    (world) => {
      answering('profile', { ...PROFILE, account: { ...PROFILE.account, beta_features: false } })(world);
      answering('beta/enrollments', { enrolled: true, beta_features: true }, 'POST')(world);
    },
    [['2.4 beta_features', 'is enrolled in the beta of managed servers']],
  ],
  [
    'server show srv-1 storefront',
    (world) => {
      failing({ status: 404 }, 'projects/storefront/servers')(world);
      answering('projects/storefront/servers/srv-1', SITE)(world);
    },
    [
      ['2.5 identifier', 'Identifier `srv-1`'],
      ['2.5 name', '*Docs*'],
      ['2.5 protocol_type', 'static hosting'],
      ['2.5 static_hosting.hosted_website_identifier', '*Website*  `site-77`'],
      ['2.5 static_hosting.subdomain', '*Subdomain*  `acme-docs`'],
      ['2.5 static_hosting.url', '"url":"https://acme-docs.sites.example.net"'],
      ['2.5 static_hosting.spa_mode', '*Single-page app*  yes'],
      ['2.5 static_hosting.status', '*active*: running and ready'],
      ['2.5 static_hosting.active_deployment_uuid', '*Active deployment*  `dep-55`'],
    ],
  ],
  [
    'server show srv-2 storefront',
    (world) => {
      failing({ status: 404 }, 'projects/storefront/servers')(world);
      answering('projects/storefront/servers/srv-2', MACHINE)(world);
    },
    [
      ['2.5 managed_vps.hosted_resource_identifier', '*Managed server*  `res-33`'],
      ['2.5 managed_vps.status', '*suspended*: powered off'],
      ['2.5 managed_vps.ip_address', '*IP address*  `192.0.2.9`'],
      ['2.5 managed_vps.region', '*Region*  `fra1`'],
      ['2.5 managed_vps.size', '*Size*  `medium`'],
    ],
  ],
  [
    'hosting show res-33 --key',
    (world) => {
      answering('hosted_resources/res-33', RESOURCE)(world);
      const sizes = [{ slug: 'medium', label: '2 vCPU', monthly_cost: 24.5, currency: 'eur' }];
      answering('managed_hosting/sizes', { sizes })(world);
    },
    [
      ['2.6 identifier', 'Identifier `res-33`'],
      ['2.6 name', '*Box One*'],
      ['2.6 region', '*Region*  `fra1`'],
      ['2.6 size', '*Size*  `medium`'],
      ['2.6 status', '*error*: broken, because'],
      ['2.6 ip_address', '*IP address*  `192.0.2.9`'],
      ['2.6 monthly_cost', '*Cost*  24.50 EUR a month'],
      ['2.6 ssh_key.title', 'Deploy key'],
      ['2.6 ssh_key.public_key', '`ssh-ed25519 AAAAPublic`'],
      ['2.6 ssh_key.key_type', 'ed25519,'],
      ['2.6 ssh_key.fingerprint', '`SHA256:finger`'],
      ['2.6 created_at', `*Created*  ${AT_TOKEN}`],
      ['2.6 updated_at', `*Updated*  <!date^${Date.parse(RESOURCE.updated_at) / 1000}^`],
    ],
  ],
  [
    'hosting regions',
    answering('managed_hosting/regions', { regions: [{ slug: 'fra1', name: 'Frankfurt' }] }),
    [
      ['2.7 region.slug', '`fra1`'],
      ['2.7 region.name', '*Frankfurt*'],
    ],
  ],
  [
    'hosting sizes',
    answering('managed_hosting/sizes', {
      sizes: [{ slug: 'm2', label: '2 vCPU', monthly_cost: 7.6, currency: 'eur' }],
    }),
    [
      ['2.7 size.slug', '"text":"m2"'],
      ['2.7 size.label', '"text":"2 vCPU"'],
      ['2.7 size.monthly_cost', '7.60 EUR'],
      ['2.7 size.currency', '7.60 EUR'],
    ],
  ],
  [
    'build bc-1 storefront',
    answering('projects/storefront/build_configurations/bc-1', BUILD),
    [
      ['2.9 identifier', 'Identifier `bc-1`'],
      ['2.9 packages', '*node*  `24.1`'],
      ['2.9 default', 'Default build configuration'],
      ['2.9 servers', '*1 server*'],
      ['2.9 server.name', '*web-9*'],
      ['2.9 server.protocol_type', '*web-9*  ssh'],
      ['2.9 server.server_path', '`/srv/current`'],
      ['2.9 server.last_revision', 'revision `abcdef0`'],
      ['2.9 server.preferred_branch', 'branch `release`'],
      ['2.9 server.notify_email', 'notifies by e-mail'],
      ['2.9 server.server_group_identifier', 'group `grp-1`'],
      ['2.9 server.hostname', '`web-9.example.com:2222`'],
      ['2.9 server.port', ':2222`'],
      ['2.9 server.username', '`deployer`'],
      ['2.9 server.use_ssh_keys', 'with SSH keys'],
      ['2.9 server.host_key', 'host key `SHA256:hostkey`'],
    ],
  ],
  [
    'activity last_30_days stats',
    answering('activity', { events: [EVENT], stats: STATS }),
    [
      ['2.11 event', ':x: <!date'],
      ['2.11 properties', '`fedcba9`  on web-9'],
      ['2.11 project', '*Shop*'],
      ['2.11 user', 'by Grace'],
      ['2.11 created_at', AT_TOKEN],
      ['2.12 total_deployments', '1,234'],
      ['2.12 total_deployments_delta', '▼ 7'],
      ['2.12 success_rate', '95.5 %'],
      ['2.12 success_rate_delta', '95.5 %  —'],
      ['2.12 avg_duration', '1m 12s'],
      ['2.12 active_servers', '*Active servers now*\\n42'],
    ],
  ],
  [
    'invoices',
    answering('account/invoices', [INVOICE]),
    [
      ['2.13 number', '"text":"1001"'],
      ['2.13 kind', '"text":"subscription"'],
      ['2.13 currency', '49.50 EUR'],
      ['2.13 total', '49.50 EUR'],
      ['2.13 vat', '8.25 EUR'],
      ['2.13 paid', '"text":"Nov 2, 2026"'],
      ['2.13 paid_at', '"text":"Nov 2, 2026"'],
      ['2.13 created_at', '"text":"Nov 1, 2026"'],
    ],
  ],
];

function asked(world: TestWorld, command: string): Promise<string> {
  return command === 'beta enroll' ? enroll(world) : ask(world, `/deckhand ${command}`, 'admin');
}

describe('a field of the specification', () => {
  let world: TestWorld;
  beforeAll(async () => {
    world = await openTestWorld(BRISK);
  });
  afterAll(() => world.stop());
  beforeEach(() => mend(world));

  describe.each(SHOWN)('on /deckhand %s', (command, given, fields) => {
    let said: string;
    beforeAll(async () => {
      await mend(world);
      given(world);
      said = await asked(world, command);
    });
    it.each(fields)('%s reads %j', (_, shown) => {
      expect(said).toContain(shown);
    });
    it.each(fields)('%s reads otherwise where the service says otherwise', async (field, shown) => {
      given(world);
      changeField(world, field);
      const other = await asked(world, command);
      expect(other).not.toContain(shown);
      expect(other).not.toContain('unexpected');
    });
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
    answering('account/invoices', [INVOICE])(world);
    expect(await ask(world, '/deckhand invoices', 'admin')).not.toContain('elsewhere');
    expect(await ask(world, '/deckhand invoices 1001', 'admin')).toContain('not on the account’s own host');
  });

  it('2.3 account.permalink, 2.6 ssh_key.identifier and 2.9 server.identifier: read, and shown to no one', async () => {
    answering('profile', PROFILE)(world);
    expect(await ask(world, '/deckhand whoami', 'admin')).not.toContain('acme-inc');
    answering('hosted_resources/res-33', RESOURCE)(world);
    expect(await ask(world, '/deckhand hosting show res-33 --key', 'admin')).not.toContain('key-9');
    answering('projects/storefront/build_configurations/bc-1', BUILD)(world);
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
    const ann = world.as('admin');
    await ann.command(CHANNEL, '/deckhand signup');
    await world.slack.until(() => ann.openView()?.content.callback_id === 'signup');
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

type Json = Record<string, unknown>;

/** Makes every answer that was asked for hold another value in one field of the specification, e.g. `2.9 server.port`. */
function changeField({ service: { faults } }: TestWorld, field: string): void {
  const [, name = ''] = field.split(' ');
  const path = name
    .replace(/^server\./, 'servers.')
    .replace(/^(?:region|size)\./, '')
    .split('.');
  const asked = faults.list();
  faults.clear();
  for (const { id: _id, hits: _hits, body, ...fault } of asked) {
    faults.add({ ...fault, ...(body !== undefined && { body: changed(body, path) }) });
  }
}

/** The field that is nearest to the top, wherever the answer begins. */
function changed(value: unknown, path: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((row) => changed(row, path));
  if (typeof value !== 'object' || value === null) return value;
  const [name = '', ...rest] = path;
  const fields = value as Json;
  if (!(name in fields)) {
    return Object.fromEntries(Object.entries(fields).map(([key, inner]) => [key, changed(inner, path)]));
  }
  return { ...fields, [name]: rest.length === 0 ? otherThan(fields[name]) : changed(fields[name], rest) };
}

/** Another value of the same kind; undefined, which leaves the field out, where there is none. */
function otherThan(value: unknown): unknown {
  if (value === null) return 12.5;
  if (typeof value === 'boolean') return !value;
  if (typeof value === 'number') return value + 1;
  if (typeof value !== 'string') return undefined;
  return /^\d{4}-\d\d-\d\dT/.test(value) ? '2001-02-03T04:05:06Z' : 'zzz';
}
