import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BaseUrl, findBaseUrlFault, isAccountName, parseAccountName } from '../../src/service/addresses.ts';
import { anyText, webUrl } from '../support/arbitraries.ts';

const HOST = 'https://{account}.example.com';
const PATH = 'http://127.0.0.1:4000/{account}';

test.each(['acme', 'a', '7', 'acme-2', 'a--b', 'a'.repeat(63)])('%j is an account name', (name) => {
  expect(isAccountName(name)).toBe(true);
});

test.each([
  '',
  '-acme',
  'acme-',
  'Acme',
  'acme.evil',
  'acme%2eevil',
  'acme\n',
  'xn--80ak6aa92e',
  'аcme', // its first letter is Cyrillic
  '127.0.0.1',
  '[::1]',
  'user@acme',
  'acme:80',
  'acme/..',
  '..',
  'a'.repeat(64),
])('%j is none', (name) => {
  expect(isAccountName(name)).toBe(false);
});

describe('what people type or paste', () => {
  test.each([
    ['acme', HOST],
    ['  Acme ', HOST],
    ['acme.example.com', HOST],
    ['ACME.Example.com/', HOST],
    ['https://acme.example.com/projects', HOST],
    ['http://acme.example.com?tab=1', HOST],
    ['https://acme.example.com:443/projects/x%20y#top', HOST],
    ['acme', PATH],
    ['acme.example.com', PATH],
    ['https://Acme.example.com/projects', PATH],
    ['127.0.0.1:4000/acme', PATH],
    ['http://127.0.0.1:4000/acme/projects.json', PATH],
    ['http://127.0.0.1/Acme', PATH],
    ['http://[::1]:4000/api/acme/profile', 'http://[::1]:4000/api/{account}'],
    ['deploy-acme.example.com', 'https://deploy-{account}.example.com'],
  ])('%j on %s is acme', (text, template) => {
    expect(parseAccountName(text, template)).toBe('acme');
  });

  test.each([
    ['', HOST],
    ['acme.example.org', HOST],
    ['example.com', HOST],
    ['.example.com', HOST],
    ['acme.sub.example.com', HOST],
    ['acme.example.com.evil.test', HOST],
    ['https://acme.example.com@evil.test', HOST],
    ['https://evil.test/acme.example.com', HOST],
    ['https://acme%2eexample.com', HOST],
    ['https://acme%00.example.com', HOST],
    ['https://acme。example。com', HOST],
    ['https:\\\\acme.example.com', HOST],
    ['acme.example.com\\@evil.test', HOST],
    ['xn--80ak6aa92e.example.com', HOST],
    ['acme.example.com:8443', HOST],
    ['ftp://acme.example.com', HOST],
    ['javascript:acme', HOST],
    ['127.0.0.1', HOST],
    ['127.0.0.1', PATH],
    ['example.com', PATH],
    ['acme.example.com:8443', PATH],
    ['https://acme.example.com@evil.test', PATH],
    ['xn--80ak6aa92e.example.com', PATH],
    ['http://2130706433/acme', PATH],
    ['http://127.0.0.1:4000/', PATH],
    ['http://127.0.0.1:4000/%61cme', PATH],
    ['http://127.0.0.1:4000/../acme', PATH],
    ['http://127.0.0.1:4001/acme', PATH],
    ['acme corp', HOST],
  ])('%j on %s is nobody', (text, template) => {
    expect(parseAccountName(text, template)).toBeUndefined();
  });

  test('whatever comes out of any text is one slug that leads to our own host', () => {
    const text = fc.oneof(
      anyText(),
      webUrl(),
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

  test('an account is found again in its own address', () => {
    const name = fc.stringMatching(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/).filter(isAccountName);
    fc.assert(
      fc.property(name, fc.constantFrom(HOST, PATH), (account, template) => {
        const { origin, path } = new BaseUrl(template).of(account);
        expect(parseAccountName(`${origin}${path}/projects`, template)).toBe(account);
      }),
    );
  });
});

describe('base url templates', () => {
  test.each([
    HOST,
    PATH,
    'http://{account}.localhost:4000',
    'http://localhost:4000/{account}/',
    'http://[::1]/{account}',
    'https://deploy.example.com/{account}/api',
  ])('%s is sound', (template) => {
    expect(findBaseUrlFault(template)).toBeUndefined();
  });

  test.each([
    ['https://example.com', /exactly once/],
    ['https://{account}.example.com/{account}', /exactly once/],
    ['http://{account}.example.com', /https/],
    ['http://{account}.localhost.example.com', /https/],
    ['ftp://{account}.example.com', /https/],
    ['https://{account}', /domain of its own/],
    ['https://api.{account}', /domain of its own/],
    ['https://{account}@example.com', /user name/],
    ['https://example.com/?a={account}', /query/],
    ['https://example.com:{account}', /url/],
    ['{account}.example.com', /url/],
  ])('%s is not', (template, fault) => {
    expect(findBaseUrlFault(template)).toMatch(fault);
  });
});
