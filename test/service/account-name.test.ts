import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  BaseUrl,
  findBaseUrlFault,
  isAccountName,
  parseAccountName,
  readAddress,
} from '../../src/service/addresses.ts';
import { anyText } from '../support/arbitraries.ts';
import { hostileText } from '../support/hostile.ts';

const HOST = 'https://{account}.example.com';
const PATH = 'http://127.0.0.1:4000/{account}';

test.each(['acme', 'a', '7', 'acme-2', 'a--b', 'a'.repeat(63)])('%j is an account name', (name) => {
  expect(isAccountName(name)).toBe(true);
});

test.each([
  '',
  '-acme',
  'Acme',
  'acme.evil',
  'xn--80ak6aa92e',
  'аcme', // its first letter is Cyrillic
  '127.0.0.1',
  'a'.repeat(64),
])('%j is none', (name) => {
  expect(isAccountName(name)).toBe(false);
});

describe('what people type or paste', () => {
  test.each([
    ['acme', HOST],
    ['ACME.Example.com/', HOST],
    ['https://acme.example.com:443/projects/x%20y#top', HOST],
    ['https://Acme.example.com/projects', PATH],
    ['http://127.0.0.1:4000/acme/projects.json', PATH],
    ['http://[::1]:4000/api/acme/profile', 'http://[::1]:4000/api/{account}'],
    ['deploy-acme.example.com', 'https://deploy-{account}.example.com'],
  ])('%j on %s is acme', (text, template) => {
    expect(parseAccountName(text, template)).toBe('acme');
  });

  test.each([
    ['', HOST],
    ['example.com', HOST],
    ['https://acme.example.com@evil.test', HOST],
    ['https://acme%2eexample.com', HOST],
    ['https:\\\\acme.example.com', HOST],
    ['acme.example.com:8443', HOST],
    ['ftp://acme.example.com', HOST],
    ['http://2130706433/acme', PATH],
    ['http://127.0.0.1:4000/%61cme', PATH],
    ['http://127.0.0.1:4001/acme', PATH],
  ])('%j on %s is nobody', (text, template) => {
    expect(parseAccountName(text, template)).toBeUndefined();
  });

  test('whatever comes out of any text is one slug that leads to our own host', () => {
    const text = fc.oneof(
      anyText(),
      fc.tuple(fc.webAuthority(), anyText()).map(([host, path]) => `https://${host}/${path}`),
      fc.string().map((start) => `https://${start}.example.com`),
      fc.string().map((end) => `acme.example.com${end}`),
    );
    fc.assert(
      fc.property(text, fc.constantFrom(HOST, PATH), (typed, template) => {
        const name = parseAccountName(typed, template);
        if (name === undefined) return;
        expect(name).toMatch(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/);
        const { origin } = new BaseUrl(template).of(name);
        expect([`https://${name}.example.com`, 'http://127.0.0.1:4000']).toContain(origin);
      }),
    );
  });
});

describe('base url templates', () => {
  test.each([
    ['https://example.com', /exactly once/],
    ['https://{account}.example.com/{account}', /exactly once/],
    ['http://{account}.example.com', /https/],
    ['https://{account}', /domain of its own/],
    ['https://{account}@example.com', /user name/],
    ['https://example.com/?a={account}', /query/],
    ['{account}.example.com', /url/],
  ])('%s is not', (template, fault) => {
    expect(findBaseUrlFault(template)).toMatch(fault);
  });
});

describe('an address of the service', () => {
  const shop = { account: 'acme', project: 'shop' };
  test.each([
    ['https://ACME.example.com/projects/shop/', HOST, shop],
    ['https://acme.example.com/projects/shop/deployments/1?tab=log#end', HOST, shop],
    ['https://acme.example.com/projects/my%20shop', HOST, { account: 'acme', project: 'my shop' }],
    ['https://acme.example.com/projects/shop/servers/web-1/edit', HOST, { ...shop, server: 'web-1' }],
    ['http://127.0.0.1:4000/acme/projects/shop', PATH, shop],
    ['https://acme.example.com/billing/shop', HOST, undefined],
    ['https://acme.example.com/projects/%ff', HOST, undefined],
    ['https://example.com/projects/shop', HOST, undefined],
    ['http://acme.example.com/projects/shop', HOST, undefined],
    ['https://acme.example.com:8443/projects/shop', HOST, undefined],
    ['https://u:p@acme.example.com/projects/shop', HOST, undefined],
    ['http://127.0.0.1:4000/projects/shop', PATH, undefined],
  ])('%s', (address, template, expected) => {
    expect(readAddress(address, template)).toEqual(expected);
  });

  test('is never read from anything else, and nothing makes it fail', () => {
    fc.assert(
      fc.property(hostileText, hostileText, (before, after) => {
        const read = readAddress(`https://${before}.example.com/projects/${after}`, HOST);
        if (read !== undefined) expect(read.account).toMatch(/^[a-z0-9-]+$/);
      }),
    );
  });
});
