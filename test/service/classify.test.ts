import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SERVICE_ERROR_KINDS, ServiceError } from '../../src/core/errors.ts';
import { classifyAnswer, type ErrorAnswer } from '../../src/service/classify.ts';
import { anyText } from '../support/arbitraries.ts';

const NOW = Date.UTC(2026, 0, 5, 12);

function classify(status: number, body: unknown, more: Partial<ErrorAnswer> = {}): ServiceError {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const answer = { operation: 'getThing', scope: 'account', retryAfter: undefined, now: NOW } as const;
  return classifyAnswer({ ...answer, status, body: text, ...more });
}

test.each([
  // Spec 7.1
  [400, { error_code: 'invalid_json', error: 'no JSON' }, 'unexpected'],
  [400, { error: 'email is missing' }, 'rejected'],
  [401, '', 'unauthorized'],
  [401, { error: 'email_verification_required' }, 'email_verification_required'],
  [403, { error_code: 'api_access_restricted', hint: 'Upgrade' }, 'api_access_restricted'],
  [403, {}, 'forbidden'],
  [404, { error_code: 'record_not_found', status: 'not_found' }, 'record_not_found'],
  [404, { error_code: 'account_not_found', hint: 'Check it' }, 'account_not_found'],
  [404, '<h1>No such host</h1>', 'account_not_found'],
  [404, { error_code: 'invalid_api_method' }, 'unexpected'],
  [422, { name: ["can't be blank"] }, 'invalid'],
  [429, '', 'busy'],
  [500, { error_code: 'internal_error', hint: 'Try later' }, 'unexpected'],
  [503, { error_code: 'service_unavailable' }, 'busy'],
  // Spec 7.3
  [403, { error: 'admin_required', message: 'Ask', beta_url: 'https://example.com/b' }, 'admin_required'],
  [422, { error: 'unsupported_protocol', message: 'ftp is not supported' }, 'invalid'],
  // Beyond the tables
  [301, '', 'unexpected'],
  [405, '', 'rejected'],
  [408, '', 'unreachable'],
  [409, { status: 'error', errors: ['taken'] }, 'rejected'],
])('%i %j is %s', (status, body, kind) => {
  expect(classify(status, body)).toMatchObject({ kind, status, operation: 'getThing' });
});

test.each<[unknown, Record<string, string[]>]>([
  [{ name: ['is short', 'is odd'] }, { name: ['is short', 'is odd'] }],
  [{ errors: { name: ['is short'] }, status: 'error' }, { name: ['is short'] }],
  [{ errors: ['Terms must be accepted'], status: 'error' }, { base: ['Terms must be accepted'] }],
  [{ error: 'unsupported_protocol', message: 'No ftp' }, { base: ['No ftp'] }],
  [{ integration: { name: ['x'], properties: { url: ['y'] } } }, { name: ['x'], 'properties.url': ['y'] }],
  [{ 'hosted_website_attributes.subdomain': ['taken'] }, { subdomain: ['taken'] }],
  [{ name: ['x'], hint: 'Read the manual', error_code: 'invalid' }, { name: ['x'] }],
])('422 %j names the fields', (body, fields) => {
  expect(classify(422, body).fields).toEqual(fields);
});

test('what the service says to the person is kept', () => {
  const body = {
    error: 'admin_required',
    message: 'An administrator has to do it',
    hint: 'Ask Ada',
    beta_url: 'https://acme.example.com/beta',
    upgrade_url: 'https://acme.example.com/plans',
  };
  expect(classify(403, body)).toMatchObject({
    errorCode: 'admin_required',
    messages: ['An administrator has to do it'],
    hint: 'Ask Ada',
    betaUrl: 'https://acme.example.com/beta',
    upgradeUrl: 'https://acme.example.com/plans',
  });
});

test.each(['javascript:alert(1)', 'data:text/html,x', 'beta', '', 7, null])(
  'beta_url %j never becomes a button',
  (beta_url) => {
    expect(classify(403, { error: 'admin_required', beta_url }).betaUrl).toBeUndefined();
  },
);

test.each([
  [429, '30', NOW + 30_000, true],
  [429, undefined, undefined, true],
  [503, new Date(NOW + 60_000).toUTCString(), NOW + 60_000, true],
  [503, undefined, undefined, false],
  [500, '30', NOW + 30_000, false],
  [403, '30', undefined, true],
  [422, undefined, undefined, true],
  [408, undefined, undefined, false],
])('%i with Retry-After %j: again at %j, certainly not done: %j', (status, retryAfter, retryAt, done) => {
  const error = classify(status, '', { retryAfter });
  expect([error.retryAt, error.certainlyNotDone]).toEqual([retryAt, done]);
});

test('no body, however hostile, breaks the reading or reaches the error text', () => {
  const json = fc.jsonValue({ maxDepth: 5 });
  const keys = [
    'status',
    'error',
    'errors',
    'message',
    'error_code',
    'hint',
    'beta_url',
    'base',
    '__proto__',
  ];
  const likely = fc.dictionary(fc.constantFrom(...keys), json);
  const body = fc.oneof(
    anyText(),
    fc.oneof(json, likely).map((value) => JSON.stringify(value)),
  );
  fc.assert(
    fc.property(fc.integer({ min: 300, max: 999 }), body, fc.string(), (status, text, retryAfter) => {
      const error = classify(status, text, { retryAfter });
      expect(error).toBeInstanceOf(ServiceError);
      expect(SERVICE_ERROR_KINDS).toContain(error.kind);
      expect(error.message).toMatch(/^getThing: [a-z_]+ \(\d+\)(?:: [a-z][a-z0-9_, ]*)?$/);
      for (const texts of Object.values(error.fields ?? {})) expect(texts.length).toBeGreaterThan(0);
    }),
  );
});

test('endless bodies are cut to what a person can read', () => {
  const many = Array.from({ length: 1000 }, (_, index) => `${index} ${'x'.repeat(10_000)}`);
  const error = classify(422, { errors: many, hint: 'h'.repeat(10_000) });
  expect(error.messages).toHaveLength(20);
  expect(error.messages?.[0]).toHaveLength(500);
  expect(error.hint).toHaveLength(500);
});
