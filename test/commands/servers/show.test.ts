import { describe, expect } from 'vitest';
import { ask } from '../../support/asking.ts';
import { test } from '../../support/fixtures.ts';
import { ACCOUNT, type TestWorld } from '../../support/test-world.ts';

describe('server show', () => {
  test.override({ connected: true });

  /** Shows a server whose record has these fields. */
  function show(world: TestWorld, fields: Record<string, unknown>): Promise<string> {
    const path = `/${ACCOUNT}/projects/storefront/servers`;
    const body = { identifier: 'web-1', name: 'box', protocol_type: 'managed_vps', ...fields };
    world.service.faults.clear();
    world.service.faults.add({ method: 'GET', path: `${path}/web-1`, status: 200, body });
    // The list is outside the spec: without it, what was typed is the identifier.
    world.service.faults.add({ method: 'GET', path, status: 404 });
    return ask(world, '/deckhand server show web-1 storefront');
  }

  test.for([
    ['provisioning', '*provisioning*: being created'],
    ['Active', '*active*: running and ready for deployments'],
    ['suspended', '*suspended*: powered off, because the account is suspended'],
    ['error', '*error*: broken, because it could not be'],
    ['destroying', '*destroying*: being destroyed'],
    ['re_wiring', '`re_wiring`'],
  ] as const)('server show says what %s means', async ([status, words], { world }) => {
    const managed_vps = { status, ip_address: null, region: 'fra1', size: 'small' };
    const said = await show(world, { managed_vps });
    expect(said).toContain(words);
    expect(said).toContain('*IP address*  none yet');
    expect(said).not.toMatch(/Disabled|Last connection error/);
  });

  test.for([
    [{ enabled: '0', connection_error_message: 'Connection <refused>' }, 'Connection &lt;refused&gt;'],
    [
      {
        enabled: false,
        connection_error_message: 'No route',
        connection_checked_at: '2026-11-20T09:30:00Z',
      },
      'No route, checked <!date^1795167000^',
    ],
    [{ enabled: false, connection_error_message: 'Refused', connection_checked_at: 'soon' }, 'Refused\\n'],
    [{ enabled: null, connection_error_message: '' }, undefined],
  ] as const)(
    'says whether a server is disabled, and why it was not reached: %j',
    async ([fields, words], { world }) => {
      const said = await show(world, { protocol_type: 'ssh', hostname: 'web-1.example.com', ...fields });
      expect(said.includes('*Disabled*')).toBe(words !== undefined);
      expect(said.includes(`*Last connection error*  ${words}`)).toBe(words !== undefined);
    },
  );
});

describe('build', () => {
  const empty = { identifier: 'b-2', packages: {}, default: false, servers: [] };
  const projects = [{ name: 'Storefront', permalink: 'storefront', buildConfigurations: [empty] }];
  test.override({ worldOptions: { projects }, connected: true });

  test('says what is not set', async ({ world }) => {
    const said = await ask(world, '/deckhand build b-2');
    expect(said).toContain('not the default');
    expect(said).toContain('No languages or tools are set.');
    expect(said).toContain('*No servers* use it.');
  });
});
