import type { ModalView } from '../../core/message.ts';
import { dateTime } from '../../core/mrkdwn.ts';
import type { SignupsLeft } from '../../records/signup-attempts.ts';
import { checkboxesInput, emailInput, selectInput, textInput } from '../blocks/inputs.ts';
import { button, buttons, section } from '../blocks/message.ts';
import { modal, notice } from '../blocks/modal.ts';

export const SIGNUP = 'signup';
export const SIGNUP_TITLE = 'Create an account';

/** API 2.1 (docs/service-api.md); `pro` is the service's default. */
export const PACKAGES = ['pro', 'business', 'enterprise'] as const;

const PACKAGE_NAMES = { pro: 'Pro', business: 'Business', enterprise: 'Enterprise' } as const;

/** Slack has no masked input, so the form says what happens to the password. */
export function signupModal(origin: { channel?: string | undefined }, limit: SignupsLeft): ModalView {
  return modal(SIGNUP, SIGNUP_TITLE, { submit: 'Sign up', metadata: origin }, [
    section(
      `:lock: Slack cannot hide what you type here, so choose a password that you use nowhere else. Deckhand sends it to the service once and never stores it.\n${limitWords(limit)}`,
    ),
    emailInput('email', 'E-mail address', {
      hint: 'Of the account’s administrator. A verification link is sent there.',
    }),
    textInput('password', 'Password', { maxLength: 1000 }),
    textInput('account_name', 'Account name', {
      hint: 'Part of the account’s address; it cannot be changed later. If empty, it is made from the e-mail address.',
      optional: true,
      maxLength: 200,
    }),
    textInput('full_name', 'Your full name', {
      hint: 'If empty, it is the account’s name followed by “Admin”.',
      optional: true,
      maxLength: 200,
    }),
    selectInput('package', 'Package', {
      hint: 'Every account starts with a trial period.',
      choices: PACKAGES.map((value) => ({ value, text: PACKAGE_NAMES[value] })),
      initial: 'pro',
    }),
    textInput('coupon', 'Coupon code', { optional: true, maxLength: 200 }),
    checkboxesInput('terms_accepted', 'Terms', {
      choices: [{ value: 'true', text: 'I accept the service’s terms' }],
    }),
    checkboxesInput('newsletter_opt_in', 'Newsletter', {
      optional: true,
      choices: [{ value: 'true', text: 'Send me the newsletter' }],
    }),
  ]);
}

/** In place of the form, where only a browser can go on. `said` is mrkdwn. */
export function webSignupModal(said: string, webSignup: string): ModalView {
  const onTheWeb = button('Sign up on the web', 'link:open', { style: 'primary', url: webSignup });
  return notice(SIGNUP_TITLE, `:information_source: ${said}`, ...buttons(onTheWeb));
}

/** The limit, before it is reached. */
function limitWords({ perHour, left, freeAt }: SignupsLeft): string {
  const rule = `The service accepts ${perHour} sign-up attempts an hour from Deckhand’s address`;
  if (left > 0)
    return `${rule}, including refused ones. When this form opened, ${left} ${left === 1 ? 'was' : 'were'} left.`;
  const when = freeAt === undefined ? 'in an hour' : dateTime(freeAt);
  return `:warning: ${rule}, and all are used. The next is free ${when}.`;
}

/** The attempts left after one; plain text. */
export function leftWords({ perHour, left }: SignupsLeft): string {
  if (left === 0) return `That was the last of ${perHour} attempts this hour.`;
  return `${left} of ${perHour} attempts this hour ${left === 1 ? 'is' : 'are'} left.`;
}
