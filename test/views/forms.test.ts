import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkView } from '../../sandbox/slack/block-kit/view.ts';
import { ServiceError, type ServiceErrorKind } from '../../src/core/errors.ts';
import { BASIC_FLAGS, findChanges, HOOK_TYPES, INTEGRATION_FLAGS } from '../../src/service/integrations.ts';
import { signupFault } from '../../src/views/accounts/signup-failures.ts';
import { signupModal } from '../../src/views/accounts/signup-messages.ts';
import { withBanner, withFieldErrors } from '../../src/views/blocks/modal.ts';
import { readIntegration } from '../../src/views/integrations/integration-fields.ts';
import { INTEGRATION_ADD, integrationModal } from '../../src/views/integrations/integration-modal.ts';
import { hostileText } from '../support/hostile.ts';

describe('the form of an integration', () => {
  const drawForm = (values: Record<string, string>, wireNames = {}) =>
    JSON.stringify(
      integrationModal({ callbackId: INTEGRATION_ADD, origin: { account: 'acme' }, values, wireNames }),
    );

  it.each(HOOK_TYPES)('never holds a secret that was typed: $label', ({ label }) => {
    const secrets = ['url', 'api_key', 'token', 'bot_token'].map((key) => [`properties.${key}`, 'canary']);
    const version = { hook_type: label, 'properties.hook_version': 'on_premise' };
    expect(drawForm({ ...Object.fromEntries(secrets), ...version })).not.toContain('canary');
  });

  it('shows the service’s own names of types, and sends those of the specification', () => {
    const form = drawForm({}, { chat_c: 'roomy' });
    expect(form).toContain('Team chat (roomy)');
    expect(form).toContain('"value":"chat_c"');
  });

  it('gives each type a name of its own without them', () => {
    const [, options = ''] = /"options":(\[.*?\}\])/.exec(drawForm({})) ?? [];
    const names = JSON.parse(options).map(({ text }: { text: { text: string } }) => text.text);
    expect(new Set(names).size).toBe(HOOK_TYPES.length);
    expect(names).toEqual(expect.arrayContaining(['Messaging', 'Error tracker (API key, environment)']));
  });

  const HTTP = { hook_type: 'http_req', name: 'x' };
  const CLOUD = { hook_type: 'error_tracker_c', 'properties.hook_version': 'cloud' };
  const chat = (id: string) => ({
    hook_type: 'chat_d',
    name: 'x',
    'properties.bot_token': 't',
    'properties.chat_id': id,
  });

  it.each([
    [{}, ['name']],
    [{ ...HTTP, name: '  ', 'properties.url': ' ' }, ['name']],
    [{ hook_type: 'error_tracker_d', name: 'x' }, ['properties.hook_version']],
    [{ ...CLOUD, name: 'x' }, []],
    [{ hook_type: 'chat_a_oauth', name: 'x' }, []],
    [chat('12'), []],
    [chat('@a b'), ['properties.chat_id']],
    [chat('12a'), ['properties.chat_id']],
    [{ ...HTTP, 'properties.url': 'javascript:alert(1)' }, ['properties.url']],
    [{ ...HTTP, 'properties.url': 'https://' }, ['properties.url']],
  ])('of a new one finds what is missing or malformed in %j', (given, faulty) => {
    expect(Object.keys(readIntegration(given, 'new', BASIC_FLAGS).errors)).toEqual(faulty);
  });

  it('takes only the properties of its type, whatever an earlier choice left behind', () => {
    const left = { 'properties.url': 'https://old.example.com', 'properties.zone_id': 'z' };
    const filled = readIntegration({ ...CLOUD, name: ' x ', ...left }, 'change', BASIC_FLAGS);
    expect(filled).toMatchObject({ name: 'x', properties: { hook_version: 'cloud' } });
    expect(Object.keys(filled.properties)).toEqual(['hook_version']);
  });

  const URL = 'https://a.example.com';
  const BEFORE = { name: 'Before', flags: ['send_on_failure' as const] };
  const SAME = { flags: ['send_on_failure'] };

  it.each([
    [{ ...SAME, name: 'Before' }, BEFORE, {}],
    [SAME, BEFORE, {}],
    [{ ...SAME, name: 'After' }, BEFORE, { name: 'After' }],
    [{ name: 'Before', flags: [] }, BEFORE, { send_on_failure: false }],
    [{ flags: ['send_on_failure', 'send_on_start'] }, BEFORE, { send_on_start: true }],
    [{ ...SAME, clear: ['url', 'zone_id'] }, BEFORE, { properties: { url: null } }],
    [{ ...SAME, 'properties.url': URL }, BEFORE, { properties: { url: URL } }],
    [{ flags: [] }, undefined, {}],
    [{ name: 'Any', flags: ['send_on_start'] }, undefined, { name: 'Any', send_on_start: true }],
    [{ flags: [], flags_off: ['send_on_completion'] }, undefined, { send_on_completion: false }],
  ])('of %j, if %j was there before, changes %j', (given, before, changes) => {
    const form = { hook_type: 'http_req', ...given };
    expect(findChanges(readIntegration(form, 'change', INTEGRATION_FLAGS), before)).toEqual(changes);
  });

  it('without the flag for failed checks leaves it as it is', () => {
    const before = { ...BEFORE, flags: ['send_on_failure' as const, 'send_on_check_failed' as const] };
    const form = { hook_type: 'http_req', name: 'After', flags: ['send_on_failure', 'send_on_check_failed'] };
    expect(findChanges(readIntegration(form, 'change', BASIC_FLAGS), before)).toEqual({ name: 'After' });
    expect(findChanges(readIntegration({ ...form, flags: [] }, 'change', BASIC_FLAGS), undefined)).toEqual({
      name: 'After',
    });
  });
});

describe('a rejected sign-up', () => {
  const NOW = Date.parse('2026-03-02T09:00:00Z');
  const AT = { now: NOW, webSignup: 'https://signup.example.com' };
  const explain = (kind: ServiceErrorKind, status: number, ...messages: string[]) =>
    signupFault(new ServiceError(kind, 'signUp', { status, messages, retryAt: NOW + 60_000 }), AT);

  it.each<[ServiceErrorKind, number, string, string[], string]>([
    ['rejected', 400, '', ['email'], 'missing or not valid'],
    ['rejected', 400, 'Password is missing', ['password'], 'Password is missing.'],
    ['forbidden', 403, 'Blocked', [], 'The service blocked the sign-up'],
    ['forbidden', 403, 'Disposable domain', ['email'], 'does not accept disposable'],
    ['forbidden', 403, 'Suspicious pattern', [], 'because it looked suspicious'],
    ['rejected', 409, 'Subdomain is unavailable', ['account_name'], 'and its variations'],
    ['rejected', 409, 'Account name or email taken', ['account_name', 'email'], 'or the e-mail'],
    ['invalid', 422, 'No', [], 'did not accept the sign-up'],
    ['invalid', 422, '', [], 'did not accept the sign-up'],
    ['busy', 429, '', [], 'Try again <!date^'],
    ['rejected', 418, 'Tea', [], 'Tea'],
  ])('%s by %i “%s” marks %j: %s', (kind, status, message, fields, words) => {
    const { errors, base } = explain(kind, status, ...(message === '' ? [] : [message]));
    expect(Object.keys(errors)).toEqual(fields);
    expect([...Object.values(errors), base].join(' ')).toContain(words);
  });

  it.each([
    ['Two-factor is on', true],
    ['two factor authentication enabled', true],
    ['Multi‑factor authentication required', true],
    ['MFA is required', true],
    ['otp_required', true],
    ['An OTP code is needed', true],
    ['Enter your one-time password', true],
    ['2-step verification is on', true],
    ['The footpath is closed', undefined],
    ['That plan has two features', undefined],
  ])('“%s” leads to the web: %j', (message, onWebOnly) => {
    const fault = explain('invalid', 422, message);
    expect(fault.onWebOnly).toBe(onWebOnly);
    if (onWebOnly) expect(fault).toMatchObject({ errors: {}, base: expect.stringContaining('two-factor') });
  });

  it('marks the fields that the service names, and keeps the rest above the form', () => {
    const fields = { password: ['is weak'], colour: ['is odd'], base: ['<!here> no'] };
    const fault = signupFault(new ServiceError('invalid', 'signUp', { status: 422, fields }), AT);
    expect(fault.errors).toEqual({ password: expect.stringContaining('is weak') });
    expect(fault.base).toContain('is odd, &lt;!here&gt; no');
  });

  it('is a form that Slack takes, whatever the service says', () => {
    const error = fc.record({
      status: fc.constantFrom(400, 401, 403, 409, 422, 429, 503, 418),
      fields: fc.dictionary(fc.constantFrom('email', 'password', 'base', 'x'), fc.array(hostileText)),
      messages: fc.array(hostileText),
    });
    fc.assert(
      fc.property(error, fc.nat(3), (details, left) => {
        const { errors, base } = signupFault(new ServiceError('invalid', 'signUp', details), AT);
        const form = signupModal({ channel: 'C1' }, { perHour: 3, remaining: left, freeAt: NOW });
        const faulty = withFieldErrors(base === undefined ? form : withBanner(form, base), errors);
        expect(checkView(faulty, 'modal')).toEqual([]);
      }),
    );
  });
});
