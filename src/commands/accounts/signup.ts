import { z } from 'zod';
import { ServiceError } from '../../core/errors.ts';
import type { Reply } from '../../core/message.ts';
import { bold, code, unmarked } from '../../core/mrkdwn.ts';
import { newReference } from '../../observability/log.ts';
import { countSignup, readSignupsLeft, type SignupsLeft } from '../../records/accounts.ts';
import { watchFor } from '../../scheduler/accounts/verification.ts';
import { accountUrl, parseAccountName } from '../../service/addresses.ts';
import { type Signup, type SignupRequest, signUp } from '../../service/profile.ts';
import { signupFault } from '../../views/accounts/signup-failures.ts';
import {
  leftWords,
  PACKAGES,
  SIGNUP,
  SIGNUP_TITLE,
  signedUpMessage,
  signupModal,
  webSignupModal,
} from '../../views/accounts/signup-messages.ts';
import { failureMessage, failureWords } from '../../views/blocks/failures.ts';
import { notice } from '../../views/blocks/modal.ts';
import { defineCommand } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { closeWith, FormFault, readFields, type Submitted, type ViewState } from '../submission.ts';
import { resolveAccount } from '../targets/targets.ts';

/** The origin of an account, for the service (API 2.1, docs/service-api.md). */
const ATTRIBUTION = { signup_source: 'deckhand-slack', client: 'deckhand' };

const Optional = z
  .string()
  .optional()
  .transform((text) => text?.trim() || undefined);

/**
 * API 2.1 (docs/service-api.md). Sends the password as typed, with its spaces. Omits empty fields, because
 * the service has its own defaults.
 */
const Fields = z
  .object({
    email: z.string({ error: 'Give the administrator’s e-mail address.' }).trim(),
    password: z.string({ error: 'Choose a password.' }).min(1, 'Choose a password.'),
    terms_accepted: z
      .array(z.string(), { error: 'The terms must be accepted.' })
      .min(1, 'The terms must be accepted.')
      .transform(() => true),
    account_name: Optional,
    full_name: Optional,
    package: z.enum(PACKAGES, { error: 'Choose a package.' }).default('pro'),
    coupon: Optional,
    newsletter_opt_in: z
      .array(z.string())
      .default([])
      .transform(({ length }) => length > 0),
  })
  .transform((fields): SignupRequest => ({ ...fields, ...ATTRIBUTION }));

export const signup = defineCommand({
  name: 'signup',
  phrase: 'for accounts of the service',
  synonyms: ['register', 'sign up'],
  phrases: { 'create|new|open|register|make account *': '' },
  summary: 'Creates an account at the deployment service and connects it',
  role: 'admin',
  isAvailable: (config) => config.SERVICE_SIGNUP_URL !== undefined,
  handle: (_, context) => openSignupForm(context),
  actions: [{ actionId: 'signup:open', handle: (_, context) => openSignupForm(context) }],
  submissions: [{ callbackId: SIGNUP, secrets: ['password'], isOrder: true, submit: submitSignup }],
});

async function openSignupForm({ invocation, workspace }: CommandContext): Promise<Reply> {
  const limit = await readSignupsLeft(workspace.store, workspace.clock.now());
  return { kind: 'modal', view: signupModal({ channel: invocation.channel }, limit) };
}

async function submitSignup(state: ViewState, context: CommandContext): Promise<Submitted> {
  const { workspace } = context;
  const request = readFields(Fields, state);
  const limit = await countSignup(workspace.store, workspace.clock.now());
  try {
    const signup = await signUp(workspace.service, request);
    return await keepAccount(context, signup, request);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return refuseSignup(context, error, limit);
  }
}

/** Connects the new account with its key, which the service shows only once. */
async function keepAccount(
  context: CommandContext,
  signup: Signup,
  { email, account_name: typedName }: SignupRequest,
): Promise<Submitted> {
  const { workspace, invocation } = context;
  const { user } = invocation;
  const { word, config } = workspace;
  const { SERVICE_BASE_URL } = config;
  const { subdomain, url, name: displayName } = signup.account;
  const name = parseAccountName(subdomain, SERVICE_BASE_URL) ?? parseAccountName(url ?? '', SERVICE_BASE_URL);
  if (name === undefined) return lostKey(subdomain, word);
  const otherName = typedName === undefined || isSameName(typedName, name) ? undefined : typedName;
  const state = signup.email_verified ? 'ok' : 'unverified';
  const { ssh_public_key: ssh } = signup;
  const deployKey = ssh === null ? undefined : { publicKey: ssh.public_key, fingerprint: ssh.fingerprint };
  try {
    const key = { name, email, apiKey: signup.api_key, createdBy: user, state } as const;
    // Nobody chose this name, so the account becomes no default that stays.
    const account = await workspace.accounts.connect(key, { mayBeDefault: otherName === undefined });
    if (state === 'unverified') await watchFor(workspace, account, deployKey);
  } catch (error) {
    const reference = newReference();
    workspace.log.error(
      { event: 'bug', user, account: name, reference, err: error },
      'Key of a new account lost',
    );
    return lostKey(name, word, reference);
  }
  const used = (await resolveAccount(context)).name;
  const message = signedUpMessage({
    account: name,
    typedName: otherName,
    used,
    url: accountUrl(name, SERVICE_BASE_URL),
    displayName,
    email,
    keyTail: signup.api_key.slice(-4),
    isVerified: signup.email_verified,
    deployKey,
    oauthUrls: signup.oauth_urls,
    word,
  });
  return closeWith(message, { target: name });
}

/** True if the service made the account's name of the typed one, without a change for a name that is taken. */
function isSameName(typed: string, name: string): boolean {
  const simplify = (text: string): string =>
    text
      .normalize('NFKD')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}]/gu, '');
  return simplify(typed) === simplify(name);
}

/** The account exists, and another sign-up would create a second one, so this closes the form. */
function lostKey(account: string, word: string, reference?: string): Submitted {
  const text = `The account ${bold(account)} was created, but its key could not be stored.`;
  const next = `Do not sign up again: verify its e-mail address, take the key from its security or API settings, and run ${code(`${word} connect`)}.`;
  return { kind: 'view', view: notice(SIGNUP_TITLE, failureMessage({ text, next, reference }).text) };
}

function refuseSignup(
  { workspace, invocation, explain }: CommandContext,
  error: ServiceError,
  limit: SignupsLeft,
): Submitted {
  const now = workspace.clock.now();
  const { SERVICE_SIGNUP_URL: webSignup = '' } = workspace.config;
  if (error.kind === 'unexpected' || error.kind === 'unreachable') {
    const explained = explain(error, { command: SIGNUP });
    throw new FormFault({}, failureWords({ ...explained, next: describeLostSignup(error, workspace.word) }));
  }
  const { kind, status } = error;
  workspace.log.info({ event: 'signup_refused', user: invocation.user, kind, status }, 'Sign-up refused');
  const { errors, base, onWebOnly } = signupFault(error, { now, webSignup });
  const words = error.status === 429 ? '' : leftWords(limit);
  const suffix = words === '' ? '' : ` ${words}`;
  if (base !== undefined && onWebOnly) return { kind: 'view', view: webSignupModal(base, webSignup) };
  if (base !== undefined) throw new FormFault(errors, base + suffix);
  const withLimit = Object.entries(errors).map(([field, text], at) => [
    field,
    at === 0 ? text + unmarked(suffix) : text,
  ]);
  throw new FormFault(Object.fromEntries(withLimit));
}

/** After a lost answer the account may exist, and a second attempt could create another one. */
function describeLostSignup(error: ServiceError, word: string): string {
  if (error.certainlyNotDone) return 'No account was created. Try again in a minute.';
  return `The account may have been created. If a verification e-mail arrives, it was: do not sign up again, take the key from its settings and run ${code(`${word} connect`)}.`;
}
