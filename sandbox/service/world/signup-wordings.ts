/**
 * What a refused sign-up says, by its condition in spec 7.2. The spec gives the conditions and no texts, so that
 * each has more than one wording; the first is the usual one.
 */
export const SIGNUP_WORDINGS = {
  email: {
    usual: 'The e-mail address is missing or invalid.',
    short: 'Email is invalid',
    neither: 'Missing or invalid parameters.',
  },
  password: {
    usual: 'The password is missing or invalid.',
    short: "Password can't be blank",
    neither: 'Missing or invalid parameters.',
  },
  wrong_password: {
    usual: 'This e-mail address is known already, and the password is not right.',
    short: 'Incorrect password',
    neither: 'Authentication failed.',
  },
  locked: {
    usual: 'Too many failed attempts; this person is locked for now.',
    short: 'Account is temporarily locked',
  },
  blocked: { usual: 'The request was blocked.', short: 'Forbidden' },
  name_unavailable: {
    usual: 'This account name is unavailable, in all its variations.',
    short: 'Subdomain is unavailable',
    neither: 'Already in use.',
  },
  name_taken: {
    usual: 'This account name is already in use.',
    short: 'Account name has already been taken',
    neither: 'Already in use.',
  },
  email_taken: {
    usual: 'This e-mail address is already in use.',
    short: 'Email has already been taken',
    neither: 'Already in use.',
  },
  short_password: {
    usual: 'The password is too short; it needs 8 characters.',
    short: 'Password is too short (minimum is 8 characters)',
  },
  terms: { usual: 'The terms have to be accepted.', short: 'Terms accepted must be true' },
  package: { usual: 'There is no such package.', short: 'Package is invalid' },
  two_factor: {
    usual: 'Two-factor authentication is on; please sign up on the web.',
    'two-factor': 'This user has two-factor authentication enabled.',
    '2fa': 'This login is protected by 2FA and cannot be used here.',
    'multi-factor': 'Multi-factor authentication is required for this user.',
    otp: 'An OTP code is needed to continue.',
  },
  too_many: { usual: 'Too many attempts to sign up; try again later.', short: 'Rate limit exceeded' },
  billing: {
    usual: 'Billing is unavailable for the moment; try again later.',
    short: 'Signup is temporarily disabled',
  },
} as const satisfies Record<string, { usual: string } & Record<string, string>>;

export type SignupCondition = keyof typeof SIGNUP_WORDINGS;

/** The wording chosen for each condition, by its name; the usual one where none was. */
export type ChosenWordings = Map<SignupCondition, string>;

/** Chooses a wording from now on; throws where the condition has none of that name. */
export function chooseWording(chosen: ChosenWordings, condition: SignupCondition, wording: string): void {
  if (!Object.hasOwn(SIGNUP_WORDINGS[condition], wording)) {
    const names = Object.keys(SIGNUP_WORDINGS[condition]).join(', ');
    throw new Error(`"${condition}" has no wording "${wording}"; it has ${names}`);
  }
  chosen.set(condition, wording);
}

export function signupText(chosen: ChosenWordings, condition: SignupCondition): string {
  const wordings: Record<string, string> = SIGNUP_WORDINGS[condition];
  return wordings[chosen.get(condition) ?? 'usual'] ?? SIGNUP_WORDINGS[condition].usual;
}
