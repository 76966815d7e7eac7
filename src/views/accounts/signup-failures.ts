import type { ServiceError } from '../../core/errors.ts';
import { dateTime, mrkdwn, sanitize, toSentence, withoutStop } from '../../core/mrkdwn.ts';

/** Errors by field are plain text, `base` is mrkdwn with all foreign text escaped. */
export interface SignupFault {
  errors: Record<string, string>;
  base?: string;
  /** True if the person can only sign up in a browser: `base` and a button then replace the form. */
  onWebOnly?: true;
}

/** Sentences for a field that the service rejects without a reason. API 7.2 (docs/service-api.md), 400 and 422. */
const FIELD_FAULTS: Record<string, string> = {
  email: 'The service does not accept this e-mail address.',
  password: 'The service does not accept this password.',
  account_name: 'The service does not accept this account name.',
  full_name: 'The service does not accept this name.',
  package: 'The service has no such package.',
  coupon: 'The service does not accept this coupon code.',
  terms_accepted: 'Accept the service’s terms to sign up.',
};

/** Words that show which field a text of the service is about. */
const FIELD_WORDS: ReadonlyArray<[field: string, words: RegExp]> = [
  ['terms_accepted', /\bterms\b/i],
  ['package', /\bpackage\b|\bplan\b/i],
  ['coupon', /\bcoupon\b/i],
  ['password', /\bpassword\b/i],
  ['email', /\be-?mail\b/i],
  ['account_name', /\baccount[ _]name\b|\bsubdomain\b/i],
  ['full_name', /\bfull[ _]name\b/i],
];

/** Matches two-factor, 2FA, multi-factor, MFA, OTP and the like, with or without hyphens. */
const TWO_FACTOR =
  /(?<![a-z0-9])(?:(?:two|2|multi)[\s\p{Pd}_]*(?:factor|step)|[2m]fa(?![a-z])|t?otp(?![a-z])|one[\s\p{Pd}_]*time[\s\p{Pd}_]*(?:pass|code)|authenticator)/iu;

/** Sentences for a rejected sign-up, by field. API 7.2. */
export function signupFault(error: ServiceError, at: { now: number; webSignup: string }): SignupFault {
  const reasons = listTexts(error);
  if (reasons.some(({ field = '', text }) => TWO_FACTOR.test(`${field} ${text}`))) return TWO_FACTOR_FAULT;
  switch (error.status) {
    case 400:
      return misfits(reasons, {
        email: withReason('The e-mail address or the password is missing or not valid.', reasons, sanitize),
      });
    case 401:
      return { errors: { password: WRONG_PASSWORD } };
    case 403:
      return blocked(reasons, at.webSignup);
    case 409:
      return taken(reasons);
    case 422:
      return misfits(reasons);
    case 429:
      return inGeneral(
        `There were too many sign-up attempts. Try again ${when(error, at.now, 'in an hour')}.`,
      );
    case 503:
      return inGeneral(
        `The service’s billing is unavailable, so sign-ups are closed. Try again ${when(error, at.now, 'later')}.`,
      );
    default:
      return inGeneral(withReason('The service refused the sign-up.', reasons, mrkdwn));
  }
}

const WRONG_PASSWORD =
  'The service already knows this e-mail address, with another password. Use that password, or another address.';

function inGeneral(base: string): SignupFault {
  return { errors: {}, base };
}

interface Reason {
  /** The field that the service names by its key. */
  field: string | undefined;
  text: string;
}

function listTexts(error: ServiceError): Reason[] {
  const fields = Object.entries(error.fields ?? {}).flatMap(([field, texts]) =>
    texts.map((text) => ({ field: field === 'base' ? undefined : field, text })),
  );
  const fieldTexts = new Set(fields.map(({ text }) => text));
  const rest = (error.messages ?? []).filter((text) => !fieldTexts.has(text));
  return [...fields, ...rest.map((text) => ({ field: undefined, text }))];
}

/** Assigns each text to its field. Returns `otherwise` if no text names one. */
function misfits(reasons: readonly Reason[], otherwise: Record<string, string> = {}): SignupFault {
  const errors: Record<string, string> = {};
  const rest: Reason[] = [];
  for (const one of reasons) {
    const field = one.field ?? FIELD_WORDS.find(([, words]) => words.test(one.text))?.[0];
    const own = field === undefined ? undefined : FIELD_FAULTS[field];
    if (field === undefined || own === undefined) rest.push(one);
    else errors[field] = [errors[field], fieldFault(field, own, one)].filter(Boolean).join(' ');
  }
  if (Object.keys(errors).length === 0 && Object.keys(otherwise).length > 0) return { errors: otherwise };
  const base = withReason('The service did not accept the sign-up.', rest, mrkdwn);
  return rest.length > 0 || Object.keys(errors).length === 0 ? { errors, base } : { errors };
}

/** Joins Deckhand's sentence and the service's. For a password, the service's alone is enough. */
function fieldFault(field: string, own: string, one: Reason): string {
  const isWhole = field === 'password' && /^\p{Lu}/u.test(one.text);
  return isWhole ? toSentence(sanitize(one.text, 200)) : withReason(own, [one], sanitize);
}

/** Reasons of a blocked sign-up, by the service's words. The first match counts. */
const BLOCKS: ReadonlyArray<[words: RegExp, sentence: string]> = [
  [
    /\block(?:ed|out)?\b|too many/i,
    'This e-mail address is locked for a while after too many failed attempts. Wait before you try again.',
  ],
  [/\bban(?:s|ned)?\b|\bIP\b/i, 'The service has banned the network address of Deckhand.'],
  [/\bsuspicious\b|\bpattern\b|\bspam\b/i, 'The service blocked the sign-up because it looked suspicious.'],
];

function blocked(reasons: readonly Reason[], webSignup: string): SignupFault {
  const texts = reasons.map(({ text }) => text).join(' ');
  if (/\bdisposable\b/i.test(texts))
    return {
      errors: { email: 'The service does not accept disposable e-mail addresses. Use a lasting one.' },
    };
  const why =
    BLOCKS.find(([words]) => words.test(texts))?.[1] ??
    withReason(
      'The service blocked the sign-up. Perhaps it looked suspicious, the e-mail’s domain is a disposable one, Deckhand’s address is banned, or the e-mail address is locked after too many failed attempts.',
      reasons,
      mrkdwn,
    );
  return inGeneral(`${why} You can also sign up <${webSignup}|on the web>.`);
}

const NAME_EXHAUSTED = 'This account name and its variations are in use. Choose another.';
const NAME_TAKEN = 'This account name is already in use. Choose another.';
const EMAIL_TAKEN = 'This e-mail address is already in use. If the account is yours, connect it instead.';
/** For a rejection that names neither field. */
const EITHER_TAKEN = {
  account_name: 'This account name or the e-mail address is already in use. Choose another name.',
  email:
    'This e-mail address or the account name is already in use. If the account is yours, connect it instead.',
};

function taken(reasons: readonly Reason[]): SignupFault {
  const texts = reasons.map(({ field = '', text }) => `${field} ${text}`).join(' ');
  const isEmail = /e-?mail/i.test(texts);
  const isName = /\bname\b|account_name|subdomain/i.test(texts);
  if (isEmail === isName) return { errors: EITHER_TAKEN };
  if (isEmail) return { errors: { email: EMAIL_TAKEN } };
  const isExhausted = /unavailable|not available|variation|exhausted/i.test(texts);
  return { errors: { account_name: isExhausted ? NAME_EXHAUSTED : NAME_TAKEN } };
}

const TWO_FACTOR_FAULT: SignupFault = {
  errors: {},
  base: 'This person’s login has two-factor authentication, so the account must be created on the web. Connect it here afterwards.',
  onWebOnly: true,
};

function when(error: ServiceError, now: number, otherwise: string): string {
  return error.retryAt === undefined ? otherwise : dateTime(Math.max(error.retryAt, now));
}

/** "The service refused the sign-up: no such package." */
function withReason(
  sentence: string,
  reasons: readonly Reason[],
  clean: (text: string, max: number) => string,
): string {
  const texts = reasons.map(({ text }) => withoutStop(text.trim())).filter((text) => text !== '');
  return texts.length === 0
    ? sentence
    : toSentence(`${withoutStop(sentence)}: ${clean(texts.join(', '), 200)}`);
}
