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
      [
        ':lock: Slack cannot hide what you type here, so choose a password that you use nowhere else. Deckhand sends it to the service once and never stores it.',
        leftWords(limit),
      ]
        .filter(Boolean)
        .join('\n'),
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

/** Said only where it matters: nothing while several attempts are left. */
export function leftWords({ left, freeAt }: SignupsLeft): string {
  if (left > 1) return '';
  if (left === 1) return 'Last attempt this hour.';
  const when = freeAt === undefined ? 'in an hour' : dateTime(freeAt);
  return `No attempts are left this hour. You can try again ${when}.`;
}
