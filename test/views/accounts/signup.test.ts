import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkView } from '../../../sandbox/slack/block-kit/view.ts';
import { ServiceError, type ServiceErrorKind } from '../../../src/core/errors.ts';
import { signupModal } from '../../../src/views/accounts/signup.ts';
import { type SignupFault, signupFault } from '../../../src/views/accounts/signup-failures.ts';
import { withBanner, withFieldErrors } from '../../../src/views/blocks/modal.ts';

const NOW = Date.parse('2026-03-02T09:00:00Z');
const AT = { now: NOW, webSignup: 'https://signup.example.com' };

function faultFor(kind: ServiceErrorKind, status: number, ...messages: string[]): SignupFault {
  return signupFault(new ServiceError(kind, 'signUp', { status, messages, retryAt: NOW + 60_000 }), AT);
}

describe('what a refused sign-up says', () => {
  it.each<[string, SignupFault, string[], string]>([
    ['400 of both', faultFor('rejected', 400), ['email'], 'missing or not valid'],
    ['400 of the e-mail', faultFor('rejected', 400, 'Email is invalid'), ['email'], 'Email is invalid'],
    [
      '400 of the password',
      faultFor('rejected', 400, 'Password is missing'),
      ['password'],
      'Password is missing.',
    ],
    ['401', faultFor('unauthorized', 401, 'Wrong'), ['password'], 'with another password'],
    ['403, locked', faultFor('forbidden', 403, 'Account locked'), [], 'locked for a while'],
    ['403, blocked', faultFor('forbidden', 403, 'Blocked'), [], 'The service blocked the sign-up'],
    [
      '403, disposable',
      faultFor('forbidden', 403, 'Disposable domain'),
      ['email'],
      'does not accept disposable',
    ],
    ['409 of the name', faultFor('rejected', 409, 'Account name taken'), ['account_name'], 'Choose another'],
    ['409 of the e-mail', faultFor('rejected', 409, 'E-mail in use'), ['email'], 'connect it instead'],
    [
      '409 of a name whose variations are gone',
      faultFor('rejected', 409, 'Subdomain is unavailable'),
      ['account_name'],
      'and its variations',
    ],
    [
      '409 of neither',
      faultFor('rejected', 409),
      ['account_name', 'email'],
      'or the account name is already',
    ],
    [
      '409 of either',
      faultFor('rejected', 409, 'Account name or email taken'),
      ['account_name', 'email'],
      'or the e-mail',
    ],
    ['403, suspicious', faultFor('forbidden', 403, 'Suspicious pattern'), [], 'because it looked suspicious'],
    ['403, banned', faultFor('forbidden', 403, 'Banned IP'), [], 'banned the network address'],
    ['422 of the password', faultFor('invalid', 422, 'Password too short'), ['password'], 'too short'],
    ['422 of the terms', faultFor('invalid', 422, 'Terms missing'), ['terms_accepted'], 'must be accepted'],
    ['422 of the package', faultFor('invalid', 422, 'No such package'), ['package'], 'no such package'],
    ['422 of nothing in particular', faultFor('invalid', 422, 'No'), [], 'did not accept the sign-up'],
    ['422 without a word', faultFor('invalid', 422), [], 'did not accept the sign-up'],
    ['429', faultFor('busy', 429), [], 'Try again <!date^'],
    ['503', faultFor('busy', 503), [], 'billing is unavailable'],
    ['another', faultFor('rejected', 418, 'Tea'), [], 'Tea'],
  ])('%s', (_, fault, fields, words) => {
    expect(Object.keys(fault.errors)).toEqual(fields);
    expect([...Object.values(fault.errors), fault.base].join(' ')).toContain(words);
  });

  it.each([
    'Two-factor is on',
    'two factor authentication enabled',
    'This login uses 2FA',
    'Multi‑factor authentication required',
    'MFA is required',
    'otp_required',
    'An OTP code is needed',
    'Enter your one-time password',
    '2-step verification is on',
  ])('leads to the web where it says “%s”', (text) => {
    const fault = faultFor('invalid', 422, text);
    expect(fault).toMatchObject({ errors: {}, onWebOnly: true });
    expect(fault.base).toContain('two-factor authentication');
  });

  it.each(['The footpath is closed', 'Password is too short', 'That plan has two features'])(
    'does not take “%s” for two-factor authentication',
    (text) => expect(faultFor('invalid', 422, text).onWebOnly).toBeUndefined(),
  );

  it('takes the fields that the service names, and keeps the rest on top', () => {
    const fields = { password: ['is weak'], colour: ['is odd'], base: ['<!here> no'] };
    const fault = signupFault(new ServiceError('invalid', 'signUp', { status: 422, fields }), AT);
    expect(fault.errors).toEqual({ password: expect.stringContaining('is weak') });
    expect(fault.base).toContain('is odd; &lt;!here&gt; no');
  });
});

const foreign = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom(
    '',
    '<!channel>',
    '``` & *x*',
    '\u202eevil',
    '👩‍👩‍👧‍👧'.repeat(2_000),
    'x'.repeat(10_000),
    '\n\n',
  ),
);

describe('whatever the service sends, Slack takes', () => {
  it('the form with its faults', () => {
    const error = fc.record({
      status: fc.constantFrom(400, 401, 403, 409, 422, 429, 503, 418),
      fields: fc.dictionary(fc.constantFrom('email', 'password', 'base', 'x'), fc.array(foreign)),
      messages: fc.array(foreign),
    });
    fc.assert(
      fc.property(error, fc.nat(3), (details, left) => {
        const { errors, base } = signupFault(new ServiceError('invalid', 'signUp', details), AT);
        const form = signupModal({ channel: 'C1' }, { perHour: 3, left, freeAt: NOW });
        const faulty = withFieldErrors(base === undefined ? form : withBanner(form, base), errors);
        expect(checkView(faulty, 'modal')).toEqual([]);
      }),
    );
  });
});
