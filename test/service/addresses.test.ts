import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readAddress } from '../../src/service/addresses.ts';
import { hostileText } from '../support/hostile.ts';

const BY_HOST = 'https://{account}.example.com';
const BY_PATH = 'http://127.0.0.1:4000/{account}';
const shop = { account: 'acme', project: 'shop' };

describe('an address of the service', () => {
  it.each([
    ['https://acme.example.com/projects/shop', BY_HOST, shop],
    ['https://ACME.example.com/projects/shop/', BY_HOST, shop],
    ['https://acme.example.com/projects/shop/deployments/1?tab=log#end', BY_HOST, shop],
    ['https://acme.example.com/projects/my%20shop', BY_HOST, { account: 'acme', project: 'my shop' }],
    ['https://acme.example.com/projects/shop/servers/web-1/edit', BY_HOST, { ...shop, server: 'web-1' }],
    ['https://acme.example.com/projects/shop/servers', BY_HOST, shop],
    ['http://127.0.0.1:4000/acme/projects/shop', BY_PATH, shop],
    ['https://acme.example.com/projects', BY_HOST, undefined],
    ['https://acme.example.com/billing/shop', BY_HOST, undefined],
    ['https://acme.example.com/x/../projects', BY_HOST, undefined],
    ['https://acme.example.com/projects/%ff', BY_HOST, undefined],
    ['https://example.com/projects/shop', BY_HOST, undefined],
    ['https://acme.example.com.evil.example/projects/shop', BY_HOST, undefined],
    ['https://acme.evil.example/projects/shop', BY_HOST, undefined],
    ['http://acme.example.com/projects/shop', BY_HOST, undefined],
    ['https://acme.example.com:8443/projects/shop', BY_HOST, undefined],
    ['https://u:p@acme.example.com/projects/shop', BY_HOST, undefined],
    ['http://127.0.0.1:4001/acme/projects/shop', BY_PATH, undefined],
    ['http://127.0.0.1:4000/projects/shop', BY_PATH, undefined],
    ['acme', BY_HOST, undefined],
  ])('%s', (address, template, expected) => {
    expect(readAddress(address, template)).toEqual(expected);
  });

  it('is never read from anything else, and nothing makes it fail', () => {
    fc.assert(
      fc.property(hostileText, hostileText, (before, after) => {
        const read = readAddress(`https://${before}.example.com/projects/${after}`, BY_HOST);
        if (read !== undefined) expect(read.account).toMatch(/^[a-z0-9-]+$/);
      }),
    );
  });
});
