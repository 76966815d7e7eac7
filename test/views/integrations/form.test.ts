import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkMessageBlocks } from '../../../sandbox/slack/block-kit/message.ts';
import { checkView } from '../../../sandbox/slack/block-kit/view.ts';
import { HOOK_TYPES, INTEGRATION_FLAGS } from '../../../src/service/integrations.ts';
import { changesOf, readIntegration } from '../../../src/views/integrations/fields.ts';
import {
  INTEGRATION_ADD,
  INTEGRATION_EDIT,
  type IntegrationForm,
  integrationModal,
  shownName,
} from '../../../src/views/integrations/form.ts';
import { addedMessage, authoriseMessage, changedMessage } from '../../../src/views/integrations/outcome.ts';
import { webUrl } from '../../support/arbitraries.ts';
import { hostileText } from '../../support/hostile.ts';
import { INTEGRATION } from '../records.ts';

const flags = fc.subarray([...INTEGRATION_FLAGS]);
const shortText = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 });
const project = fc.record({ permalink: shortText, name: hostileText.map((name) => name.slice(0, 100)) });

const values = fc
  .record({
    hook_type: fc.constantFrom(...HOOK_TYPES.map(({ label }) => label), 'no_such_type'),
    'properties.hook_version': fc.constantFrom('cloud', 'on_premise', 'elsewhere'),
    name: shortText,
    flags,
    project: shortText,
    clear: fc.subarray(['url', 'token', 'channel']),
    'properties.url': webUrl(),
    'properties.environment': shortText,
  })
  .chain((all) => fc.subarray(Object.entries(all)).map((some) => Object.fromEntries(some)));

const shown = fc.record({
  id: fc.constant('k3m9x'),
  type: fc.oneof(fc.constantFrom(...HOOK_TYPES.map(({ label }) => label)), shortText),
  name: hostileText.map(shownName),
  flags,
});

const origin = fc
  .record({
    account: fc.constant('acme'),
    channel: fc.constant('C1'),
    project: fc.option(project, { nil: undefined }),
    identifier: fc.option(shortText, { nil: undefined }),
    shown: fc.option(shown, { nil: undefined }),
    picks: fc.boolean(),
  })
  .map((all) => (all.identifier === undefined ? { ...all, shown: undefined, picks: true } : all));

const form: fc.Arbitrary<IntegrationForm> = fc.record({
  callbackId: fc.constantFrom(INTEGRATION_ADD, INTEGRATION_EDIT),
  origin,
  values,
  wireNames: fc.dictionary(fc.constantFrom(...HOOK_TYPES.map(({ label }) => label)), hostileText),
  typedProject: fc.option(shortText, { nil: undefined }),
});

describe('the form of an integration', () => {
  it('is one that Slack takes, whatever stands in it', () => {
    fc.assert(
      fc.property(form, (random) => {
        const view = integrationModal(random);
        expect(checkView(view, 'modal')).toEqual([]);
        const marked = view.blocks.filter((block) => block.type === 'context');
        expect(JSON.stringify(marked)).not.toMatch(/<[!@#]/);
        expect(JSON.parse(view.private_metadata ?? '{}')).toMatchObject({ account: 'acme' });
      }),
    );
  });

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
    expect(changesOf(read(given), shownBefore)).toEqual(changes);
  });

  it.each([
    [{ flags: [] }, {}],
    [
      { name: 'Any', flags: ['send_on_start'] },
      { name: 'Any', send_on_start: true },
    ],
    [{ flags: [], flags_off: ['send_on_completion'] }, { send_on_completion: false }],
  ])('of one that is not: %j', (given, changes) => {
    expect(changesOf(read(given), undefined)).toEqual(changes);
  });
});

describe('what is said of an integration', () => {
  it('is a message that Slack takes, and nothing foreign comes alive in it', () => {
    fc.assert(
      fc.property(hostileText, hostileText, fc.oneof(webUrl(), hostileText), (name, type, authUrl) => {
        const project = { permalink: 'storefront', name };
        const saved = { ...INTEGRATION, name, hookType: type, project };
        const messages = [
          addedMessage(saved, {}, '/deckhand'),
          changedMessage(saved, { name, properties: { [type]: 'x', token: 'secret-value' } }),
          authoriseMessage(saved, authUrl, { ...saved, word: '/deckhand' }),
          authoriseMessage(saved, authUrl),
        ];
        for (const message of messages) {
          expect(checkMessageBlocks(message.blocks)).toEqual([]);
          expect(message.text).not.toMatch(/<[!@#]/);
          expect(JSON.stringify(message)).not.toContain('secret-value');
        }
      }),
    );
  });
});
