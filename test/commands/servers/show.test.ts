import { describe, expect } from 'vitest';
import { ask } from '../../support/asking.ts';
import { test } from '../../support/fixtures.ts';
import { ACCOUNT, type TestWorld } from '../../support/test-world.ts';

const STATUSES = [
  ['provisioning', 'being created'],
  ['active', 'running and ready for deployments'],
  ['suspended', 'powered off, because the account is suspended'],
  ['disabled', 'switched off'],
  ['error', 'broken, because it could not be'],
  ['destroying', 'being destroyed'],
] as const;

describe('server show', () => {
  test.override({ connected: true });

  function answerWith(world: TestWorld, block: Record<string, unknown>): void {
    world.service.faults.add({
      method: 'GET',
      path: `/${ACCOUNT}/projects/storefront/servers/web-1`,
      status: 200,
      body: { identifier: 'web-1', name: 'box', protocol_type: 'managed_vps', ...block },
    });
    // The list is outside the spec: without it, what was typed is the identifier.
    world.service.faults.add({
      method: 'GET',
      path: `/${ACCOUNT}/projects/storefront/servers`,
      status: 404,
    });
  }

  test('server show finds a server by its name and shows how it is reached', async ({ world }) => {
    const said = await ask(world, '/deckhand server show web-1 storefront');
    expect(said).toContain('*web-1*');
    expect(said).toMatch(/\*Host\* {2}`[^`]+:22` as `deploy`, with SSH keys/);
    expect(said).toContain('Test this server');
  });

  test('server show takes a server alone where one project has it, and asks where several have', async ({
    world,
  }) => {
    expect(await ask(world, '/deckhand server show web-1')).toContain('Test this server');
    world.service.world.addProject({ account: 'acme', name: 'Newcomer', servers: [{ name: 'web-1' }] });
    expect(await ask(world, '/deckhand server show web-1')).toContain('Which project do you mean?');
  });

  test.for(STATUSES)('server show says what %s means', async ([status, meaning], { world }) => {
    answerWith(world, { managed_vps: { status, ip_address: null, region: 'fra1', size: 'small' } });
    const said = await ask(world, '/deckhand server show web-1 storefront');
    expect(said).toContain(`*${status}*: ${meaning}`);
    expect(said).toContain('*IP address*  none yet');
  });

  test.for([
    [{ disabled: true, last_connection_error: 'Connection <refused>' }, 'Connection &lt;refused&gt;'],
    [{ enabled: '0', connection_error: { message: 'Host key changed', at: 'noon' } }, 'Host key changed'],
    [{ status: 'Disabled', last_error: 'Timed out' }, 'Timed out'],
  ] as const)(
    'server show says that a server is disabled, and why it was not reached: %j',
    async ([fields, words], { world }) => {
      answerWith(world, { protocol_type: 'ssh', hostname: 'web-1.example.com', ...fields });
      const said = await ask(world, '/deckhand server show web-1 storefront');
      expect(said).toContain('*Disabled*');
      expect(said).toContain(`*Last connection error*  ${words}`);
    },
  );

  test.for([
    {},
    { disabled: false, enabled: true, last_connection_error: null },
    { enabled: null, last_error: '' },
  ])('server show says nothing of trouble that there is not: %j', async (fields, { world }) => {
    answerWith(world, { protocol_type: 'ssh', hostname: 'web-1.example.com', ...fields });
    const said = await ask(world, '/deckhand server show web-1 storefront');
    expect(said).not.toMatch(/Disabled|Last connection error/);
  });

  test('server show knows a status in any letter case', async ({ world }) => {
    answerWith(world, { managed_vps: { status: 'Active', region: 'fra1', size: 'small' } });
    expect(await ask(world, '/deckhand server show web-1 storefront')).toContain(
      '*active*: running and ready',
    );
  });

  test('server show shows an unknown status as it is, and nothing foreign comes alive', async ({ world }) => {
    answerWith(world, {
      name: '<!channel> *box*',
      static_hosting: { status: 're_wiring', subdomain: 'shop', url: 'javascript:alert(1)', spa_mode: true },
    });
    const said = await ask(world, '/deckhand server show web-1 storefront');
    expect(said).toContain('`re_wiring`');
    expect(said).toContain('&lt;!channel&gt;');
    expect(said).not.toContain('Open the site');
    expect(said).toContain('*Active deployment*  none yet');
  });

  test('server show shows a static site with its address on a button', async ({ world }) => {
    const url = 'https://shop.sites.example.net';
    answerWith(world, { static_hosting: { status: 'active', subdomain: 'shop', url, spa_mode: false } });
    const said = await ask(world, '/deckhand server show web-1 storefront');
    expect(said).toContain(`"url":"${url}"`);
  });

  test('server show says which server there is not, and what there is', async ({ world }) => {
    const said = await ask(world, '/deckhand server show web-9 storefront');
    expect(said).toContain('There is no server `web-9` in `storefront`. It has `web-1`, `web-2`.');
  });

  test('server show names what was not found where the service does not list servers', async ({ world }) => {
    world.service.faults.add({ path: `/${ACCOUNT}/projects/storefront/servers`, status: 403 });
    const said = await ask(world, '/deckhand server show web-9 storefront');
    expect(said).toContain('There is no server `web-9` in `storefront` at `acme`.');
    expect(said).toContain('`/deckhand projects`');
  });
});
