import { expect, test } from 'vitest';
import { getProfile } from '../../src/service/profile.ts';
import { listProjects } from '../../src/service/projects.ts';
import { startTestAccess } from '../../src/service/test-access.ts';
import { failure, KEY, openAccount, startWire } from './wire.ts';

const PROFILE = { email_address: 'ada@example.com', account: { name: 'Acme' } };

test('every request carries the JSON headers, who we are, and Basic credentials in UTF-8', async () => {
  await using wire = await startWire({ 'GET /acme/profile': [{ json: PROFILE }] });
  await using client = openAccount(wire.origin);
  await getProfile(client.account);
  expect(wire.requests[0]?.headers).toMatchObject({
    accept: 'application/json',
    'content-type': 'application/json',
    'user-agent': 'deckhand/1.2.3',
    authorization: `Basic ${Buffer.from(`ada@example.com:${KEY}`).toString('base64')}`,
  });
});

test('connections are used again', async () => {
  await using wire = await startWire({ 'GET /acme/profile': Array(50).fill({ json: PROFILE }) });
  await using client = openAccount(wire.origin);
  for (let round = 0; round < 50; round += 1) await getProfile(client.account);
  // Two, since a call that follows at once may find the first connection not yet free.
  expect(wire.connections()).toBeLessThanOrEqual(2);
});

test('a GET is sent again until it succeeds, at most three times', async () => {
  const bad = { status: 500, raw: 'oops' };
  await using wire = await startWire({
    'GET /acme/profile': [bad, bad, bad, { json: PROFILE }],
    'GET /acme/projects.json': [bad, bad, bad, bad],
  });
  await using client = openAccount(wire.origin);
  expect((await getProfile(client.account)).email_address).toBe('ada@example.com');
  expect(await failure(listProjects(client.account))).toMatchObject({ kind: 'unexpected', status: 500 });
});

test('a POST that failed with 500 is not sent again', async () => {
  await using wire = await startWire({ 'POST /acme/projects/shop/test_access': [{ status: 500, raw: '' }] });
  await using client = openAccount(wire.origin);
  const error = await failure(startTestAccess(client.account, 'shop'));
  expect(error).toMatchObject({ kind: 'unexpected', certainlyNotDone: false });
});
