import { expect, test } from 'vitest';
import { createService } from '../../src/service/client.ts';
import { signUp } from '../../src/service/profile.ts';
import { startTestClock, startWire } from './wire.ts';

const POST = 'POST /api/v1/signup';
const REQUEST = { email: 'ada@example.com', password: 'correct horse', terms_accepted: true };
const CREATED = {
  account: { identifier: 'acc-1', name: 'Acme', subdomain: 'acme', url: 'https://acme.example.com' },
  api_key: 'k'.repeat(40),
  ssh_public_key: { id: 'k-1', public_key: 'ssh-ed25519 AAAA', fingerprint: 'SHA256:x' },
  oauth_urls: { codehost: 'https://acme.example.com/oauth/codehost', odd: 'javascript:x', none: null },
  mcp_config: { account: 'acme', api_key: 'k'.repeat(40), email: 'ada@example.com' },
  email_verified: false,
};

function open(signupUrl?: string) {
  const baseUrl = 'https://{account}.example.com';
  const service = createService({ baseUrl, signupUrl, version: '1.2.3', clock: startTestClock() });
  return { service, [Symbol.asyncDispose]: () => service.close() };
}

test('an account is created without credentials, and its key comes back', async () => {
  await using wire = await startWire({ [POST]: [{ status: 201, json: CREATED }] });
  await using client = open(wire.origin);
  expect(await signUp(client.service, REQUEST)).toEqual({
    account: { name: 'Acme', subdomain: 'acme', url: 'https://acme.example.com' },
    api_key: CREATED.api_key,
    ssh_public_key: CREATED.ssh_public_key,
    oauth_urls: { codehost: 'https://acme.example.com/oauth/codehost' },
    email_verified: false,
  });
  const [sent] = wire.requests;
  expect(JSON.parse(sent?.body ?? '')).toEqual(REQUEST);
  expect(sent?.headers).not.toHaveProperty('authorization');
  expect(sent?.headers).toMatchObject({ accept: 'application/json', 'content-type': 'application/json' });
});

test.each([
  { account: null, mcp_config: { account: 'acme' }, oauth_urls: [], email_verified: 'no' },
  { account: { identifier: 'acme', name: {} }, ssh_public_key: 'ssh-ed25519 AAAA' },
])('nothing odd in the answer loses the key, which is told only once: %j', async (odd) => {
  await using wire = await startWire({ [POST]: [{ status: 201, json: { ...odd, api_key: 'key' } }] });
  await using client = open(`${wire.origin}/`);
  const signup = await signUp(client.service, REQUEST);
  expect(signup).toMatchObject({ api_key: 'key', account: { name: 'acme', subdomain: 'acme', url: null } });
});
