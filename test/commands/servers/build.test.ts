import { describe, expect } from 'vitest';
import { ask } from '../../support/asking.ts';
import { test } from '../../support/fixtures.ts';

const REVISION = '0123456789abcdef0123456789abcdef01234567';
const HOST_KEY = `ssh-ed25519 ${'A'.repeat(56)}LastTwelve12`;

describe('build', () => {
  test.override({
    worldOptions: {
      projects: [
        {
          name: 'Storefront',
          permalink: 'storefront',
          servers: [
            {
              name: 'web-1',
              hostname: 'web-1.example.com',
              port: 2222,
              lastRevision: REVISION,
              groupIdentifier: 'group-7',
              hostKey: HOST_KEY,
            },
            { name: 'web-2', lastRevision: null },
          ],
          buildConfigurations: [
            { identifier: 'b-1', packages: { node: '24.1', 'my tool': '<latest>' }, default: true },
            { identifier: 'b-2', packages: {}, default: false, servers: [] },
          ],
        },
      ],
    },
    connected: true,
  });

  test('build shows versions and servers, with what is long cut sensibly', async ({ world }) => {
    const said = await ask(world, '/deckhand build b-1');
    expect(said).toContain('Default build configuration of Storefront');
    expect(said).toContain('*node*  `24.1`');
    expect(said).toContain('*my tool*  `&lt;latest&gt;`');
    expect(said).toContain('`web-1.example.com:2222`');
    expect(said).toContain('revision `0123456`,');
    expect(said).toContain('group `group-7`');
    expect(said).toContain('host key `ssh-ed25519 AAAA');
    expect(said).not.toContain(REVISION);
    expect(said).toContain('never deployed');
  });

  test('build tells a configuration that is not the default and holds nothing', async ({ world }) => {
    const said = await ask(world, '/deckhand build b-2 storefront');
    expect(said).toContain('not the default');
    expect(said).toContain('No languages or tools are set.');
    expect(said).toContain('*No servers* use it.');
  });

  test('build names a configuration that is not there', async ({ world }) => {
    const said = await ask(world, '/deckhand build b-9 storefront');
    expect(said).toContain('There is no build configuration `b-9` in `storefront` at `acme`.');
  });
});
