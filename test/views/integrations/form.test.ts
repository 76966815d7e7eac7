import { describe, expect, it } from 'vitest';
import { findChanges, HOOK_TYPES } from '../../../src/service/integrations.ts';
import { readIntegration } from '../../../src/views/integrations/fields.ts';
import { changedMessage, INTEGRATION_ADD, integrationModal } from '../../../src/views/integrations/form.ts';
import { INTEGRATION } from '../records.ts';

describe('the form of an integration', () => {
  it('never holds a secret that was typed', () => {
    const typed = Object.fromEntries(
      ['url', 'api_key', 'token', 'bot_token'].map((key) => [
        `properties.${key}`,
        'https://canary.example.com',
      ]),
    );
    for (const { label } of HOOK_TYPES) {
      const view = integrationModal({
        callbackId: INTEGRATION_ADD,
        origin: { account: 'acme' },
        values: { ...typed, hook_type: label, 'properties.hook_version': 'on_premise' },
        wireNames: {},
      });
      expect(JSON.stringify(view)).not.toContain('canary');
    }
  });

  it('shows the service’s own names of types, and sends the spec’s', () => {
    const view = integrationModal({
      callbackId: INTEGRATION_ADD,
      origin: { account: 'acme' },
      values: {},
      wireNames: { chat_c: 'roomy' },
    });
    const menu = JSON.stringify(view.blocks.find((block) => block.block_id === 'hook_type'));
    expect(menu).toContain('Team chat (roomy)');
    expect(menu).toContain('"value":"chat_c"');
  });
});

describe('reading the form', () => {
  const CLOUD = { hook_type: 'error_tracker_c', 'properties.hook_version': 'cloud' };

  it.each([
    [{}, ['name']],
    [{ hook_type: 'http_req' }, ['name']],
    [{ hook_type: 'http_req', name: '  ', 'properties.url': ' ' }, ['name']],
    [{ hook_type: 'error_tracker_d', name: 'x' }, ['properties.hook_version']],
    [{ ...CLOUD, name: 'x' }, []],
    [{ hook_type: 'chat_a_oauth', name: 'x' }, []],
    [{ hook_type: 'chat_d', name: 'x', 'properties.bot_token': 't', 'properties.chat_id': '12' }, []],
    [
      { hook_type: 'chat_d', name: 'x', 'properties.bot_token': 't', 'properties.chat_id': '@a b' },
      ['properties.chat_id'],
    ],
    [
      { hook_type: 'chat_d', name: 'x', 'properties.bot_token': 't', 'properties.chat_id': '12a' },
      ['properties.chat_id'],
    ],
    [{ hook_type: 'http_req', name: 'x', 'properties.url': 'javascript:alert(1)' }, ['properties.url']],
    [{ hook_type: 'http_req', name: 'x', 'properties.url': 'https://' }, ['properties.url']],
  ])('of a new one finds what is missing or malformed in %j', (given, faulty) => {
    expect(Object.keys(readIntegration(given, 'new').errors).toSorted()).toEqual(faulty);
  });

  it('takes only what the type asks for, whatever an earlier choice left behind', () => {
    const filled = readIntegration(
      { ...CLOUD, name: ' x ', 'properties.url': 'https://old.example.com', 'properties.zone_id': 'z' },
      'change',
    );
    expect(filled.properties).toEqual({ hook_version: 'cloud' });
    expect(filled.name).toBe('x');
  });
});

describe('what was changed', () => {
  const shownBefore = { name: 'Before', flags: ['send_on_failure' as const] };
  const read = (given: Parameters<typeof readIntegration>[0]) =>
    readIntegration({ hook_type: 'http_req', ...given }, 'change');

  it.each([
    [{ name: 'Before', flags: ['send_on_failure'] }, {}],
    [{ flags: ['send_on_failure'] }, {}],
    [{ name: 'After', flags: ['send_on_failure'] }, { name: 'After' }],
    [{ name: 'Before', flags: [] }, { send_on_failure: false }],
    [{ flags: ['send_on_failure', 'send_on_start'] }, { send_on_start: true }],
    [{ flags: ['send_on_failure'], clear: ['url', 'zone_id'] }, { properties: { url: null } }],
    [
      { flags: ['send_on_failure'], 'properties.url': 'https://a.example.com' },
      { properties: { url: 'https://a.example.com' } },
    ],
  ])('of one that is known: %j', (given, changes) => {
    expect(findChanges(read(given), shownBefore)).toEqual(changes);
  });

  it.each([
    [{ flags: [] }, {}],
    [
      { name: 'Any', flags: ['send_on_start'] },
      { name: 'Any', send_on_start: true },
    ],
    [{ flags: [], flags_off: ['send_on_completion'] }, { send_on_completion: false }],
  ])('of one that is not: %j', (given, changes) => {
    expect(findChanges(read(given), undefined)).toEqual(changes);
  });
});

describe('what is said of an integration', () => {
  it('names the properties that were changed, and none of their values', () => {
    const message = changedMessage(INTEGRATION, { name: 'New', properties: { token: 'secret-value' } });
    expect(message.text).toContain('changed its name, Token');
    expect(JSON.stringify(message)).not.toContain('secret-value');
  });
});
