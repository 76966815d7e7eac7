import { expect, test } from 'vitest';
import {
  createIntegration,
  findHookType,
  HOOK_TYPES,
  listProperties,
  updateIntegration,
} from '../../src/service/integrations.ts';
import { failure, openWire } from './wire.ts';

const CREATE = 'POST /acme/projects/store/integrations';
const UPDATE = 'PATCH /acme/projects/store/integrations/i-1';
const RECORD = {
  identifier: 'i-1',
  hook_type: 'http_req',
  name: 'Ping',
  send_on_start: false,
  send_on_completion: true,
  send_on_failure: false,
};
/** What Deckhand has no use for, in any shape. */
const UNREAD = { created_at: 'soon', updated_at: 7 };
const PING = { hook_type: 'http_req', name: 'Ping', properties: { url: 'https://example.com/hook' } };

test('an integration is created with what is given and nothing else', async () => {
  await using wire = await openWire({ [CREATE]: [{ status: 201, json: { ...RECORD, ...UNREAD } }] });
  const result = await createIntegration(wire.account, 'store', { ...PING, send_on_completion: true });
  expect(result).toEqual({ kind: 'integration', integration: RECORD });
  const integration = { ...PING, send_on_completion: true };
  expect(JSON.parse(wire.requests[0]?.body ?? '')).toEqual({ integration });
});

test('a type that needs authorisation answers with the page for it, even beside a record', async () => {
  const auth = { auth_required: true, auth_url: 'https://chat.example.com/authorize?x=1' };
  await using wire = await openWire({
    [CREATE]: [{ json: auth }, { json: { ...auth, identifier: 7 } }],
    [UPDATE]: [{ json: { ...RECORD, ...auth } }, { json: { ...RECORD, auth_required: false } }],
  });
  const asked = { kind: 'auth_required', authUrl: auth.auth_url, identifier: undefined };
  const oauth = { hook_type: 'chat_b', name: 'Chat' };
  expect(await createIntegration(wire.account, 'store', oauth)).toEqual(asked);
  expect(await createIntegration(wire.account, 'store', oauth)).toEqual({ ...asked, identifier: '7' });
  expect(await updateIntegration(wire.account, 'store', 'i-1', { name: 'New' })).toEqual({
    ...asked,
    identifier: 'i-1',
  });
  expect(await updateIntegration(wire.account, 'store', 'i-1', {})).toMatchObject({ kind: 'integration' });
});

test.each(['javascript:alert(1)', 'not a url', ''])('%j is no page to send a person to', async (auth_url) => {
  await using wire = await openWire({ [CREATE]: [{ json: { ...RECORD, auth_required: true, auth_url } }] });
  expect(await failure(createIntegration(wire.account, 'store', PING))).toMatchObject({
    kind: 'unexpected',
  });
});

test('neutral labels are exchanged for the names on the wire, and back', async () => {
  await using wire = await openWire(
    {
      [CREATE]: [
        { json: { ...RECORD, hook_type: 'webhook' } },
        { json: { ...RECORD, hook_type: 'chat_c' } },
        { json: { ...RECORD, hook_type: 'brand_new' } },
      ],
    },
    { hookTypes: { http_req: 'webhook' } },
  );
  const labels = [];
  for (const hook_type of ['http_req', 'chat_c', 'constructor']) {
    const result = await createIntegration(wire.account, 'store', { ...PING, hook_type });
    if (result.kind === 'integration') labels.push(result.integration.hook_type);
  }
  const sent = wire.requests.map((request) => JSON.parse(request.body).integration.hook_type);
  expect(sent).toEqual(['webhook', 'chat_c', 'constructor']);
  expect(labels).toEqual(['http_req', 'chat_c', 'brand_new']);
});

/** Keys, tokens and webhook addresses are secret, marked with `!`. */
test.each([
  ['http_req', ['url']],
  ['cdn_cache', ['zone_id', 'path_prefix']],
  ['perf_monitor', ['application_id', 'api_key!']],
  ['error_tracker_a', ['token!', 'environment']],
  ['error_tracker_b', ['api_key!', 'environment']],
  ['chat_teams', ['url!', 'team']],
  ['codehost', ['account', 'project', 'repository', 'username', 'api_key!']],
  ['error_tracker_c', ['project', 'environment', 'token!'], ['organization_slug'], ['url']],
  ['error_tracker_d', ['api_key!'], [], ['url']],
  ['chat_a_oauth', []],
  ['chat_b', []],
  ['chat_c', ['url!']],
  ['chat_d', ['bot_token!', 'chat_id']],
])('%s of thirteen types asks for the properties of the spec', (label, both, cloud = [], onPremise = []) => {
  expect(HOOK_TYPES).toHaveLength(13);
  const type = findHookType(label);
  const keys = (version: 'cloud' | 'on_premise') =>
    type && listProperties(type, version).map(({ key, secret }) => (secret ? `${key}!` : key));
  expect(keys('cloud')).toEqual([...both, ...cloud]);
  expect(keys('on_premise')).toEqual([...both, ...onPremise]);
  expect(type?.versions.length).toBe(label === 'error_tracker_c' || label === 'error_tracker_d' ? 2 : 0);
  expect(type?.oauth).toBe(label === 'chat_a_oauth' || label === 'chat_b');
});
