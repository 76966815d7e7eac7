import { describe, expect, it } from 'vitest';
import { safeUrl } from '../../../src/views/blocks/message.ts';

describe('addresses on buttons', () => {
  it.each([
    ['https://acme.example.com/beta_features', true],
    ['http://127.0.0.1:4000/acme/beta', true],
    ['http://localhost:4000/', true],
    ['http://acme.localhost:4000/beta_features', true],
    ['http://127.0.1.1:4000/acme/beta', true],
    ['http://acme.localhost.example.com/beta', false],
    ['http://notlocalhost/beta', false],
    ['http://acme.example.com/beta', false],
    ['https://user:pass@acme.example.com/', false],
    ['javascript:alert(1)', false],
    ['slack://open', false],
    [`https://example.com/${'a'.repeat(3000)}`, false],
    ['not an address', false],
    ['', false],
    [null, false],
    [undefined, false],
  ])('%j: %j', (url, isSafe) => {
    expect(safeUrl(url)).toBe(isSafe ? url : undefined);
  });
});
