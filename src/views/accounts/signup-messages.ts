import type { KnownBlock, Message, ModalView } from '../../core/message.ts';
import { bold, capitalised, code, dateTime, mrkdwn, sanitize } from '../../core/mrkdwn.ts';
import type { SignupsLeft } from '../../records/accounts.ts';
import { checkboxesInput, emailInput, selectInput, textInput } from '../blocks/inputs.ts';
import {
  button,
  buttons,
  context,
  LIMITS,
  linkButton,
  preformatted,
  say,
  section,
} from '../blocks/make-blocks.ts';
import { modal, notice } from '../blocks/modal.ts';
import { maskedKey } from './account-messages.ts';

export const SIGNUP = 'signup';
export const SIGNUP_TITLE = 'Create an account';

/** API 2.1 (docs/service-api.md); `pro` is the service's default. */
export const PACKAGES = ['pro', 'business', 'enterprise'] as const;

const SECRECY =
  ':lock: Slack cannot hide what you type here, so choose a password that you use nowhere else. Deckhand sends it to the service once and never stores it.';

/** Slack has no masked input, so the form says what happens to the password. */
export function signupModal(origin: { channel?: string | undefined }, limit: SignupsLeft): ModalView {
  return modal(SIGNUP, SIGNUP_TITLE, { submit: 'Sign up', metadata: origin }, [
    section(`${SECRECY}\n${leftWords(limit)}`.trim()),
    emailInput({
      hint: 'Of the account’s administrator. A verification link is sent there.',
    }),
    textInput('password', 'Password', { maxLength: 1000 }),
    textInput('account_name', 'Account name', {
      hint: 'Part of the account’s address, for good. If it is taken, the service may vary it, e.g. acme-2. If empty, it is made from the e-mail address.',
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
      choices: PACKAGES.map((value) => ({ value, text: capitalised(value) })),
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

/** Replaces the form if sign-up continues in a browser. `text` is mrkdwn. */
export function webSignupModal(text: string, webSignup: string): ModalView {
  const onTheWeb = button('Sign up on the web', 'link:open', { style: 'primary', url: webSignup });
  return notice(SIGNUP_TITLE, `:information_source: ${text}`, ...buttons(onTheWeb));
}

/** Empty while several attempts remain. */
export function leftWords({ remaining, freeAt }: SignupsLeft): string {
  if (remaining > 1) return '';
  if (remaining === 1) return 'Last attempt this hour.';
  const when = freeAt === undefined ? 'in an hour' : dateTime(freeAt);
  return `No attempts are left this hour. You can try again ${when}.`;
}

/** Result of a sign-up. It shows only the last characters of the key. */
export interface SignedUp {
  /** The account's name in its address, which people see too. */
  account: string;
  displayName: string;
  /** The account's address, from the configuration. */
  url: string;
  email: string;
  keyTail: string;
  isVerified: boolean;
  deployKey: DeployKey | undefined;
  /** Pages that authorise repository providers, by provider. */
  oauthUrls: Record<string, string>;
  /** The typed name, if the service made another one. */
  typedName: string | undefined;
  /** The account that other commands use by default. */
  used: string;
  word: string;
}

export interface DeployKey {
  publicKey: string;
  fingerprint: string;
}

/** Maximum number of providers with a button. The service names a handful. */
const MAX_PROVIDERS = 10;

/** Shown only to the person who signed up. API 2.2 and 5.1 (docs/service-api.md). */
export function signedUpMessage(view: SignedUp): Message {
  const { account, displayName, url, keyTail, email, isVerified } = view;
  const quote = { ...view, isNamed: view.used !== account };
  const other = otherNameWords(view);
  const text = `:tada: The account ${bold(displayName)} (${code(account)}) is created at <${url}> and connected, with the key ${code(maskedKey(keyTail))}.`;
  const next = isVerified
    ? `Next: ${quoteProjects(quote)}.`
    : `:email: *Verify your e-mail address first:* follow the link sent to ${mrkdwn(email, 200)}. You get a direct message once the account works. Then ${quoteProjects(quote)} lists its projects.`;
  return {
    text: [other, text, next].join(' ').trim(),
    blocks: [
      ...(other === '' ? [] : [section(other)]),
      section(text),
      section(next),
      ...deployKeyBlocks(view.deployKey),
      ...providerBlocks(view.oauthUrls),
      section(
        '*Settings for a tool client.* Replace the dots with the whole key, from the account’s security or API settings.',
      ),
      drawCopyable(JSON.stringify({ account, api_key: maskedKey(keyTail), email }, null, 2)),
    ],
  };
}

/** Says first that the account has another name than the person typed. The service cannot change it. */
function otherNameWords({ account, typedName, used, word }: SignedUp): string {
  if (typedName === undefined) return '';
  const name = `:warning: *The account is named ${code(account)}*, not ${code(typedName, 100)}: that name is probably taken. It cannot be changed.`;
  const here =
    used === account
      ? 'Commands use it, because no other account is connected.'
      : `Commands still use ${code(used)}.`;
  const way = `If you meant an account that exists already, run ${code(`${word} connect`)}, and ${code(`${word} disconnect ${account}`)} for this one.`;
  return `${name} ${here} ${way}`;
}

function quoteProjects({
  word,
  account,
  isNamed,
}: Pick<SignedUp, 'word' | 'account'> & { isNamed: boolean }): string {
  return code(`${word} projects${isNamed ? ` --account ${account}` : ''}`, 120);
}

/** Says that the key works. Repeats the deploy key, because private messages disappear. */
export function verifiedMessage(
  view: Pick<SignedUp, 'account' | 'deployKey' | 'word'> & {
    /** True if other commands use another account by default, so that the words must name this one. */
    isNamed: boolean;
  },
): Message {
  const { account, deployKey } = view;
  const text = `:white_check_mark: The e-mail address of ${code(account)} is verified. The key works and deployments are unblocked. Next: ${quoteProjects(view)}.`;
  return say(text, ...deployKeyBlocks(deployKey));
}

export function neverVerifiedMessage(account: string): Message {
  return say(
    `:hourglass: The e-mail address of ${code(account)} was not verified within 7 days, so Deckhand stopped checking. The account works once you follow the link in the verification e-mail.`,
  );
}

/** The e-mail is verified, but the service refuses the key for another reason; `reason` is mrkdwn. */
export function verifiedButRefusedMessage(account: string, reason: string): Message {
  return say(
    `:warning: The e-mail address of ${code(account)} seems to be verified, but the key is refused. ${reason}`,
  );
}

function deployKeyBlocks(key: DeployKey | undefined): KnownBlock[] {
  if (key === undefined) return [];
  return [
    section('*Deploy key.* Add this public key to your repository at its host:'),
    drawCopyable(key.publicKey),
    ...(key.fingerprint === '' ? [] : [context(`Fingerprint ${code(key.fingerprint, 200)}`)]),
  ];
}

function providerBlocks(oauthUrls: Record<string, string>): KnownBlock[] {
  const connect = Object.entries(oauthUrls)
    .map(([provider, address], at) =>
      linkButton(`Connect ${provider.replaceAll('_', ' ')}`, `link:open#${at}`, address),
    )
    .filter((one) => one !== undefined);
  if (connect.length === 0) return [];
  const text = '*Repository provider.* You can also connect a provider’s account in your browser:';
  return [section(text), ...buttons(...connect.slice(0, MAX_PROVIDERS))];
}

/** Text to copy. Line breaks remain; other invisible characters do not. */
function drawCopyable(foreign: string): KnownBlock {
  const lines = foreign
    .split('\n')
    .map((line) => line.match(/^ */)?.[0] + sanitize(line, LIMITS.sectionText));
  return preformatted(lines.join('\n').trim() || '—');
}
